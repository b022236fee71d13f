// SPDX-License-Identifier: Apache-2.0
/*
 * Compares accesses in the detector.  In: first reads and writes of bytes in a segment.  Out:
 * cells, which contain the latest accesses of each byte, and reports of races (rt/detect/report.c).
 *
 * An access is compared with every cell of its bytes.  If the thread knows the epoch of a cell, the
 * access in the cell happened before the new one.  The new access then covers the cell, unless only
 * the old access writes or only the old access is plain.  A covered cell is dropped, because any
 * later access that races with it also races with the new access.  So a byte has few cells, and the
 * first race is never lost.  If the accesses conflict and the thread does not know the cell's
 * epoch, they race.
 *
 * The slow path reports only the first read and the first write of a byte in a segment.  That is
 * enough, because a segment lies within one epoch: if another thread's access is not ordered with
 * some access of the segment, it is not ordered with the first one either.  While only one thread
 * exists, a segment may span many epochs.  But then its accesses are ordered with those of all
 * other threads, and the oldest epoch expresses that.
 */
#include "rt/detect/report.h"

/* Puts the access into the cell, which either has no bytes or has the same lane, epoch and kind
 * (`who`).  Returns false if there is no room for the access's site, because the cell already
 * contains bytes of two other sites. */
static inline __attribute__((always_inline)) bool put(struct rt_cell *cell, struct rt_seen_access a)
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

/* Compares the access with each of `count` cells, drops the cells that it covers, and adds the
 * access to a matching or free cell.  Returns false if there is no such cell. */
static inline __attribute__((always_inline)) bool access_cells(const struct rt_watch *w, struct rt_cell *cell,
							       uint32_t count, struct rt_seen_access a)
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
			     (rt_accesses_conflict(a.who, who) &&
			      rt_race_is_forgiven(
				      &(struct rt_seen_access){a.block, a.bits, a.who, a.site, a.read},
				      cell))) &&
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

/* Puts the access into one of `count` cells that has the same `who` and room for the site.  Returns
 * false if there is none. */
static bool put_among(struct rt_cell *cell, uint32_t count, const struct rt_seen_access *a)
{
	for (uint32_t i = 0; i < count; i++)
		if (cell[i].who == a->who && put(&cell[i], *a))
			return true;
	return false;
}

/* Compares the access with the cells of a part and adds it.  Returns the new head of the part.  If
 * there is no memory, or there are too many cells, an old cell is lost. */
static uint32_t access_part(const struct rt_watch *w, struct rt_part *part, uint32_t head,
			    struct rt_seen_access a)
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
						   const struct rt_seen_access *a)
{
	struct rt_seen_access one = *a;

	for (uint64_t left = a->bits; left; left &= ~one.bits) {
		uint32_t i = (uint32_t)__builtin_ctzll(left) / 8;
		one.bits = left & 0xffull << 8 * i;
		line->part_head[i] = access_part(w, &line->part[i], line->part_head[i], one);
		one.bits = 0xffull << 8 * i;
	}
}

/* Adds the access to a line in which the fast path found no cell for it.  If there is no memory, an
 * old cell is lost. */
static __attribute__((noinline, cold)) uint32_t put_more(const struct rt_watch *w, struct rt_line *line,
							 uint32_t head, const struct rt_seen_access *a)
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
							      struct rt_seen_access a)
{
	uint32_t number = rt_line_of(a.block);
	uint32_t head = rt_line_lock(&chunk->head[number]);

	if (RT_UNLIKELY(head == UINT32_MAX))
		return;
	w->locked = &chunk->head[number];
	RT_BARRIER();
	if (rt_line_is_split(head))
		access_parts(w, &chunk->line[number],
			     &(struct rt_seen_access){a.block, a.bits, a.who, a.site, a.read});
	else if (!access_cells(w, rt_line_cells(&chunk->line[number], head), rt_line_count(head), a))
		head = put_more(w, &chunk->line[number], head,
				&(struct rt_seen_access){a.block, a.bits, a.who, a.site, a.read});
	RT_BARRIER();
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

/* While only one thread exists, everything it does is ordered with everything that other threads
 * did or will do. */
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
	return w && rt_detect_is_on() && w->lane != RT_LANE_NONE && !is_alone();
}

void rt_detect_block(struct rt_thread *t, uintptr_t block, uint64_t bits, uint32_t site, uint32_t kind)
{
	struct rt_watch *w = rt_watch(t);
	struct rt_chunk *chunk;

	if (!is_watched(w) || !rt_watch_enter(w))
		return;
	chunk = rt_watch_chunk(w, block);
	if (RT_LIKELY(chunk != NULL))
		access_line(w, chunk, (struct rt_seen_access){block, bits, w->who | how_of(kind), site, 0});
	rt_watch_leave(w);
}

/* Returns a mask of the bytes from `a` up to `end` that are in the same block as `a`. */
static uint64_t bits_in_block(uintptr_t a, uintptr_t end)
{
	uint64_t n = 64 - a % 64;

	n = end - a < n ? end - a : n;
	return (n == 64 ? ~0ull : (1ull << n) - 1) << a % 64;
}

