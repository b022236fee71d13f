// SPDX-License-Identifier: Apache-2.0
/*
 * The table of callbacks of the layer `memory` (rt/core/layer.h).  It turns notifications into
 * reads, writes and happens-before edges of the model (rt/memory/memory.h).
 *
 * The layer `steer` precedes this layer in the row of the flavour, so a callback runs when the
 * thread has the turn.  Other threads may have run since the thread's last callback, and their
 * pending writes are applied first.
 *
 * Limits: only the first process is steered, and a signal handler that runs between a hook and its
 * access instruction hides the write of that access.
 */
#include "rt/common/bug.h"
#include "rt/common/hash.h"
#include "rt/memory/memory.h"

#include "raddle/event.h"
#include "raddle/steer.h"

#include <errno.h>

#define RANGE_MAX 512 /* bytes: the most that one access at a tracked site adds to tracked memory */
/* A call may run code that is not instrumented and writes to memory.  This is the number of
 * callbacks after the start of the call that check for such writes. */
#define CALL_LOOKS 8

/* ---- the program's memory ---- */

static uint64_t peek(const struct memory_cell *cell)
{
	uint64_t value = 0;

	if (cell->mask == ~0ull)
		return *(volatile uint64_t *)cell->base;
	for (unsigned i = 0; i < 8; i++)
		if (cell->mask >> 8 * i & 1)
			value |= (uint64_t) * (volatile uint8_t *)(cell->base + i) << 8 * i;
	return value;
}

static void poke(struct memory_cell *cell, uint64_t value)
{
	for (unsigned i = 0; i < 8; i++)
		if (cell->mask >> 8 * i & 1 && (cell->shown ^ value) >> 8 * i & 0xff)
			*(volatile uint8_t *)(cell->base + i) = (uint8_t)(value >> 8 * i);
	cell->shown = value;
}

/* Writes the thread's view into the program's memory. */
static void show(struct rt_memory *m, uint32_t t)
{
	for (uint32_t i = 0; i < m->model.cell_count; i++) {
		struct memory_cell *cell = &m->model.cells[m->model.used[i]];
		uint64_t view = memory_view(&m->model, t, cell);

		if (view != cell->shown)
			poke(cell, view);
	}
	m->viewer = t;
}

/* ---- pending accesses ---- */

static struct memory_part part_of(struct rt_memory *m, uintptr_t address, uint64_t size)
{
	struct memory_cell *cell = memory_cell(&m->model, address);
	struct memory_part p = {cell, cell ? memory_mask(cell->base, address, size) : 0};

	if (cell && (p.mask & cell->mask) != p.mask)
		p.cell = NULL;
	return p;
}

/* Passes the write of a range to the model.  Writes to its tracked parts take effect in memory at
 * once. */
static void settle_range(struct rt_memory *m, const struct rt_memory_access *a)
{
	for (uint32_t i = 0; i < m->model.cell_count; i++) {
		struct memory_cell *cell = &m->model.cells[m->model.used[i]];
		struct memory_part p = {cell, memory_mask(cell->base, a->address, a->size) & cell->mask};

		if (!p.mask)
			continue;
		cell->shown = peek(cell);
		memory_write_through(&m->model, a->thread, p, cell->shown);
	}
}

/* Called after the pending access has happened.  Passes what it wrote to the model. */
static void settle(struct rt_memory *m, bool stored)
{
	const struct rt_memory_access a = m->pending;
	struct memory_part p = {0};

	m->pending.kind = RT_PENDS_NOT;
	if (a.kind == RT_PENDS_RANGE)
		settle_range(m, &a);
	else if (a.kind != RT_PENDS_NOT)
		p = part_of(m, a.address, a.size);
	if (p.cell && a.kind != RT_PENDS_READ)
		p.cell->shown = peek(p.cell);
	if (p.cell && a.kind == RT_PENDS_WRITE)
		memory_store(&m->model, a.thread, p, p.cell->shown, a.order);
	else if (p.cell && a.kind == RT_PENDS_UPDATE && stored)
		memory_updated(&m->model, a.thread, p, p.cell->shown, a.order);
	if (a.kind != RT_PENDS_NOT)
		show(m, m->viewer);
}

