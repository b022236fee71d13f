// SPDX-License-Identifier: Apache-2.0
/*
 * The models (rt/memory/model.h).
 *
 * TSO and PSO: a store waits in the buffer of its thread, and only that thread can read it there.
 * In theory, a buffered store can reach memory at any time.  Here, the store that reaches memory
 * next is chosen only where it matters: before a read from memory, and where a buffer must be
 * empty.  The alternatives are "none" and all stores, of any thread, that could be next.  Choices
 * continue until "none" is chosen.  In TSO, the stores of a thread reach memory in order; in PSO,
 * only stores to the same bytes do.
 *
 * WEAK: a write stays in the history of its cell.  A read may return any write to these bytes,
 * unless another write lies between that write and the read in happens-before order.  COHERENT: in
 * addition, a read never returns a write that is older than a write that the thread knows.
 *
 * Happens-before is represented by vector clocks.  A clock counts accesses and fences.  A thread
 * knows a write if the thread's clock has reached the count of the write.
 */
#include "rt/common/hash.h"
#include "rt/memory/model.h"

#include "rt/common/bug.h"

#define ALL (~0ull)
#define EARLIER (MEMORY_THREADS + 0u) /* the thread number of the writer of initial values */

static bool is_buffered(const struct memory *m)
{
	return m->model == RADDLE_MEMORY_TSO || m->model == RADDLE_MEMORY_PSO;
}

static bool has_history(const struct memory *m)
{
	return m->model == RADDLE_MEMORY_WEAK || m->model == RADDLE_MEMORY_COHERENT;
}

/* Adds an action to the hash of the thread's past.  A new thread is counted in thread_count.
 * Returns `value`. */
static uint64_t note(struct memory *m, uint32_t t, uint64_t what, const struct memory_part *p, uint64_t value)
{
	struct memory_thread *own = &m->threads[t];

	RT_ASSERT(t < MEMORY_THREADS);
	if (t >= m->thread_count)
		m->thread_count = t + 1;
	own->past = rt_hash_add(own->past, what);
	if (p)
		own->past = rt_hash_add(rt_hash_add(rt_hash_add(own->past, p->cell->base), p->mask), value);
	return value;
}

/* ---- clocks ---- */

static void join(struct memory_clock *to, const struct memory_clock *from)
{
	for (uint32_t i = 0; i < MEMORY_THREADS; i++)
		if (from->at[i] > to->at[i])
			to->at[i] = from->at[i];
}

static bool knows(const struct memory_clock *clock, const struct memory_write *w)
{
	return w->thread == EARLIER || clock->at[w->thread] >= w->tick;
}

static bool is_zero(const struct memory_clock *clock)
{
	for (uint32_t i = 0; i < MEMORY_THREADS; i++)
		if (clock->at[i])
			return false;
	return true;
}

/* Operations with memory_order_seq_cst, and fences of that kind, synchronise with each other. */
static void meet_fences(struct memory *m, struct memory_clock *clock)
{
	join(clock, &m->fences);
	join(&m->fences, clock);
}

/* ---- cells ---- */

static uint32_t index_of(const struct memory *m, const struct memory_cell *cell)
{
	return (uint32_t)(cell - m->cells);
}

_Static_assert((MEMORY_CELLS & (MEMORY_CELLS - 1)) == 0, "slots of cells are masked");
_Static_assert((MEMORY_OBJECTS & (MEMORY_OBJECTS - 1)) == 0, "slots of objects are masked");

static uint32_t slot_of(uintptr_t address, uint32_t count)
{
	return (uint32_t)(rt_hash(address >> 3) >> 40) & (count - 1);
}

static struct memory_cell *place_of(struct memory *m, uintptr_t base)
{
	uint32_t i = slot_of(base, MEMORY_CELLS);

	while (m->cells[i].base && m->cells[i].base != base)
		i = (i + 1) & (MEMORY_CELLS - 1);
	return &m->cells[i];
}

uint64_t memory_mask(uintptr_t base, uintptr_t address, uint64_t size)
{
	uintptr_t from = address > base ? address - base : 0, to = 8;

	if (address >= base + 8 || address + size <= base)
		return 0;
	if (address + size < base + 8)
		to = address + size - base;
	return (to == 8 ? ALL : (1ull << 8 * to) - 1) & ~((1ull << 8 * from) - 1);
}

