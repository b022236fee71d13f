// SPDX-License-Identifier: Apache-2.0
/*
 * The on-line detector: threads, accesses and reports (rt/object.c has what orders).
 *
 * An access is compared with every cell of its bytes.  Cells that are known to the
 * thread happened before; those that the access covers (a write covers all, a
 * plain access covers atomic ones) are dropped, for whatever races with them later races with
 * it too.  So a byte has few cells and no first race is lost.  A cell that is not known
 * and conflicts is a race.
 *
 * The slow path tells only the first read and the first write of a byte in
 * a segment.  That is enough: a segment lies within one epoch, so whoever is not
 * ordered with a later access of it is not ordered with the first one either.  While
 * a thread is alone it has one segment over many epochs; then every access of it is
 * ordered with all of all others, and the oldest epoch says just that.
 *
 * Signals: `busy` is set while a thread is in here.  An access of a handler that
 * finds it set is passed over; its synchronisation is forgiven (rt/watch.h).  If a handler
 * left the detector by longjmp, the next entry notices it as rt/record.c does, gives
 * back what was locked and forgives.
 *
 * fork: the child runs free.  No memory: the detector is over, what was found stays.
 */
#include "rt/watch.h"

#include "raddle/steer.h"

#define BARRIER() atomic_signal_fence(memory_order_seq_cst)

void rt_detect_setup(struct raddle_steer *steer)
{
	struct rt_detect *d = rt_map(sizeof *d);

	if (!d)
		return;
	d->steer = steer;
	rt.detect = d;
}

void rt_detect_stop(void)
{
	rt.detect = NULL;
	if (__raddle_self != &rt_placeholder)
		((struct rt_thread *)__raddle_self)->watch = NULL;
}

void rt_watch_over(void)
{
	atomic_store_explicit(&rt.detect->dead, 1, memory_order_relaxed);
}

static bool is_on(void)
{
	return rt.detect && !atomic_load_explicit(&rt.detect->dead, memory_order_relaxed);
}

void rt_watch_forgive(void)
{
	struct rt_detect *d = rt.detect;
	uint32_t count = atomic_load(&d->lane_count);

	for (uint32_t i = 0; i < count; i++) {
		uint64_t epoch = atomic_load(&d->lanes[i].epoch), floor = atomic_load(&d->lanes[i].floor);
		while (floor < epoch && !atomic_compare_exchange_weak(&d->lanes[i].floor, &floor, epoch))
			;
	}
}

void rt_detect_lost(void)
{
	if (is_on())
		rt_watch_forgive();
}

/* Entering and leaving. */

/* What a handler's longjmp left locked. */
static __attribute__((noinline, cold)) bool recover(struct rt_watch *w)
{
	const struct rt_thread *t = (const struct rt_thread *)__raddle_self;
	uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
	struct rt_detect *d = rt.detect;

	if (t->watch != w || frame <= w->busy || frame >= t->stack_high || frame < t->stack_low ||
	    w->busy < t->stack_low)
		return false;
	for (uint32_t i = 0; i < RT_STRIPES; i++)
		rt_spin_recover(&d->stripes[i].lock);
	rt_spin_recover(&d->arena.lock);
	rt_spin_recover(&d->report_lock);
	rt_spin_recover(&d->lane_lock);
	if (w->locked)
		rt_line_unlock(w->locked, 0);
	w->locked = NULL;
	rt_watch_forgive();
	return true;
}

static inline bool enter(struct rt_watch *w)
{
	if (RT_UNLIKELY(w->busy) && !recover(w))
		return false;
	w->busy = (uintptr_t)__builtin_frame_address(0);
	BARRIER();
	return true;
}

static inline void leave(struct rt_watch *w)
{
	BARRIER();
	w->busy = 0;
}

bool rt_watch_enter(struct rt_watch *w)
{
	return enter(w);
}

void rt_watch_leave(struct rt_watch *w)
{
	leave(w);
}

/* Threads. */

static void set_epoch(struct rt_watch *w, uint64_t epoch)
{
	w->epoch = epoch;
	w->who = RT_WHO(w->lane, epoch);
	atomic_store_explicit(&rt.detect->lanes[w->lane].epoch, epoch, memory_order_relaxed);
}

void rt_watch_tick(struct rt_watch *w)
{
	if (w->lane == RT_LANE_NONE)
		return;
	set_epoch(w, w->epoch + 1);
	w->clock.at[w->lane] = w->epoch;
}