/* Handles an access to many blocks.  Leaves the detector for a moment after each page. */
static void access_range(struct rt_thread *t, uintptr_t address, uintptr_t end, uint32_t site, uint32_t kind)
{
	struct rt_watch *w = rt_watch(t);
	uintptr_t page = (1u << RT_CHUNK_SHIFT) - 1;

	for (uintptr_t a = address, stop; a < end && is_watched(w) && rt_watch_enter(w); a = stop) {
		struct rt_chunk *chunk = rt_watch_chunk(w, a);
		stop = (a | page) + 1 < end ? (a | page) + 1 : end;
		for (; chunk && a < stop; a = (a | 63) + 1)
			access_line(w, chunk,
				    (struct rt_seen_access){a & ~63ull, bits_in_block(a, stop),
							    w->who | how_of(kind), site, 0});
		rt_watch_leave(w);
	}
}

static void flush_one(struct rt_watch *w, struct rt_gathered *g)
{
	uint64_t how = g->key & RT_GATHER_WRITE ? RT_WHO_WRITE | RT_WHO_PLAIN : RT_WHO_PLAIN;

	access_line(w, g->place,
		    (struct rt_seen_access){g->key & ~63ull, g->bits, w->who | how,
					    (uint32_t)(g->sites >> 32), (uint32_t)g->sites});
	g->key = 0;
}

/* Prefetches the part of a split line that will be examined. */
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

	if (!w || !w->gather.used || !rt_watch_enter(w))
		return;
	rt_watch_flush(w);
	rt_watch_leave(w);
}

/* Starts to gather accesses to a block in the entry `place`.  Prefetches the memory that will be
 * examined later. */
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

static inline __attribute__((always_inline)) void gather(struct rt_thread *t, uint64_t key, uint64_t sites,
							 uint64_t bits)
{
	struct rt_watch *w = rt_watch(t);
	struct rt_chunk *chunk;

	if (!is_watched(w) || !rt_watch_enter(w))
		return;
	if (!rt_gather_more(&w->gather, key, sites, bits)) {
		chunk = rt_watch_chunk(w, key);
		if (RT_LIKELY(chunk != NULL))
			gather_first(w, (sites >> 32) % RT_GATHERED,
				     &(struct rt_gathered){key, sites, bits, chunk});
	}
	if (RT_UNLIKELY(rt.exited))
		rt_watch_flush(w);
	rt_watch_leave(w);
}

void rt_detect_gather(struct rt_thread *t, uint64_t key, uint64_t sites, uint64_t bits)
{
	gather(t, key, sites, bits);
}

/* Copies the accesses that another thread has gathered, while that thread keeps running.  Returns
 * false if no consistent copy was possible. */
static bool copy_gathered(struct rt_watch *to, const struct rt_watch *from)
{
	for (uint32_t round = 0; round < 100; round++) {
		uint64_t changes = from->changes;
		struct rt_clock clock = {0};
		atomic_thread_fence(memory_order_acquire);
		clock.count = *(const volatile uint32_t *)&from->clock.count; /* before `at` */
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

	if (!rt_detect_is_on() || !w || !rt_watch_enter(w))
		return;
	rt_watch_flush(w);
	copy = rt_arena_get(&rt_detect()->arena, sizeof *copy);
	if (copy)
		flush_others(copy, w);
	rt_watch_leave(w);
}

#define GATHER_MAX 256 /* bytes; larger accesses are compared at once */

void rt_detect_access(struct rt_thread *t, uintptr_t address, uint64_t size, uint32_t site, uint32_t kind)
{
	uintptr_t end = address + size;
	uint64_t how = kind & RT_ACCESS_WRITE ? RT_GATHER_WRITE : 0;

	if (RT_LIKELY(!(kind & RT_ACCESS_ATOMIC) && size - 1 < 63 && address % 64 + size <= 64)) {
		gather(t, (address & ~63ull) | how, (uint64_t)site << 32,
		       ((1ull << size) - 1) << address % 64);
		return;
	}
	if (kind & RT_ACCESS_ATOMIC || size > GATHER_MAX) {
		access_range(t, address, end, site, kind);
		return;
	}
	for (uintptr_t a = address; a < end; a = (a | 63) + 1)
		rt_detect_gather(t, (a & ~63ull) | how, (uint64_t)site << 32, bits_in_block(a, end));
}

/* The write covers the read, so one lookup is enough for both.  Races of both accesses are
 * reported. */
void rt_detect_update(struct rt_thread *t, uintptr_t address, uint32_t size, uint64_t sites)
{
	rt_detect_gather(t, (address & ~63ull) | RT_GATHER_WRITE | RT_GATHER_UPDATE, sites,
			 ((1ull << size) - 1) << address % 64);
}

/* Handles the accesses of a stride block by block. */
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

static void forget_in_chunk(struct rt_chunk *chunk, uintptr_t address, uintptr_t end)
{
	rt_objects_forget(chunk, address, end - address);
	for (uintptr_t a = address; a < end; a = (a | 63) + 1)
		rt_line_forget(&rt_detect()->arena, chunk, rt_line_of(a), bits_in_block(a, end));
}

/* Returns the next address that may have a chunk.  Tables without chunks are skipped as a whole. */
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

	if (!w || !size || !rt_detect_is_on() || address >> RT_ADDRESS_BITS ||
	    __builtin_add_overflow(address, size, &end) || end >> RT_ADDRESS_BITS || !rt_watch_enter(w))
		return;
	rt_watch_flush(w);
	for (uintptr_t a = address; a < end; a = after(a)) {
		struct rt_chunk *chunk = rt_shadow_find(&rt_detect()->shadow, a);
		uintptr_t stop = (a | ((1u << RT_CHUNK_SHIFT) - 1)) + 1;
		if (chunk)
			forget_in_chunk(chunk, a, stop < end ? stop : end);
	}
	rt_watch_leave(w);
}