struct memory_cell *memory_cell(struct memory *m, uintptr_t address)
{
	struct memory_cell *cell = place_of(m, address & ~(uintptr_t)7);

	return cell->base ? cell : NULL;
}

static struct memory_write *write_at(const struct memory_cell *cell, uint32_t i)
{
	return &cell->writes[(cell->first + i) % MEMORY_HISTORY];
}

static struct memory_write *add_write(struct memory_cell *cell, uint64_t value, uint64_t mask)
{
	struct memory_write *w;

	if (cell->count == MEMORY_HISTORY) {
		cell->first = (cell->first + 1) % MEMORY_HISTORY;
		cell->count--;
		cell->dropped++;
	}
	RT_ASSERT(cell->writes && cell->count < MEMORY_HISTORY && cell->first < MEMORY_HISTORY);
	w = write_at(cell, cell->count++);
	*w = (struct memory_write){.value = value, .mask = mask, .thread = EARLIER};
	return w;
}

struct memory_cell *memory_track(struct memory *m, uintptr_t base, uint64_t mask, uint64_t value)
{
	struct memory_cell *cell = place_of(m, base);
	uint64_t fresh = mask & ~cell->mask;

	RT_ASSERT(base && base % 8 == 0);
	if (!cell->base) {
		if (m->cell_count >= MEMORY_CELLS / 2) {
			memory_end(m, RADDLE_MEMORY_LOCATIONS);
			return NULL;
		}
		m->used[m->cell_count++] = index_of(m, cell);
		cell->base = base;
	}
	if (has_history(m) && !cell->writes)
		cell->writes = m->get(MEMORY_HISTORY * sizeof *cell->writes);
	if (has_history(m) && !cell->writes) {
		memory_end(m, RADDLE_MEMORY_LOCATIONS);
		return NULL;
	}
	cell->value = (cell->value & ~fresh) | (value & fresh);
	cell->mask |= fresh;
	if (fresh && has_history(m)) {
		for (uint32_t i = 0; i < cell->count; i++)
			write_at(cell, i)->value |= value & fresh & ~write_at(cell, i)->mask;
		if (!cell->count)
			add_write(cell, value, ALL);
	}
	return cell;
}

static void forget_stores(struct memory_thread *own, uint32_t cell, uint64_t mask)
{
	uint32_t left = 0;

	for (uint32_t i = 0; i < own->count; i++) {
		struct memory_entry e = own->buffer[i];

		if (e.cell == cell)
			e.mask &= ~mask;
		if (e.mask)
			own->buffer[left++] =
				(struct memory_entry){e.cell, e.value & e.mask, e.mask, e.number};
	}
	own->count = left;
}

void memory_forget(struct memory *m, uintptr_t address, uint64_t size)
{
	for (uint32_t i = 0; i < m->cell_count; i++) {
		struct memory_cell *cell = &m->cells[m->used[i]];
		uint64_t gone = memory_mask(cell->base, address, size) & cell->mask;

		if (!gone)
			continue;
		cell->mask &= ~gone;
		cell->count = cell->first = 0;
		for (uint32_t t = 0; t < m->thread_count; t++) {
			forget_stores(&m->threads[t], m->used[i], gone);
			m->floor[t][m->used[i]] = 0;
		}
		cell->dropped = 0;
		if (cell->mask && has_history(m))
			add_write(cell, cell->value, ALL);
	}
}

/* ---- buffers ---- */

static bool may_pass(const struct memory *m, const struct memory_thread *own, uint32_t i)
{
	if (m->model == RADDLE_MEMORY_TSO)
		return i == 0;
	for (uint32_t k = 0; k < i; k++)
		if (own->buffer[k].cell == own->buffer[i].cell && own->buffer[k].mask & own->buffer[i].mask)
			return false;
	return true;
}

/* A buffered store that may reach memory next. */
struct head {
	uint32_t thread, entry;
	uint64_t number;
};
/* The maximum number of stores to choose from, chosen by hand; further stores have to wait. */
#define HEADS 256

/* Finds all stores that may reach memory next, and sorts them by the order in which they were
 * made. */
static uint32_t find_heads(const struct memory *m, struct head *heads)
{
	uint32_t n = 0;

	for (uint32_t t = 0; t < m->thread_count; t++)
		for (uint32_t i = 0; i < m->threads[t].count && n < HEADS; i++) {
			struct head h = {t, i, m->threads[t].buffer[i].number};
			uint32_t at = n;

			if (!may_pass(m, &m->threads[t], i))
				continue;
			for (; at && heads[at - 1].number > h.number; at--)
				heads[at] = heads[at - 1];
			heads[at] = h;
			n++;
		}
	return n;
}