/* Detects writes by code that is not instrumented, and passes them to the model. */
static void look(struct rt_memory *m)
{
	RT_ASSERT(m->called > 0 && m->viewer < MEMORY_THREADS);
	m->called--;
	for (uint32_t i = 0; i < m->model.cell_count; i++) {
		struct memory_cell *cell = &m->model.cells[m->model.used[i]];
		uint64_t now = cell->mask ? peek(cell) : 0, changed = (now ^ cell->shown) & cell->mask,
			 mask = 0;

		if (!changed)
			continue;
		for (unsigned k = 0; k < 8; k++)
			mask |= changed >> 8 * k & 0xff ? 0xffull << 8 * k : 0;
		cell->shown = now;
		memory_write_through(&m->model, m->viewer, (struct memory_part){cell, mask}, now);
	}
}

static bool takes_turns(void)
{
	uint32_t phase = atomic_load(&rt_steer_memory()->phase);

	return phase == RADDLE_LEADING || phase == RADDLE_MET || phase == RADDLE_GOES_ON;
}

static void end(struct rt_memory *m, enum raddle_memory_over why)
{
	memory_end(&m->model, why);
	show(m, m->viewer);
	atomic_store(&m->plan->over, m->model.over);
}

/* Called first in most callbacks.  Applies pending writes and writes the thread's view into memory.
 * Returns the layer's state, or NULL if the model was abandoned. */
static struct rt_memory *enter(struct rt_thread *t)
{
	struct rt_memory *m = rt_memory();

	if (!m || m->off)
		return NULL;
	settle(m, m->pending.kind == RT_PENDS_UPDATE);
	if (m->called)
		look(m);
	if (!takes_turns()) {
		end(m, RADDLE_MEMORY_HOLDS);
		m->off = true;
		return NULL;
	}
	m->asking = t;
	m->site = 0;
	m->address = 0;
	if (t->number >= MEMORY_THREADS) {
		end(m, RADDLE_MEMORY_THREADS);
		m->off = true;
		return NULL;
	}
	if (m->viewer != t->number)
		show(m, t->number);
	return m;
}

static void report_over(const struct rt_memory *m)
{
	if (m->model.over)
		atomic_store(&m->plan->over, m->model.over);
}

static void leave(struct rt_memory *m, const struct rt_thread *t)
{
	show(m, t->number);
	report_over(m);
}

/* ---- choices ---- */

static uint32_t choose(void *context, enum raddle_choice_kind kind, uint32_t from)
{
	const struct rt_memory *m = context;

	return rt_choose((struct raddle_choice){.from = from,
						.kind = kind,
						.slot = m->asking->number,
						.site = m->site,
						.address = m->address,
						.state = (uint64_t)m->asking->number << 32 | m->site});
}

/* The pending access of the calling thread has already happened, so it is applied first. */
static void states(uint64_t *state)
{
	struct rt_memory *m = rt_memory();

	settle(m, m->pending.kind == RT_PENDS_UPDATE);
	*state = rt_hash(*state) + memory_state(&m->model);
}

static void buffers(uint32_t thread, bool *waits)
{
	struct rt_memory *m = rt_memory();

	settle(m, m->pending.kind == RT_PENDS_UPDATE);
	*waits |= thread < MEMORY_THREADS && m->model.threads[thread].count;
}

/* ---- what is tracked ---- */

static bool is_tracked_site(const struct rt_memory *m, uint32_t site)
{
	uint32_t i = site * 0x9e3779b1u >> 20;

	for (; m->sites[i % (4 * RADDLE_MEMORY_SITES)]; i++)
		if (m->sites[i % (4 * RADDLE_MEMORY_SITES)] == site)
			return true;
	return false;
}

static void add_site(struct rt_memory *m, uint32_t site)
{
	uint32_t i = site * 0x9e3779b1u >> 20;

	RT_ASSERT(site);
	while (m->sites[i % (4 * RADDLE_MEMORY_SITES)])
		i++;
	m->sites[i % (4 * RADDLE_MEMORY_SITES)] = site;
}

