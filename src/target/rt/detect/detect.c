// SPDX-License-Identifier: Apache-2.0
/*
 * The on-line detector: threads, accesses and reports (rt/detect/object.c has what orders).
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
 * finds it set is passed over; its synchronisation is forgiven (rt/detect/watch.h).  If a handler
 * left the detector by longjmp, the next entry notices it as rt/record/record.c does, gives
 * back what was locked and forgives.
 *
 * fork: the child runs free.  No memory: the detector is over, what was found stays.
 */
#include "rt/detect/watch.h"

#include "raddle/steer.h"

#define BARRIER() atomic_signal_fence(memory_order_seq_cst)

static void set_watch(struct rt_thread *t, struct rt_watch *w)
{
	t->layer[RT_LAYER_DETECT] = w;
	t->gather = w ? &w->gather : NULL;
}

bool rt_detect_setup(struct raddle_steer *steer)
{
	struct rt_detect *d = rt_map(sizeof *d);

	if (!d) {
		atomic_store(&steer->detect_over, 1);
		return false;
	}
	d->steer = steer;
	d->arena.left = steer->detect_memory ? steer->detect_memory : UINT64_MAX;
	rt.layer[RT_LAYER_DETECT] = d;
	return true;
}

void rt_detect_stop(void)
{
	rt.layer[RT_LAYER_DETECT] = NULL;
	if (__raddle_self != &rt_placeholder)
		set_watch((struct rt_thread *)__raddle_self, NULL);
}

void rt_watch_over(void)
{
	atomic_store_explicit(&rt_detect()->dead, 1, memory_order_relaxed);
	atomic_store_explicit(&rt_detect()->steer->detect_over, 1, memory_order_relaxed);
}

static bool is_on(void)
{
	return rt_detect() && !atomic_load_explicit(&rt_detect()->dead, memory_order_relaxed);
}