static void flush(struct memory *m, uint32_t t, uint32_t i)
{
	struct memory_thread *own = &m->threads[t];
	const struct memory_entry e = own->buffer[i];
	struct memory_cell *cell = &m->cells[e.cell];

	RT_ASSERT(i < m->threads[t].count);
	cell->value = (cell->value & ~e.mask) | e.value;
	own->count--;
	for (; i < own->count; i++)
		own->buffer[i] = own->buffer[i + 1];
}

/* Moves stores to memory until "none" is chosen, so that `t` may continue.  If `all` is set, "none"
 * can be chosen only when the buffer of `t` is empty.  If `forced` is set, all stores are moved. */
static void flush_some(struct memory *m, uint32_t t, bool all, bool forced)
{
	struct head heads[HEADS];
	uint32_t count;

	while ((count = find_heads(m, heads)) != 0) {
		bool may_stop = !all || !m->threads[t].count;
		enum raddle_choice_kind kind = may_stop ? RADDLE_CHOICE_FLUSH : RADDLE_CHOICE_DRAIN;
		uint32_t i = forced ? 0 : m->choose(m->context, kind, count + may_stop);

		if (i >= count)
			return;
		flush(m, heads[i].thread, heads[i].entry);
	}
}

void memory_drain(struct memory *m, uint32_t t)
{
	if (is_buffered(m) && m->threads[t].count)
		flush_some(m, t, true, false);
}

void memory_end(struct memory *m, enum raddle_memory_over why)
{
	if (is_buffered(m))
		flush_some(m, 0, false, true);
	for (uint32_t t = 0; t < m->thread_count; t++)
		RT_ASSERT(!m->threads[t].count);
	m->model = RADDLE_MEMORY_SC;
	m->over = why;
}

static void put_entry(struct memory *m, uint32_t t, struct memory_part p, uint64_t value)
{
	struct memory_thread *own = &m->threads[t];

	if (own->count == MEMORY_BUFFER)
		flush(m, t, 0);
	RT_ASSERT(own->count < MEMORY_BUFFER && !(value & ~p.mask));
	own->buffer[own->count++] = (struct memory_entry){index_of(m, p.cell), value, p.mask, ++m->stores};
}

/* Returns the values of those bytes of *mask that are in the thread's own buffer, and reduces *mask
 * to these bytes. */
static uint64_t own_stores(const struct memory *m, uint32_t t, const struct memory_cell *cell, uint64_t *mask)
{
	const struct memory_thread *own = &m->threads[t];
	uint64_t value = 0, found = 0;

	for (uint32_t i = 0; i < own->count; i++)
		if (own->buffer[i].cell == index_of(m, cell)) {
			value = (value & ~own->buffer[i].mask) | own->buffer[i].value;
			found |= own->buffer[i].mask;
		}
	value &= *mask;
	*mask &= found;
	return value;
}

uint64_t memory_view(const struct memory *m, uint32_t t, const struct memory_cell *cell)
{
	uint64_t mask = ALL, value = t < MEMORY_THREADS ? own_stores(m, t, cell, &mask) : (mask = 0);

	return (cell->value & ~mask) | value;
}

/* If some bytes are in the thread's own buffer and others only in memory, the buffer is emptied
 * before the read. */
static uint64_t load_buffered(struct memory *m, uint32_t t, struct memory_part p, bool forced)
{
	uint64_t mask = p.mask, value;

	flush_some(m, t, false, forced);
	value = own_stores(m, t, p.cell, &mask);
	if (mask == p.mask)
		return value;
	if (mask)
		flush_some(m, t, true, forced);
	return p.cell->value & p.mask;
}

/* ---- histories ---- */

/* Returns true if another write lies, in happens-before order, between this write and a read of
 * these bytes by a thread with this clock. */
static bool is_hidden(const struct memory_cell *cell, uint32_t i, uint64_t mask,
		      const struct memory_clock *clock)
{
	const struct memory_write *w = write_at(cell, i);

	for (uint32_t k = i + 1; k < cell->count; k++) {
		const struct memory_write *later = write_at(cell, k);

		if (later->mask & mask && knows(clock, later) && knows(&later->clock, w))
			return true;
	}
	return false;
}