static void track_cell(struct rt_memory *m, uintptr_t base, uint64_t mask)
{
	struct memory_cell wanted = {.base = base, .mask = mask}, *cell = memory_cell(&m->model, base);
	uint64_t fresh = cell ? mask & ~cell->mask : mask, value;

	if (!fresh || m->model.over)
		return;
	value = peek(&wanted);
	cell = memory_track(&m->model, base, mask, value);
	if (cell)
		cell->shown = (cell->shown & ~fresh) | (value & fresh);
}

static void track(struct rt_memory *m, uintptr_t address, uint64_t size)
{
	uintptr_t end_at = address + (size < RANGE_MAX ? size : RANGE_MAX);

	for (uintptr_t base = address & ~(uintptr_t)7; base < end_at; base += 8)
		track_cell(m, base, memory_mask(base, address, end_at - address));
}

/* Returns true if some of the bytes are tracked. */
static bool touches_tracked(struct rt_memory *m, uintptr_t address, uint64_t size)
{
	if (size <= 64) {
		for (uintptr_t base = address & ~(uintptr_t)7; base < address + size; base += 8) {
			const struct memory_cell *cell = memory_cell(&m->model, base);

			if (cell && cell->mask & memory_mask(base, address, size))
				return true;
		}
		return false;
	}
	for (uint32_t i = 0; i < m->model.cell_count; i++) {
		const struct memory_cell *cell = &m->model.cells[m->model.used[i]];

		if (cell->mask & memory_mask(cell->base, address, size))
			return true;
	}
	return false;
}

static bool is_one_cell(uintptr_t address, uint64_t size)
{
	return size && (address & 7) + size <= 8;
}

/* In TSO, a store never reaches memory before an earlier store of the same thread.  So any store
 * that follows a buffered store must be buffered too.  Stores to the thread's own stack are exempt,
 * since other threads do not use it. */
static bool has_to_wait(const struct rt_memory *m, const struct rt_thread *t, uintptr_t address)
{
	return m->model.model == RADDLE_MEMORY_TSO && m->model.threads[t->number].count &&
	       !(address >= t->stack_low && address < t->stack_high);
}

/* ---- accesses ---- */

/* Lets the model choose the value of a read, and stores this value at the address that the thread
 * is about to read. */
static void read_tracked(struct rt_memory *m, const struct rt_memory_access *a)
{
	struct memory_part p = part_of(m, a->address, a->size);
	uint64_t value;

	if (!is_one_cell(a->address, a->size) || !p.cell) {
		memory_drain(&m->model, a->thread);
		show(m, a->thread);
		return;
	}
	value = memory_load(&m->model, a->thread, p, a->order);
	show(m, a->thread);
	poke(p.cell, (p.cell->shown & ~p.mask) | value);
	m->pending = *a;
}

static void write_tracked(struct rt_memory *m, struct rt_memory_access a)
{
	struct memory_part p = part_of(m, a.address, a.size);

	if (!is_one_cell(a.address, a.size) || !p.cell) {
		memory_drain(&m->model, a.thread);
		a.kind = RT_PENDS_RANGE;
	}
	m->pending = a;
	show(m, a.thread);
}

static void touches(struct rt_thread *t, uintptr_t address, uint64_t size, uint32_t site, uint32_t how)
{
	bool write = how & RT_ACCESS_WRITE;
	struct rt_memory_access a = {write ? RT_PENDS_WRITE : RT_PENDS_READ, t->number, address, size,
				     MEMORY_RELAXED};
	struct rt_memory *m = enter(t);
	bool tracked;

	if (!m || !size)
		return;
	m->site = site;
	m->address = address;
	if (is_tracked_site(m, site) || (write && has_to_wait(m, t, address)))
		track(m, address, size);
	tracked = touches_tracked(m, address, size);
	if (!write)
		rt_publish_read(t, address, site);
	else if (tracked)
		rt_publish(t, site);
	if (write)
		rt_publish_store(t, address, size, site);
	if (!tracked)
		return;
	if (write)
		write_tracked(m, a);
	else
		read_tracked(m, &a);
	report_over(m);
}