/* An idle lane whose last epoch the creator knows, else a new one. */
static uint32_t choose_lane(struct rt_detect *d, const struct rt_clock *known)
{
	uint32_t *at = &d->idle_lane, lane;

	for (int tries = 0; *at && tries < 64; tries++) {
		struct rt_lane *l = &d->lanes[*at - 1];
		lane = *at - 1;
		if (atomic_load(&l->epoch) <= rt_clock_at(known, lane)) {
			*at = l->next;
			return lane;
		}
		at = &l->next;
	}
	lane = atomic_load(&d->lane_count);
	if (lane == RT_LANES)
		return RT_LANE_NONE;
	atomic_store(&d->lane_count, lane + 1);
	return lane;
}

static uint32_t take_lane(const struct rt_clock *known, uint32_t number)
{
	struct rt_detect *d = rt.detect;
	struct rt_tenant *tenant = rt_arena_get(&d->arena, sizeof *tenant);
	uint32_t lane;

	if (!tenant || !rt_spin(&d->lane_lock))
		return RT_LANE_NONE;
	lane = choose_lane(d, known);
	if (lane != RT_LANE_NONE) {
		tenant->before = d->lanes[lane].tenant;
		tenant->first = atomic_load(&d->lanes[lane].epoch) + 1;
		tenant->number = number;
		d->lanes[lane].tenant = tenant;
	}
	rt_spin_leave(&d->lane_lock);
	return lane;
}

static void give_lane(const struct rt_watch *w)
{
	struct rt_detect *d = rt.detect;

	if (w->lane == RT_LANE_NONE || !rt_spin(&d->lane_lock))
		return;
	d->lanes[w->lane].version = w->version + 1;
	d->lanes[w->lane].next = d->idle_lane;
	d->idle_lane = w->lane + 1;
	rt_spin_leave(&d->lane_lock);
}

/* A watch that knows what `known` knows. */
static struct rt_watch *make_watch(const struct rt_clock *known, uint32_t number)
{
	struct rt_detect *d = rt.detect;
	struct rt_watch *w = number < RT_THREADS ? rt_arena_get(&d->arena, sizeof *w) : NULL;

	if (!w || !rt_clock_copy(&d->arena, &w->clock, known)) {
		rt_watch_over();
		return NULL;
	}
	w->lane = take_lane(known, number);
	if (w->lane == RT_LANE_NONE)
		return w;
	w->version = d->lanes[w->lane].version;
	set_epoch(w, atomic_load(&d->lanes[w->lane].epoch) + 1);
	if (!rt_clock_set(&d->arena, &w->clock, w->lane, w->epoch))
		rt_watch_over();
	return w;
}

void rt_detect_created(struct rt_thread *parent, struct rt_thread *child)
{
	struct rt_watch *w = parent->watch;

	child->watch = NULL;
	if (!is_on() || !w || !enter(w))
		return;
	child->watch = make_watch(&w->clock, child->number);
	rt_watch_tick(w);
	leave(w);
}

/* A thread of which nobody told is taken to come after everything. */
void rt_detect_start(struct rt_thread *t)
{
	if (!is_on())
		return;
	if (!t->watch) {
		rt_watch_forgive();
		t->watch = make_watch(&(struct rt_clock){0}, t->number);
	}
	if (t->parent != t->number)
		rt_detect_forget(t, t->stack_low, t->stack_high - t->stack_low);
}

/* Leaves what it knew for the one who joins it. */
void rt_detect_end(struct rt_thread *t)
{
	struct rt_watch *w = t->watch;
	struct rt_clock *last;

	t->watch = NULL;
	if (!is_on() || !w)
		return;
	enter(w);
	give_lane(w);
	last = rt_arena_get(&rt.detect->arena, sizeof *last);
	if (!last) {
		rt_watch_over();
		return;
	}
	*last = w->clock;
	atomic_store(&rt.detect->ended[t->number], last);
	rt_arena_put(&rt.detect->arena, w, sizeof *w);
}

