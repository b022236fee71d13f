// SPDX-License-Identifier: Apache-2.0
/*
 * Decides which accesses of a thinned run are new and therefore recorded (rt/record/thin.h).  This
 * file contains the table of blocks, and the decisions that are made once for each buffer or
 * operation.  In: accesses and operations of threads.  Out: whether they are new.
 */
#include "rt/common/bug.h"
#include "rt/record/left-out.h"

#define MOSTLY 3 /* a thread is lazy if it leaves out more accesses than this per recorded event */

struct rt_thin rt_thin;

static void note_change(void)
{
	uint32_t changes = atomic_load_explicit(&rt_thin.changes, memory_order_relaxed);

	atomic_store_explicit(&rt_thin.changes, changes + 1, memory_order_relaxed);
}

bool rt_thin_touch(const struct rt_thread *t, uintptr_t address, bool write, bool cold)
{
	_Atomic uint16_t *line = &rt_thin.lines[rt_line_index(address)];
	uint32_t entry = atomic_load_explicit(line, memory_order_relaxed), had = entry & 255, after;

	if (rt_line_is_quiet(entry, t->hand, write) && !(cold && write && had != t->hand))
		return true;
	after = rt_line_after(entry, t->hand, write, cold);
	if (after != entry)
		atomic_store_explicit(line, (uint16_t)after, memory_order_relaxed);
	if (had && had != (after & 255))
		note_change();
	return false;
}

void rt_thin_touch_range(const struct rt_thread *t, uintptr_t address, uint64_t size, bool write, bool cold)
{
	uintptr_t end = address + size;

	for (uintptr_t at = address; at < end; at = (at | (RADDLE_BLOCK_BYTES - 1)) + 1)
		rt_thin_touch(t, at, write, cold);
}

void rt_thin_pin(uintptr_t address)
{
	_Atomic uint16_t *line = &rt_thin.lines[rt_line_index(address)];

	if (atomic_load_explicit(line, memory_order_relaxed) != RT_LINE_PINNED)
		atomic_store_explicit(line, RT_LINE_PINNED, memory_order_relaxed);
}

bool rt_thin_goes_on(struct rt_thread *t)
{
	uint32_t changes = atomic_load_explicit(&rt_thin.changes, memory_order_relaxed);

	if (changes == t->thin_changes && ++t->lazy <= RT_THIN_LAZY)
		return true;
	t->thin_changes = changes;
	t->lazy = 1;
	return false;
}

/* Begins thinning.  The first thread that calls this function determines thin_q. */
static void begin(void)
{
	uint64_t never = 0, now = atomic_load(&rt.session->sequence);

	atomic_compare_exchange_strong(&rt.session->processes[rt.process].thin_q, &never, now ? now : 1);
	rt_guard.alive = RT_THIN;
}

/* While there is only one thread, nothing is left out.  The operations of a single thread do not
 * begin new segments (rt/record/event.c), so its repeated accesses are not recorded anyway. */
void rt_thin_look(struct rt_thread *t)
{
	const struct raddle_buffer *b = t->buffer;
	uint64_t events;

	if (!b || rt.session->all_accesses || atomic_load_explicit(&rt.others, memory_order_relaxed) == 0)
		return;
	if (rt_guard.alive == RT_THIN) {
		t->lazy = b->left_out > MOSTLY * (uint64_t)t->events;
		return;
	}
	events = atomic_fetch_add_explicit(&rt_thin.events, t->events, memory_order_relaxed) + t->events;
	if (events >= RT_THIN_EVENTS && rt_guard.alive == RT_PLAIN)
		begin();
}

RT_COLD_KEEPS void rt_thin_begin_places(struct rt_thread *t)
{
	RT_ASSERT(!t->places);
	t->hand = rt_hand(t->number);
	t->places = rt_map(RT_PLACES * sizeof *t->places);
	if (!t->places)
		t->places = rt_thin.nowhere;
}

/* Records how many accesses of the place were left out.  There is room for the record. */
static RT_COLD_KEEPS void report_left(struct rt_thread *t, const struct rt_place *p)
{
	if (p->step != t->steps)
		return;
	t->cursor = rt_put_left_out(&t->encoder, t->cursor, p->site, p->left);
	t->events++;
	rt_recorder_publish(t);
}

void rt_thin_record_at(struct rt_thread *t, uint32_t site)
{
	struct rt_place *p = rt_place_of(t->places, site);

	if (t->places == rt_thin.nowhere)
		return;
	if (p->left)
		report_left(t, p);
	p->left = 0;
	if (p->site != site)
		*p = (struct rt_place){.site = site};
	if (p->heat & RT_PLACE_HOT)
		p->more++;
	else if (++p->heat == RT_THIN_PLACE)
		p->heat = RT_PLACE_HOT | site;
}