static enum memory_order_of order_of(uint64_t what)
{
	uint32_t order = RADDLE_ATOMIC_ORDER(what);

	return order ? (enum memory_order_of)(order - 1) : MEMORY_SEQ;
}

/* Atomic operations on untracked bytes order tracked accesses.  Whatever their memory order is,
 * reads acquire and writes release. */
static void order_by(struct rt_memory *m, const struct rt_memory_access *a)
{
	bool writes = a->kind != RT_PENDS_READ;

	if (a->kind == RT_PENDS_UPDATE || (writes && a->order == MEMORY_SEQ) ||
	    (writes && m->model.model == RADDLE_MEMORY_TSO))
		memory_drain(&m->model, a->thread);
	if (a->kind != RT_PENDS_WRITE)
		memory_acquire(&m->model, a->thread, a->address);
	if (writes)
		memory_release(&m->model, a->thread, a->address);
}

static void begin_atomic(struct rt_memory *m, const struct rt_memory_access *a)
{
	struct memory_part p = part_of(m, a->address, a->size);

	if (a->kind == RT_PENDS_READ) {
		read_tracked(m, a);
	} else if (a->kind == RT_PENDS_UPDATE && p.cell && is_one_cell(a->address, a->size)) {
		memory_update(&m->model, a->thread, p, a->order);
		m->pending = *a;
		show(m, a->thread);
	} else {
		write_tracked(m, *a);
	}
}

/* On untracked bytes, every atomic operation acquires and releases.  For a sequentially consistent
 * one, tracking would change nothing.  A weaker one may order less if its bytes are tracked, so it
 * is listed like a plain access, and the next runs track it. */
static void publish_atomic(struct rt_thread *t, const struct rt_memory_access *a, uint32_t site)
{
	bool listed = a->order != MEMORY_SEQ;

	if (listed && a->kind != RT_PENDS_WRITE)
		rt_publish_read(t, a->address, site);
	if (listed && a->kind != RT_PENDS_READ)
		rt_publish_store(t, a->address, a->size, site);
	if (a->kind != RT_PENDS_READ)
		rt_publish(t, site);
}

static void accesses(struct rt_thread *t, uintptr_t address, uint64_t size, uint32_t site, uint32_t how)
{
	uint64_t what = t->atomic_what;
	struct rt_memory_access a = {RT_PENDS_READ, t->number, address, size, order_of(what)};
	struct rt_memory *m = how & RT_ACCESS_ATOMIC ? enter(t) : NULL;

	if (!m)
		return;
	if (how & RT_ACCESS_WRITE)
		a.kind = RADDLE_ATOMIC_READS(what) ? RT_PENDS_UPDATE : RT_PENDS_WRITE;
	m->site = site;
	m->address = address;
	if (is_tracked_site(m, site))
		track(m, address, size);
	publish_atomic(t, &a, site);
	if (touches_tracked(m, address, size)) {
		begin_atomic(m, &a);
		report_over(m);
	} else {
		order_by(m, &a);
		leave(m, t);
	}
}

/* Called after the effect of the operation. */
static void atomic(struct rt_thread *t, uintptr_t address, uint64_t size, uint32_t site, uint32_t how)
{
	struct rt_memory *m = rt_memory();

	(void)address;
	(void)size;
	(void)site;
	if (!m || m->off || m->pending.thread != t->number)
		return;
	settle(m, how & RT_ACCESS_WRITE);
}

static void barrier(struct rt_thread *t, uint32_t kind)
{
	struct rt_memory *m = enter(t);

	if (!m)
		return;
	memory_fence(&m->model, t->number, (enum memory_fence)kind);
	leave(m, t);
}

/* ---- events that flush buffers ---- */

static void drains(struct rt_thread *t)
{
	struct rt_memory *m = enter(t);

	if (!m)
		return;
	memory_drain(&m->model, t->number);
	leave(m, t);
}

/* Writes of uninstrumented code reach memory at once.  TSO allows that only after all earlier
 * stores, so the buffer is flushed. */
static void calls(struct rt_thread *t)
{
	struct rt_memory *m = rt_memory();

	if (m && m->model.model == RADDLE_MEMORY_TSO)
		drains(t);
	else
		enter(t);
	if (m)
		m->called = CALL_LOOKS;
}