void rt_detect_joined(struct rt_thread *t, uint32_t number)
{
	struct rt_watch *w = t->watch;
	struct rt_clock *last;

	if (!is_on())
		return;
	last = number < RT_THREADS ? atomic_exchange(&rt.detect->ended[number], NULL) : NULL;
	if (!last || !w || !enter(w)) {
		rt_watch_forgive();
		return;
	}
	w->version++;
	if (rt_clock_join(&rt.detect->arena, &w->clock, last) == RT_JOINED_FAILED)
		rt_watch_over();
	rt_clock_release(&rt.detect->arena, last);
	rt_arena_put(&rt.detect->arena, last, sizeof *last);
	leave(w);
}

/* Reports. */

static uint32_t number_of(uint64_t who)
{
	const struct rt_tenant *tenant = rt.detect->lanes[RT_WHO_LANE(who)].tenant;

	while (tenant->before && tenant->first > RT_WHO_EPOCH(who))
		tenant = tenant->before;
	return tenant->number;
}

/* False: the pair is known already, or there are too many to tell. */
static bool is_new(struct rt_detect *d, uint32_t a, uint32_t b)
{
	uint64_t pair = a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
	uint64_t hash = (pair + 1) * 0x9e3779b97f4a7c15ull;

	for (size_t i = hash >> 32;; i++) {
		uint64_t *at = &d->reported[i % (2 * RT_REPORTED)];
		if (*at == pair + 1 || d->reported_count == RT_REPORTED)
			return false;
		if (*at)
			continue;
		*at = pair + 1;
		d->reported_count++;
		return true;
	}
}

struct access {
	uintptr_t block;
	uint64_t bits, who;
	uint32_t site;
	uint32_t read; /* site of a read just before it, of the same bytes; 0: none */
};

/* Whether it is the race of the plan, for which there is always room. */
static bool is_wanted(const struct raddle_steer *s, uint32_t a, uint32_t b)
{
	uint32_t x = s->holds[0].site, y = s->holds[1].site;

	return s->hold_count && ((a == x && b == y) || (a == y && b == x));
}

static void write_race(const struct access *a, uint64_t other, uint32_t site, uint64_t bits)
{
	struct raddle_steer *s = rt.detect->steer;
	uint32_t count = atomic_load_explicit(&s->race_count, memory_order_relaxed), at = count;
	uint64_t above;

	if (at >= RADDLE_STEER_RACES && is_wanted(s, site, a->site))
		at = RADDLE_STEER_RACES - 1;
	if (at < RADDLE_STEER_RACES) {
		above = ~(bits >> __builtin_ctzll(bits));
		s->races[at] = (struct raddle_steer_race){
			.slot = {number_of(other), number_of(a->who)},
			.site = {site, a->site},
			.write = {other & RT_WHO_WRITE, a->who & RT_WHO_WRITE},
			.atomic = {!(other & RT_WHO_PLAIN), !(a->who & RT_WHO_PLAIN)},
			.address = a->block + (uint32_t)__builtin_ctzll(bits),
			.size = above ? (uint32_t)__builtin_ctzll(above) : 64,
		};
	}
	atomic_store_explicit(&s->race_count, count + 1, memory_order_release);
}

static void report(const struct access *a, uint64_t other, uint32_t site, uint64_t bits)
{
	struct rt_detect *d = rt.detect;

	if (!is_on() || !rt_spin(&d->report_lock))
		return;
	if (is_new(d, site, a->site))
		write_race(a, other, site, bits);
	rt_spin_leave(&d->report_lock);
}

static bool forgiven(uint64_t who)
{
	return RT_WHO_EPOCH(who) <=
	       atomic_load_explicit(&rt.detect->lanes[RT_WHO_LANE(who)].floor, memory_order_relaxed);
}

static void report_site(const struct access *a, const struct rt_cell *cell, uint32_t which, uint64_t bits)
{
	struct access read = {a->block, 0, a->who & ~(uint64_t)RT_WHO_WRITE, a->read, 0};

	if (!bits)
		return;
	if (a->read && cell->who & RT_WHO_WRITE)
		report(&read, cell->who, cell->site[which], bits);
	report(a, cell->who, cell->site[which], bits);
}

/* Two accesses of which neither is known to come first: was that forgiven? */
static __attribute__((noinline, cold)) bool is_forgiven(const struct access *a, const struct rt_cell *cell)
{
	uint64_t bits = cell->mask & a->bits;

	if (forgiven(cell->who))
		return true;
	if (((a->who | cell->who) & 3) == (RT_WHO_WRITE | RT_WHO_PLAIN)) {
		report_site(a, cell, 0, bits & ~cell->second);
		report_site(a, cell, 1, bits & cell->second);
	}
	return false;
}