/* The writes that a read may return, the latest first.  Of several writes with equal values, only
 * the oldest is listed. */
struct options {
	uint32_t count, write[MEMORY_HISTORY];
	uint64_t value[MEMORY_HISTORY];
};

static void add_option(const struct memory_cell *cell, struct options *o, uint32_t i, uint64_t mask)
{
	const struct memory_write *w = write_at(cell, i);

	for (uint32_t k = 0; k < o->count; k++)
		if (o->value[k] == (w->value & mask) && !w->releases &&
		    !write_at(cell, o->write[k])->releases) {
			o->write[k] = i;
			return;
		}
	RT_ASSERT(o->count < MEMORY_HISTORY);
	o->write[o->count] = i;
	o->value[o->count++] = w->value & mask;
}

/* Returns true if the thread must not read anything older than this write.  In the model COHERENT,
 * all threads see the writes of a cell in the same order. */
static bool ends_coherent(const struct memory *m, uint32_t t, const struct memory_cell *cell, uint32_t i)
{
	return m->model == RADDLE_MEMORY_COHERENT && (knows(&m->threads[t].clock, write_at(cell, i)) ||
						      cell->dropped + i <= m->floor[t][index_of(m, cell)]);
}

static void find_options(const struct memory *m, uint32_t t, struct memory_part p, struct options *o)
{
	const struct memory_clock *clock = &m->threads[t].clock;

	o->count = 0;
	o->write[0] = p.cell->count - 1;
	for (uint32_t i = p.cell->count; i-- > 0;) {
		const struct memory_write *w = write_at(p.cell, i);

		if (!(w->mask & p.mask))
			continue;
		/* If the latest write covers only a part of the bytes, the other bytes keep their
		 * previous values. */
		if (o->count == 0 || (w->mask & p.mask) == p.mask)
			if (!is_hidden(p.cell, i, p.mask, clock))
				add_option(p.cell, o, i, p.mask);
		if (ends_coherent(m, t, p.cell, i))
			break;
	}
	o->value[0] = p.cell->value & p.mask;
}

static void learn(struct memory_thread *own, const struct memory_write *w, enum memory_order_of order)
{
	if (!w->releases)
		return;
	join(&own->seen, &w->released);
	if (order == MEMORY_ACQUIRE || order >= MEMORY_BOTH)
		join(&own->clock, &w->released);
}

static uint64_t load_history(struct memory *m, uint32_t t, struct memory_part p, enum memory_order_of order,
			     bool forced)
{
	struct memory_thread *own = &m->threads[t];
	struct options o;
	uint32_t i = 0;
	uint64_t number;

	RT_ASSERT(p.cell->count > 0);
	own->clock.at[t]++;
	if (order == MEMORY_SEQ)
		meet_fences(m, &own->clock);
	find_options(m, t, p, &o);
	if (o.count > 1 && !forced)
		i = m->choose(m->context, RADDLE_CHOICE_READ, o.count);
	RT_ASSERT(i == 0 || i < o.count);
	learn(own, write_at(p.cell, o.write[i]), order);
	number = p.cell->dropped + o.write[i];
	if (number > m->floor[t][index_of(m, p.cell)])
		m->floor[t][index_of(m, p.cell)] = (uint32_t)number;
	if (order == MEMORY_SEQ)
		join(&m->fences, &own->clock);
	return o.value[i];
}

static void store_history(struct memory *m, uint32_t t, struct memory_part p, uint64_t value,
			  enum memory_order_of order)
{
	struct memory_thread *own = &m->threads[t];
	struct memory_write *w;

	RT_ASSERT(!(value & ~p.mask));
	own->clock.at[t]++;
	if (order == MEMORY_SEQ)
		meet_fences(m, &own->clock);
	w = add_write(p.cell, (p.cell->value & ~p.mask) | value, p.mask);
	w->thread = t;
	w->tick = own->clock.at[t];
	w->clock = own->clock;
	w->released = order >= MEMORY_RELEASE ? own->clock : own->fenced;
	w->releases = !is_zero(&w->released);
	m->floor[t][index_of(m, p.cell)] = (uint32_t)(p.cell->dropped + p.cell->count - 1);
	p.cell->value = w->value;
}

/* ---- accesses ---- */

/* Returns true if the thread has read the same value here again and again.  Such a thread probably
 * waits for another value, which it must read eventually. */