void rt_watch_forgive(void)
{
	struct rt_detect *d = rt_detect();
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
	struct rt_detect *d = rt_detect();

	if (rt_watch(t) != w || frame <= w->busy || frame >= t->stack_high || frame < t->stack_low ||
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
	w->changes |= 1;
	BARRIER();
	return true;
}

static inline void leave(struct rt_watch *w)
{
	BARRIER();
	w->changes++;
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
	atomic_store_explicit(&rt_detect()->lanes[w->lane].epoch, epoch, memory_order_relaxed);
}

void rt_watch_tick(struct rt_watch *w)
{
	if (w->lane == RT_LANE_NONE)
		return;
	set_epoch(w, w->epoch + 1);
	w->clock.at[w->lane] = w->epoch;
	w->ticked = true;
}

bool rt_detect_ticked(struct rt_thread *t)
{
	bool ticked = rt_watch(t) && rt_watch(t)->ticked;

	if (ticked)
		rt_watch(t)->ticked = false;
	return ticked;
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

static uint32_t take_lane(struct rt_watch *w, const struct rt_clock *known, uint32_t number)
{
	struct rt_detect *d = rt_detect();
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
		d->lanes[lane].watch = w;
	}
	rt_spin_leave(&d->lane_lock);
	return lane;
}

/* False: others may still look at the watch. */
static bool give_lane(const struct rt_watch *w)
{
	struct rt_detect *d = rt_detect();

	if (w->lane == RT_LANE_NONE)
		return true;
	if (!rt_spin(&d->lane_lock))
		return false;
	d->lanes[w->lane].watch = NULL;
	d->lanes[w->lane].version = w->version + 1;
	d->lanes[w->lane].next = d->idle_lane;
	d->idle_lane = w->lane + 1;
	rt_spin_leave(&d->lane_lock);
	return true;
}

/* A watch that knows what `known` knows. */
static struct rt_watch *make_watch(const struct rt_clock *known, uint32_t number)
{
	struct rt_detect *d = rt_detect();
	struct rt_watch *w = number < RT_THREADS ? rt_arena_get(&d->arena, sizeof *w) : NULL;

	if (!w || !rt_clock_copy(&d->arena, &w->clock, known)) {
		rt_watch_over();
		return NULL;
	}
	w->gather.anew = rt_detect_gather;
	w->lane = take_lane(w, known, number);
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
	struct rt_watch *w = rt_watch(parent);

	set_watch(child, NULL);
	if (!is_on() || !w || !enter(w))
		return;
	rt_watch_flush(w);
	set_watch(child, make_watch(&w->clock, child->number));
	rt_watch_tick(w);
	leave(w);
}

/* A thread of which nobody told is taken to come after everything. */
void rt_detect_start(struct rt_thread *t)
{
	if (!is_on())
		return;
	if (!rt_watch(t)) {
		rt_watch_forgive();
		set_watch(t, make_watch(&(struct rt_clock){0}, t->number));
	}
	if (t->parent != t->number)
		rt_detect_forget(t, t->stack_low, t->stack_high - t->stack_low);
}

/* Leaves what it knew for the one who joins it. */
void rt_detect_end(struct rt_thread *t)
{
	struct rt_watch *w = rt_watch(t);
	struct rt_clock *last;
	bool mine;

	set_watch(t, NULL);
	if (!is_on() || !w)
		return;
	if (enter(w))
		rt_watch_flush(w);
	mine = give_lane(w);
	last = rt_arena_get(&rt_detect()->arena, sizeof *last);
	if (!last) {
		rt_watch_over();
		return;
	}
	*last = w->clock;
	rt_clock_release(&rt_detect()->arena, &w->found);
	atomic_store(&rt_detect()->ended[t->number], last);
	if (mine)
		rt_arena_put(&rt_detect()->arena, w, sizeof *w);
}

void rt_detect_joined(struct rt_thread *t, uint32_t number)
{
	struct rt_watch *w = rt_watch(t);
	struct rt_clock *last;

	if (!is_on())
		return;
	last = number < RT_THREADS ? atomic_exchange(&rt_detect()->ended[number], NULL) : NULL;
	if (!last || !w || !enter(w)) {
		rt_watch_forgive();
		return;
	}
	rt_watch_flush(w);
	w->version++;
	if (rt_clock_join(&rt_detect()->arena, &w->clock, last) == RT_JOINED_FAILED)
		rt_watch_over();
	rt_clock_release(&rt_detect()->arena, last);
	rt_arena_put(&rt_detect()->arena, last, sizeof *last);
	leave(w);
}

/* Reports. */

static uint32_t number_of(uint64_t who)
{
	const struct rt_tenant *tenant = rt_detect()->lanes[RT_WHO_LANE(who)].tenant;

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
	uint32_t x = s->goals[0].site, y = s->goals[1].site;

	return s->goal_count && ((a == x && b == y) || (a == y && b == x));
}

static void write_race(const struct access *a, uint64_t other, uint32_t site, uint64_t bits)
{
	struct raddle_steer *s = rt_detect()->steer;
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
	struct rt_detect *d = rt_detect();

	if (!is_on() || !rt_spin(&d->report_lock))
		return;
	if (is_new(d, site, a->site))
		write_race(a, other, site, bits);
	rt_spin_leave(&d->report_lock);
}

/* One of them writes, and not both are atomic. */
static inline bool conflict(uint64_t a, uint64_t b)
{
	return ((a | b) & 3) == (RT_WHO_WRITE | RT_WHO_PLAIN);
}

static bool forgiven(uint64_t who)
{
	return RT_WHO_EPOCH(who) <=
	       atomic_load_explicit(&rt_detect()->lanes[RT_WHO_LANE(who)].floor, memory_order_relaxed);
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

/* Two conflicting accesses of which neither is known to come first: was that forgiven?  The one in hand may
 * be the older one, since it was gathered. */
static __attribute__((noinline, cold)) bool is_forgiven(const struct access *a, const struct rt_cell *cell)
{
	uint64_t bits = cell->mask & a->bits;

	if (forgiven(cell->who))
		return true;
	if (forgiven(a->who))
		return false;
	report_site(a, cell, 0, bits & ~cell->second);
	report_site(a, cell, 1, bits & cell->second);
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

/* Looks at `count` cells: compares with each, drops what is covered, and adds the access if there is a
 * cell for it; false: there is none. */
static inline __attribute__((always_inline)) bool access_cells(const struct rt_watch *w, struct rt_cell *cell,
							       uint32_t count, struct access a)
{
	struct rt_cell *home = NULL, *idle = NULL;

	for (const struct rt_cell *end = cell + count; cell < end; cell++) {
		uint64_t mask = cell->mask, who = cell->who, common = mask & a.bits;
		if (who == a.who && (!home || cell->site[0] == a.site || cell->site[1] == a.site))
			home = cell;
		if (common) {
			if ((who ^ a.who) < 4 && !(a.who & ~who & 3) && common == a.bits)
				return true;
			if ((RT_WHO_EPOCH(who) <= rt_clock_at(&w->clock, RT_WHO_LANE(who)) ||
			     (conflict(a.who, who) &&
			      is_forgiven(&(struct access){a.block, a.bits, a.who, a.site, a.read}, cell))) &&
			    !(who & ~a.who & 3)) {
				mask &= ~a.bits;
				cell->mask = mask;
			}
		}
		if (!mask)
			idle = cell;
	}
	return (home && put(home, a)) || (idle && put(idle, a));
}

/* A cell among `count` that is of the kind of the access and takes it. */
static bool put_among(struct rt_cell *cell, uint32_t count, const struct access *a)
{
	for (uint32_t i = 0; i < count; i++)
		if (cell[i].who == a->who && put(&cell[i], *a))
			return true;
	return false;
}

/* The new head of a part.  Without memory, or if there are too many, an old cell is lost. */
static uint32_t access_part(const struct rt_watch *w, struct rt_part *part, uint32_t head, struct access a)
{
	uint32_t count = rt_line_count(head), i = count;
	struct rt_cell *cell = rt_part_cells(part, head);

	if (access_cells(w, cell, count, a) || put_among(cell, count, &a))
		return head;
	if (count == rt_part_room(head))
		head = rt_part_grow(&rt_detect()->arena, part, head);
	if (count == rt_part_room(head))
		i = (uint32_t)(RT_WHO_EPOCH(a.who) % count);
	cell = &rt_part_cells(part, head)[i];
	cell->mask = 0;
	put(cell, a);
	return rt_line_with_count(head, i == count ? count + 1 : count);
}

static __attribute__((noinline)) void access_parts(const struct rt_watch *w, struct rt_line *line,
						   const struct access *a)
{
	struct access one = *a;

	for (uint64_t left = a->bits; left; left &= ~one.bits) {
		uint32_t i = (uint32_t)__builtin_ctzll(left) / 8;
		one.bits = left & 0xffull << 8 * i;
		line->part_head[i] = access_part(w, &line->part[i], line->part_head[i], one);
		one.bits = 0xffull << 8 * i;
	}
}

/* A line without a cell of this kind that was easy to find.  Without memory an old cell is lost. */
static __attribute__((noinline, cold)) uint32_t put_more(const struct rt_watch *w, struct rt_line *line,
							 uint32_t head, const struct access *a)
{
	uint32_t count = rt_line_count(head), i = count;
	struct rt_cell *cell;

	if (put_among(rt_line_cells(line, head), count, a))
		return head;
	if (count == rt_line_room(head))
		head = rt_line_grow(&rt_detect()->arena, line, head);
	if (rt_line_is_split(head)) {
		access_parts(w, line, a);
		return head;
	}
	if (count == rt_line_room(head))
		i = (uint32_t)(RT_WHO_EPOCH(a->who) % count);
	cell = &rt_line_cells(line, head)[i];
	cell->mask = 0;
	put(cell, *a);
	return rt_line_with_count(head, i == count ? count + 1 : count);
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
	if (rt_line_is_split(head))
		access_parts(w, &chunk->line[number],
			     &(struct access){a.block, a.bits, a.who, a.site, a.read});
	else if (!access_cells(w, rt_line_cells(&chunk->line[number], head), rt_line_count(head), a))
		head = put_more(w, &chunk->line[number], head,
				&(struct access){a.block, a.bits, a.who, a.site, a.read});
	BARRIER();
	w->locked = NULL;
	rt_line_unlock(&chunk->head[number], head);
}

static __attribute__((noinline, cold)) struct rt_chunk *new_chunk(struct rt_watch *w, uintptr_t address)
{
	struct rt_detect *d = rt_detect();
	struct rt_chunk *chunk = rt_shadow_make(&d->shadow, &d->arena, address);

	if (chunk)
		rt_shadow_remember(&w->cache, address, chunk);
	else if (!(address >> RT_ADDRESS_BITS))
		rt_watch_over();
	return chunk;
}

struct rt_chunk *rt_watch_chunk(struct rt_watch *w, uintptr_t address)
{
	struct rt_chunk *chunk = rt_shadow_cached(&w->cache, address);

	return RT_LIKELY(chunk != NULL) ? chunk : new_chunk(w, address);
}

/* While a thread is alone, all it does is ordered with all that others did and will do. */
static inline bool is_alone(void)
{
	return atomic_load_explicit(&rt.others, memory_order_relaxed) == 0;
}

static uint64_t how_of(uint32_t kind)
{
	return (kind & RT_ACCESS_WRITE ? RT_WHO_WRITE : 0) | (kind & RT_ACCESS_ATOMIC ? 0 : RT_WHO_PLAIN);
}

static inline bool is_watched(const struct rt_watch *w)
{
	return w && is_on() && w->lane != RT_LANE_NONE && !is_alone();
}

void rt_detect_block(struct rt_thread *t, uintptr_t block, uint64_t bits, uint32_t site, uint32_t kind)
{
	struct rt_watch *w = rt_watch(t);
	struct rt_chunk *chunk;

	if (!is_watched(w) || !enter(w))
		return;
	chunk = rt_watch_chunk(w, block);
	if (RT_LIKELY(chunk != NULL))
		access_line(w, chunk, (struct access){block, bits, w->who | how_of(kind), site, 0});
	leave(w);
}

/* The bytes from `a` up to `end` that lie in the block of `a`. */
static uint64_t bits_in_block(uintptr_t a, uintptr_t end)
{
	uint64_t n = 64 - a % 64;

	n = end - a < n ? end - a : n;
	return (n == 64 ? ~0ull : (1ull << n) - 1) << a % 64;
}

/* Many blocks, inside the detector but for a moment a page. */
static void access_range(struct rt_thread *t, uintptr_t address, uintptr_t end, uint32_t site, uint32_t kind)
{
	struct rt_watch *w = rt_watch(t);
	uintptr_t page = (1u << RT_CHUNK_SHIFT) - 1;

	for (uintptr_t a = address, stop; a < end && is_watched(w) && enter(w); a = stop) {
		struct rt_chunk *chunk = rt_watch_chunk(w, a);
		stop = (a | page) + 1 < end ? (a | page) + 1 : end;
		for (; chunk && a < stop; a = (a | 63) + 1)
			access_line(w, chunk,
				    (struct access){a & ~63ull, bits_in_block(a, stop), w->who | how_of(kind),
						    site, 0});
		leave(w);
	}
}

/* Gathering. */

static void flush_one(struct rt_watch *w, struct rt_gathered *g)
{
	uint64_t how = g->key & RT_GATHER_WRITE ? RT_WHO_WRITE | RT_WHO_PLAIN : RT_WHO_PLAIN;

	access_line(w, g->place,
		    (struct access){g->key & ~63ull, g->bits, w->who | how, (uint32_t)(g->sites >> 32),
				    (uint32_t)g->sites});
	g->key = 0;
}

/* Fetches the part of a split line that is going to be looked at. */
static inline void fetch_part(const struct rt_gathered *g)
{
	const struct rt_chunk *chunk = g->place;
	uint32_t number = rt_line_of(g->key);
	uint32_t head = atomic_load_explicit(&chunk->head[number], memory_order_relaxed);

	if (rt_line_is_split(head))
		__builtin_prefetch(&chunk->line[number].part[__builtin_ctzll(g->bits) / 8], 1);
	else if (head & RT_OUTSIDE)
		__builtin_prefetch(chunk->line[number].outside, 1);
}

void rt_watch_flush(struct rt_watch *w)
{
	for (uint32_t left = w->gather.used; left; left &= left - 1)
		fetch_part(&w->gather.at[__builtin_ctz(left)]);
	for (; w->gather.used; w->gather.used &= w->gather.used - 1)
		flush_one(w, &w->gather.at[__builtin_ctz(w->gather.used)]);
}

void rt_detect_flush(struct rt_thread *t)
{
	struct rt_watch *w = rt_watch(t);

	if (!w || !w->gather.used || !enter(w))
		return;
	rt_watch_flush(w);
	leave(w);
}

/* Begins with a block at a place.  The memory that is going to be looked at is fetched already. */
static inline void gather_first(struct rt_watch *w, uint32_t place, const struct rt_gathered *new)
{
	struct rt_gathered *g = &w->gather.at[place];
	const struct rt_chunk *chunk = new->place;
	uint32_t line = rt_line_of(new->key);

	__builtin_prefetch(&chunk->head[line], 1);
	__builtin_prefetch(&chunk->line[line], 1);
	if (w->gather.used >> w->gather.latest & 1)
		fetch_part(&w->gather.at[w->gather.latest]);
	if (w->gather.used >> place & 1)
		flush_one(w, g);
	*g = *new;
	w->gather.used |= 1u << place;
	w->gather.latest = place;
}

void rt_detect_gather(struct rt_thread *t, uint64_t key, uint64_t sites, uint64_t bits)
{
	struct rt_watch *w = rt_watch(t);
	struct rt_chunk *chunk;

	if (!is_watched(w) || !enter(w))
		return;
	if (!rt_gather_more(&w->gather, key, sites, bits)) {
		chunk = rt_watch_chunk(w, key);
		if (RT_LIKELY(chunk != NULL))
			gather_first(w, (sites >> 32) % RT_GATHERED,
				     &(struct rt_gathered){key, sites, bits, chunk});
	}
	if (RT_UNLIKELY(rt.exited))
		rt_watch_flush(w);
	leave(w);
}

/* What a thread that goes on has gathered, as it was at some moment; false: it never stood still. */
static bool copy_gathered(struct rt_watch *to, const struct rt_watch *from)
{
	for (uint32_t round = 0; round < 100; round++) {
		uint64_t changes = from->changes;
		struct rt_clock clock = {0};
		atomic_thread_fence(memory_order_acquire);
		clock.count =
			*(const volatile uint32_t *)&from->clock.count; /* before `at`: that only grows */
		clock.at = *(uint64_t *const volatile *)&from->clock.at;
		to->who = from->who;
		to->gather.used = from->gather.used;
		__builtin_memcpy(to->gather.at, from->gather.at, sizeof to->gather.at);
		if (!rt_clock_copy(&rt_detect()->arena, &to->clock, &clock))
			return false;
		atomic_thread_fence(memory_order_acquire);
		if (!(changes & 1) && from->changes == changes)
			return true;
		rt_pause(round);
	}
	return false;
}

static void flush_others(struct rt_watch *copy, const struct rt_watch *mine)
{
	struct rt_detect *d = rt_detect();
	uint32_t count = atomic_load(&d->lane_count);

	if (!rt_spin(&d->lane_lock))
		return;
	for (uint32_t i = 0; i < count; i++) {
		const struct rt_watch *w = d->lanes[i].watch;
		if (w && w != mine && w->gather.used && copy_gathered(copy, w))
			rt_watch_flush(copy);
	}
	rt_spin_leave(&d->lane_lock);
}

void rt_detect_exit(struct rt_thread *t)
{
	struct rt_watch *w = rt_watch(t), *copy;

	if (!is_on() || !w || !enter(w))
		return;
	rt_watch_flush(w);
	copy = rt_arena_get(&rt_detect()->arena, sizeof *copy);
	if (copy)
		flush_others(copy, w);
	leave(w);
}

/* Accesses of various shapes. */

#define GATHER_MAX 256 /* larger ones fill their blocks alone */

void rt_detect_access(struct rt_thread *t, uintptr_t address, uint64_t size, uint32_t site, uint32_t kind)
{
	uintptr_t end = address + size;
	uint64_t how = kind & RT_ACCESS_WRITE ? RT_GATHER_WRITE : 0;

	if (kind & RT_ACCESS_ATOMIC || size > GATHER_MAX) {
		access_range(t, address, end, site, kind);
		return;
	}
	for (uintptr_t a = address; a < end; a = (a | 63) + 1)
		rt_detect_gather(t, (a & ~63ull) | how, (uint64_t)site << 32, bits_in_block(a, end));
}

/* The write covers the read, so one look does for both; what it is not ordered with is reported for
 * both. */
void rt_detect_update(struct rt_thread *t, uintptr_t address, uint32_t size, uint64_t sites)
{
	rt_detect_gather(t, (address & ~63ull) | RT_GATHER_WRITE | RT_GATHER_UPDATE, sites,
			 ((1ull << size) - 1) << address % 64);
}

/* Block by block. */
void rt_detect_stride(struct rt_thread *t, const struct rt_record *stride, uint32_t size, uint32_t kind)
{
	uintptr_t at = stride->operand[0], block;
	uint64_t left = stride->operand[2], one = (1ull << size) - 1, bits;

	if (stride->operand[1] == size) {
		access_range(t, at, at + left * size, stride->site, kind);
		return;
	}
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
		rt_line_forget(&rt_detect()->arena, chunk, rt_line_of(a), bits_in_block(a, end));
}

/* The next address that may have a chunk: whole tables are passed over if there is none. */
static uintptr_t after(uintptr_t address)
{
	uintptr_t table = (1ull << (RT_CHUNK_SHIFT + RT_TABLE_SHIFT)) - 1;

	if (!atomic_load(&rt_detect()->shadow.table[address >> (RT_CHUNK_SHIFT + RT_TABLE_SHIFT)]))
		return (address | table) + 1;
	return (address | ((1u << RT_CHUNK_SHIFT) - 1)) + 1;
}

void rt_detect_forget(struct rt_thread *t, uintptr_t address, uint64_t size)
{
	struct rt_watch *w = rt_watch(t);
	uintptr_t end;

	if (!w || !size || !is_on() || address >> RT_ADDRESS_BITS ||
	    __builtin_add_overflow(address, size, &end) || end >> RT_ADDRESS_BITS || !enter(w))
		return;
	rt_watch_flush(w);
	for (uintptr_t a = address; a < end; a = after(a)) {
		struct rt_chunk *chunk = rt_shadow_find(&rt_detect()->shadow, a);
		uintptr_t stop = (a | ((1u << RT_CHUNK_SHIFT) - 1)) + 1;
		if (chunk)
			forget_in_chunk(chunk, a, stop < end ? stop : end);
	}
	leave(w);
}