/* Accesses. */

/* Puts the access into a cell that is of its kind or has no bytes; false: the cell has other sites. */
static inline __attribute__((always_inline)) bool put(struct rt_cell *cell, struct access a)
{
	uint64_t others = cell->mask & ~a.bits;

	if (cell->site[0] == a.site || !(others & ~cell->second)) {
		cell->site[0] = a.site;
		cell->second &= ~a.bits;
	} else if (cell->site[1] == a.site || !(others & cell->second)) {
		cell->site[1] = a.site;
		cell->second |= a.bits;
	} else {
		return false;
	}
	cell->who = a.who;
	cell->mask |= a.bits;
	return true;
}

/* A line without a cell of this kind that was easy to find.  Without memory, or if there are too many, an
 * old cell is lost. */
static __attribute__((noinline, cold)) uint32_t put_more(struct rt_line *line, uint32_t head,
							 const struct access *a)
{
	uint32_t count = rt_line_count(head), i = count;
	struct rt_cell *cell = rt_line_cells(line, head);

	for (uint32_t k = 0; k < count; k++)
		if (cell[k].who == a->who && put(&cell[k], *a))
			return head;
	if (count == rt_line_room(head))
		head = rt_line_grow(&rt.detect->arena, line, head);
	if (count == rt_line_room(head))
		i = (uint32_t)(RT_WHO_EPOCH(a->who) % count);
	cell = &rt_line_cells(line, head)[i];
	cell->mask = 0;
	put(cell, *a);
	return rt_line_with_count(head, i == count ? count + 1 : count);
}

/* Compares with all cells, drops what is covered and adds the access. */
static inline __attribute__((always_inline)) uint32_t
access_cells(const struct rt_watch *w, struct rt_line *line, uint32_t head, struct access a)
{
	struct rt_cell *home = NULL, *idle = NULL, *cell = rt_line_cells(line, head),
		       *end = cell + rt_line_count(head);

	for (; cell < end; cell++) {
		uint64_t mask = cell->mask, who = cell->who, common = mask & a.bits;
		if (who == a.who && (!home || cell->site[0] == a.site || cell->site[1] == a.site))
			home = cell;
		if (common) {
			if ((who ^ a.who) < 4 && !(a.who & ~who & 3) && common == a.bits)
				return head;
			if ((RT_WHO_EPOCH(who) <= rt_clock_at(&w->clock, RT_WHO_LANE(who)) ||
			     is_forgiven(&(struct access){a.block, a.bits, a.who, a.site, a.read}, cell)) &&
			    !(who & ~a.who & 3)) {
				mask &= ~a.bits;
				cell->mask = mask;
			}
		}
		if (!mask)
			idle = cell;
	}
	if ((home && put(home, a)) || (idle && put(idle, a)))
		return head;
	return put_more(line, head, &(struct access){a.block, a.bits, a.who, a.site, a.read});
}

static inline __attribute__((always_inline)) void access_line(struct rt_watch *w, struct rt_chunk *chunk,
							      struct access a)
{
	uint32_t number = rt_line_of(a.block);
	uint32_t head = rt_line_lock(&chunk->head[number]);

	if (RT_UNLIKELY(head == UINT32_MAX))
		return;
	w->locked = &chunk->head[number];
	BARRIER();
	head = access_cells(w, &chunk->line[number], head, a);
	BARRIER();
	w->locked = NULL;
	rt_line_unlock(&chunk->head[number], head);
}

static __attribute__((noinline, cold)) struct rt_chunk *new_chunk(struct rt_watch *w, uintptr_t address)
{
	struct rt_detect *d = rt.detect;
	struct rt_chunk *chunk = rt_shadow_make(&d->shadow, &d->arena, address);

	if (chunk)
		rt_shadow_remember(&w->cache, address, chunk);
	return chunk;
}

struct rt_chunk *rt_watch_chunk(struct rt_watch *w, uintptr_t address)
{
	struct rt_chunk *chunk = rt_shadow_cached(&w->cache, address);

	return RT_LIKELY(chunk != NULL) ? chunk : new_chunk(w, address);
}