static bool is_stale(const struct memory *m, uint32_t t, struct memory_part p)
{
	uint32_t cell = index_of(m, p.cell);

	return m->threads[t].last[cell % MEMORY_SEEN].cell == cell + 1 &&
	       m->threads[t].last[cell % MEMORY_SEEN].mask == p.mask && m->threads[t].stale >= MEMORY_FAIR;
}

static void see(struct memory *m, uint32_t t, struct memory_part p, uint64_t value)
{
	struct memory_thread *own = &m->threads[t];
	uint32_t cell = index_of(m, p.cell), i = cell % MEMORY_SEEN;
	bool same =
		own->last[i].cell == cell + 1 && own->last[i].mask == p.mask && own->last[i].value == value;

	own->stale = same ? own->stale + 1 : 0;
	own->last[i].cell = cell + 1;
	own->last[i].mask = p.mask;
	own->last[i].value = value;
}

uint64_t memory_load(struct memory *m, uint32_t t, struct memory_part p, enum memory_order_of order)
{
	bool forced = is_stale(m, t, p);
	uint64_t value = is_buffered(m)	  ? load_buffered(m, t, p, forced)
			 : has_history(m) ? load_history(m, t, p, order, forced)
					  : p.cell->value & p.mask;

	see(m, t, p, value);
	return note(m, t, 'r', &p, value);
}

/* Changes the value of the cell for all threads.  Bytes outside the mask are 0 in `value`. */
static void assign(struct memory_part p, uint64_t value)
{
	p.cell->value = (p.cell->value & ~p.mask) | value;
}

/* TSO models x86, where a store with memory_order_seq_cst is an exchange. */
void memory_store(struct memory *m, uint32_t t, struct memory_part p, uint64_t value,
		  enum memory_order_of order)
{
	value = note(m, t, 'w', &p, value & p.mask);
	if (has_history(m)) {
		store_history(m, t, p, value, order);
	} else if (is_buffered(m)) {
		if (m->model == RADDLE_MEMORY_PSO && order >= MEMORY_RELEASE)
			memory_drain(m, t);
		put_entry(m, t, p, value);
		if (order == MEMORY_SEQ)
			memory_drain(m, t);
	} else {
		assign(p, value);
	}
}

uint64_t memory_update(struct memory *m, uint32_t t, struct memory_part p, enum memory_order_of order)
{
	struct memory_thread *own = &m->threads[t];
	uint64_t value;

	if (is_buffered(m))
		flush_some(m, t, true, false);
	if (has_history(m)) {
		own->clock.at[t]++;
		if (order == MEMORY_SEQ)
			meet_fences(m, &own->clock);
		learn(own, write_at(p.cell, p.cell->count - 1), order);
	}
	value = p.cell->value & p.mask;
	see(m, t, p, value);
	return note(m, t, 'u', &p, value);
}

void memory_updated(struct memory *m, uint32_t t, struct memory_part p, uint64_t value,
		    enum memory_order_of order)
{
	value = note(m, t, 'x', &p, value & p.mask);
	if (has_history(m)) {
		struct memory_write before = *write_at(p.cell, p.cell->count - 1), *w;

		store_history(m, t, p, value, order);
		w = write_at(p.cell, p.cell->count - 1);
		join(&w->released, &before.released);
		w->releases |= before.releases;
	}
	assign(p, value);
}

void memory_write_through(struct memory *m, uint32_t t, struct memory_part p, uint64_t value)
{
	memory_drain(m, t);
	value = note(m, t, 't', &p, value & p.mask);
	if (has_history(m))
		store_history(m, t, p, value, MEMORY_RELAXED);
	assign(p, value);
}

void memory_fence(struct memory *m, uint32_t t, enum memory_fence fence)
{
	struct memory_thread *own = &m->threads[t];

	note(m, t, 'f', NULL, 0);
	if (fence == MEMORY_FENCE_FULL || (m->model == RADDLE_MEMORY_PSO && fence != MEMORY_FENCE_ACQUIRE))
		memory_drain(m, t);
	if (!has_history(m))
		return;
	own->clock.at[t]++;
	if (fence != MEMORY_FENCE_RELEASE)
		join(&own->clock, &own->seen);
	if (fence == MEMORY_FENCE_FULL || fence == MEMORY_FENCE_STORE)
		meet_fences(m, &own->clock);
	if (fence != MEMORY_FENCE_ACQUIRE)
		own->fenced = own->clock;
}