static void yields(struct rt_thread *t, uint64_t ns, bool *others_ran)
{
	(void)ns;
	(void)others_ran;
	drains(t);
}

static void op_begins(struct rt_op *op)
{
	drains(op->t);
	rt_publish_reset(op->t);
}

static void op_goes_on(struct rt_op *op)
{
	enter(op->t);
}

/* ---- events that order threads ---- */

static void created(struct rt_thread *parent, struct rt_thread *child)
{
	struct rt_memory *m = enter(parent);

	if (!m)
		return;
	memory_create(&m->model, parent->number, child->number);
	leave(m, parent);
}

static void joined(struct rt_thread *t, uint32_t number)
{
	struct rt_memory *m = enter(t);

	if (m)
		memory_join(&m->model, t->number, number);
}

static void acquired(struct rt_thread *t, uint32_t kind, uintptr_t object, uint64_t result)
{
	struct rt_memory *m = enter(t);

	(void)kind;
	if (m && (result == 0 || result == EOWNERDEAD))
		memory_acquire(&m->model, t->number, object);
}

static void releasing(struct rt_op *op, uint32_t kind, uintptr_t object)
{
	struct rt_memory *m = enter(op->t);

	(void)kind;
	if (!m)
		return;
	memory_release(&m->model, op->t->number, object);
	leave(m, op->t);
}

static void abandons(struct rt_thread *t, uintptr_t object)
{
	struct rt_memory *m = enter(t);

	if (m)
		memory_release(&m->model, t->number, object);
}

/* ---- memory that becomes something else ---- */

static void forget(struct rt_thread *t, uintptr_t address, uint64_t size)
{
	struct rt_memory *m = rt_memory();

	(void)t;
	if (m && !m->off)
		memory_forget(&m->model, address, size);
}

static void frees(struct rt_thread *t, void *p, bool *kept)
{
	(void)kept;
	if (p && enter(t))
		forget(t, (uintptr_t)p, rt_usable_size(p));
}

/* ---- threads ---- */

/* Stops tracking the thread's stack, which may soon be unmapped. */
static void ends(struct rt_thread *t)
{
	drains(t);
	forget(t, t->stack_low, t->stack_high > t->stack_low ? t->stack_high - t->stack_low : 0);
}

static void *get(size_t size)
{
	return rt_map(size);
}

static bool setup(void)
{
	struct raddle_memory *plan = rt_memory_plan();
	struct rt_memory *m = plan ? rt_map(sizeof *m) : NULL;
	uint32_t count;

	if (!m || plan->model >= RADDLE_MEMORY_MODELS)
		return false;
	rt.layer[RT_LAYER_MEMORY] = m;
	m->plan = plan;
	m->model.model = plan->model;
	m->model.choose = choose;
	m->model.context = m;
	m->model.get = get;
	count = plan->track_count < RADDLE_MEMORY_SITES ? plan->track_count : RADDLE_MEMORY_SITES;
	for (uint32_t i = 0; i < count; i++)
		if (plan->track[i] && !is_tracked_site(m, plan->track[i]))
			add_site(m, plan->track[i]);
	return true;
}

const struct rt_layer rt_layer_memory = {
	.number = RT_LAYER_MEMORY,
	.listens = true,
	.thread_size = sizeof(struct rt_memory_own),
	.setup = setup,
	.ends = ends,
	.callbacks = {.exiting = drains,
		      .created = created,
		      .joined = joined,
		      .op_enter = op_begins,
		      .op_begin = op_begins,
		      .op_gate = op_goes_on,
		      .op_waited = op_goes_on,
		      .op_end = op_goes_on,
		      .op_left = op_goes_on,
		      .yields = yields,
		      .acquired = acquired,
		      .releasing = releasing,
		      .abandons = abandons,
		      .access = accesses,
		      .touches = touches,
		      .calls = calls,
		      .emits = drains,
		      .atomic = atomic,
		      .barrier = barrier,
		      .states = states,
		      .buffers = buffers,
		      .forget = forget,
		      .frees = frees},
};