static inline __attribute__((always_inline)) void access_block(struct rt_watch *w, struct access a,
							       uint32_t kind)
{
	struct rt_chunk *chunk;

	if (!w || w->lane == RT_LANE_NONE || !enter(w))
		return;
	a.who = w->who | (kind & RT_ACCESS_WRITE ? RT_WHO_WRITE : 0) |
		(kind & RT_ACCESS_ATOMIC ? 0 : RT_WHO_PLAIN);
	chunk = rt_watch_chunk(w, a.block);
	if (RT_LIKELY(chunk != NULL))
		access_line(w, chunk, a);
	leave(w);
}

void rt_detect_block(struct rt_thread *t, uintptr_t block, uint64_t bits, uint32_t site, uint32_t kind)
{
	access_block(t->watch, (struct access){block, bits, 0, site, 0}, kind);
}

/* The bytes from `a` up to `end` that lie in the block of `a`. */
static uint64_t bits_in_block(uintptr_t a, uintptr_t end)
{
	uint64_t n = 64 - a % 64;

	n = end - a < n ? end - a : n;
	return (n == 64 ? ~0ull : (1ull << n) - 1) << a % 64;
}

/* Most accesses lie in one block. */
void rt_detect_access(struct rt_thread *t, uintptr_t address, uint64_t size, uint32_t site, uint32_t kind)
{
	uintptr_t end = address + size;

	if (RT_LIKELY(size <= 16 && address / 64 == (end - 1) / 64)) {
		uint64_t bits = ((1ull << size) - 1) << address % 64;
		access_block(t->watch, (struct access){address & ~(uintptr_t)63, bits, 0, site, 0}, kind);
		return;
	}
	for (uintptr_t a = address; a < end; a = (a | 63) + 1)
		rt_detect_block(t, a & ~(uintptr_t)63, bits_in_block(a, end), site, kind);
}

/* The write covers the read, so one look does for both; what it is not ordered with is reported for
 * both. */
void rt_detect_update(struct rt_thread *t, uintptr_t address, uint32_t size, uint64_t sites)
{
	uint64_t bits = ((1ull << size) - 1) << address % 64;

	access_block(
		t->watch,
		(struct access){address & ~(uintptr_t)63, bits, 0, (uint32_t)(sites >> 32), (uint32_t)sites},
		RT_ACCESS_WRITE);
}

/* Block by block. */
void rt_detect_stride(struct rt_thread *t, const struct rt_record *stride, uint32_t size, uint32_t kind)
{
	uintptr_t at = stride->operand[0], block;
	uint64_t left = stride->operand[2], one = (1ull << size) - 1, bits;

	while (left) {
		block = at & ~(uintptr_t)63;
		for (bits = 0; left && (at & ~(uintptr_t)63) == block; left--) {
			bits |= one << at % 64;
			at += stride->operand[1];
		}
		rt_detect_block(t, block, bits, stride->site, kind);
	}
}

/* Forgetting. */

static void forget_in_chunk(struct rt_chunk *chunk, uintptr_t address, uintptr_t end)
{
	rt_objects_forget(chunk, address, end - address);
	for (uintptr_t a = address; a < end; a = (a | 63) + 1)
		rt_line_forget(&rt.detect->arena, chunk, rt_line_of(a), bits_in_block(a, end));
}

/* The next address that may have a chunk: whole tables are passed over if there is none. */
static uintptr_t after(uintptr_t address)
{
	uintptr_t table = (1ull << (RT_CHUNK_SHIFT + RT_TABLE_SHIFT)) - 1;

	if (!atomic_load(&rt.detect->shadow.table[address >> (RT_CHUNK_SHIFT + RT_TABLE_SHIFT)]))
		return (address | table) + 1;
	return (address | ((1u << RT_CHUNK_SHIFT) - 1)) + 1;
}

void rt_detect_forget(struct rt_thread *t, uintptr_t address, uint64_t size)
{
	struct rt_watch *w = t->watch;
	uintptr_t end;

	if (!w || !size || !is_on() || address >> RT_ADDRESS_BITS ||
	    __builtin_add_overflow(address, size, &end) || end >> RT_ADDRESS_BITS || !enter(w))
		return;
	for (uintptr_t a = address; a < end; a = after(a)) {
		struct rt_chunk *chunk = rt_shadow_find(&rt.detect->shadow, a);
		uintptr_t stop = (a | ((1u << RT_CHUNK_SHIFT) - 1)) + 1;
		if (chunk)
			forget_in_chunk(chunk, a, stop < end ? stop : end);
	}
	leave(w);
}