/* ---- what orders threads ---- */

void memory_create(struct memory *m, uint32_t t, uint32_t child)
{
	note(m, t, 'c', NULL, 0);
	memory_drain(m, t);
	m->threads[t].clock.at[t]++;
	if (child < MEMORY_THREADS)
		join(&m->threads[child].clock, &m->threads[t].clock);
}

void memory_join(struct memory *m, uint32_t t, uint32_t child)
{
	note(m, t, 'j', NULL, 0);
	if (child >= MEMORY_THREADS)
		return;
	m->threads[child].clock.at[child]++;
	join(&m->threads[t].clock, &m->threads[child].clock);
}

static struct memory_object *object_of(struct memory *m, uintptr_t address)
{
	uint32_t i = slot_of(address, MEMORY_OBJECTS);

	while (m->objects[i].address && m->objects[i].address != address)
		i = (i + 1) & (MEMORY_OBJECTS - 1);
	return &m->objects[i];
}

void memory_acquire(struct memory *m, uint32_t t, uintptr_t object)
{
	note(m, t, 'a', NULL, 0);
	join(&m->threads[t].clock, &object_of(m, object)->clock);
}

void memory_release(struct memory *m, uint32_t t, uintptr_t object)
{
	struct memory_object *o = object_of(m, object);

	note(m, t, 'l', NULL, 0);
	memory_drain(m, t);
	m->threads[t].clock.at[t]++;
	if (!o->address && m->object_count >= MEMORY_OBJECTS / 2) {
		/* The other models do not depend on clocks. */
		if (has_history(m))
			memory_end(m, RADDLE_MEMORY_LOCATIONS);
		return;
	}
	m->object_count += !o->address;
	RT_ASSERT(!o->address || o->address == object);
	o->address = object;
	join(&o->clock, &m->threads[t].clock);
}

uint32_t memory_tick(const struct memory *m, uint32_t t)
{
	RT_ASSERT(t < MEMORY_THREADS);
	return m->threads[t].clock.at[t] + 1;
}

bool memory_is_after(const struct memory *m, uint32_t t, uint32_t other, uint32_t tick)
{
	RT_ASSERT(t < MEMORY_THREADS && other < MEMORY_THREADS);
	return m->threads[t].clock.at[other] >= tick;
}

/* ---- states ---- */

static uint64_t mix_clock(uint64_t hash, const struct memory_clock *clock)
{
	for (uint32_t i = 0; i < MEMORY_THREADS; i++)
		if (clock->at[i])
			hash = rt_hash_add(rt_hash_add(hash, i), clock->at[i]);
	return hash;
}

static uint64_t mix_thread(uint64_t hash, const struct memory_thread *own, bool clocks)
{
	if (clocks)
		hash = mix_clock(mix_clock(mix_clock(hash, &own->clock), &own->seen), &own->fenced);
	hash = rt_hash_add(hash, own->past);
	for (uint32_t i = 0; i < own->count; i++)
		hash = rt_hash_add(rt_hash_add(rt_hash_add(hash, own->buffer[i].cell), own->buffer[i].mask),
				   own->buffer[i].value);
	return rt_hash_add(hash, own->stale);
}

static uint64_t mix_cell(uint64_t hash, const struct memory_cell *cell)
{
	hash = rt_hash_add(rt_hash_add(hash, cell->base), cell->value);
	for (uint32_t i = 0; i < cell->count; i++) {
		const struct memory_write *w = write_at(cell, i);

		hash = rt_hash_add(rt_hash_add(rt_hash_add(rt_hash_add(hash, w->thread), w->tick), w->value),
				   w->mask);
	}
	return hash;
}

/* The hash does not depend on the order of stores in different buffers, since that order only
 * determines which alternative is listed first.  It depends on clocks only if the model does. */
uint64_t memory_state(const struct memory *m)
{
	uint64_t hash = mix_clock(m->model, &m->fences);

	for (uint32_t t = 0; t < m->thread_count; t++)
		hash = mix_thread(rt_hash_add(hash, t), &m->threads[t], has_history(m));
	for (uint32_t i = 0; i < m->cell_count; i++) {
		hash = mix_cell(hash, &m->cells[m->used[i]]);
		for (uint32_t t = 0; m->model == RADDLE_MEMORY_COHERENT && t < m->thread_count; t++)
			hash = rt_hash_add(hash, m->floor[t][m->used[i]]);
	}
	return hash;
}
