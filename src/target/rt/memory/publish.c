// SPDX-License-Identifier: Apache-2.0
/*
 * Lists stores that other threads learn of through a tracked store.  Suppose a thread stores to
 * several locations, and then to a tracked one.  Another thread that reads the tracked location may
 * also read the others, and under a weak memory model it may find old values there.  In: stores and
 * reads.  Out: sites (raddle_memory.published), so that the next run tracks these stores too.
 * Stores without a tracked store nearby are listed as well, with 0 as `through`.  In a program with
 * few shared accesses, later runs may switch threads there.  A read that is ordered after the store
 * is not listed, because in no model can it return an older value.
 *
 * Nothing here changes what the program does.  A location may be missed if a table is full or if
 * two addresses share an entry, or if the location is not read at the same address at which it was
 * stored.
 */
#include "rt/common/hash.h"
#include "rt/memory/memory.h"

static struct rt_memory_own *own_of(const struct rt_thread *t)
{
	return t->layer[RT_LAYER_MEMORY];
}

static uint32_t slot_of(uintptr_t address, uint32_t count)
{
	return (uint32_t)(rt_hash(address) >> 40) & (count - 1);
}

static bool is_own_stack(const struct rt_thread *t, uintptr_t address)
{
	return address >= t->stack_low && address < t->stack_high;
}

static struct rt_published *entry_of(uintptr_t address)
{
	struct rt_memory *m = rt_memory();
	uint32_t i = slot_of(address, RT_MEMORY_PUBLISHED);

	while (m->published[i].address && m->published[i].address != address)
		i = (i + 1) & (RT_MEMORY_PUBLISHED - 1);
	return &m->published[i];
}

/* Adds a store whose old value other threads may read.  All of the thread's stores since its last
 * operation have the same tick. */
static void publish(const struct rt_thread *t, uintptr_t address, uint32_t site, uint32_t through)
{
	struct rt_published *p = entry_of(address);

	if (!p->address && rt_memory()->published_count++ >= RT_MEMORY_PUBLISHED / 2)
		return;
	*p = (struct rt_published){.address = address,
				   .thread = t->number,
				   .site = site,
				   .through = through,
				   .tick = memory_tick(&rt_memory()->model, t->number)};
}

void rt_publish_store(struct rt_thread *t, uintptr_t address, uint64_t size, uint32_t site)
{
	struct rt_memory_own *own = own_of(t);
	uint32_t i = slot_of(address, RT_MEMORY_RECENT);

	if (is_own_stack(t, address) || size > 16)
		return;
	own->recent[i].address = address;
	own->recent[i].site = site;
	own->recent[i].epoch = own->epoch + 1;
	publish(t, address, site, own->through_epoch == own->epoch + 1 ? own->through : 0);
}

void rt_publish(const struct rt_thread *t, uint32_t site)
{
	struct rt_memory_own *own = own_of(t);

	own->through = site;
	own->through_epoch = own->epoch + 1;
	for (uint32_t i = 0; i < RT_MEMORY_RECENT; i++) {
		if (own->recent[i].epoch != own->epoch + 1 || own->recent[i].site == site)
			continue;
		own->recent[i].epoch = 0;
		publish(t, own->recent[i].address, own->recent[i].site, site);
	}
}

static bool is_known(const struct raddle_memory *plan, uint32_t count, struct raddle_published pair)
{
	for (uint32_t i = 0; i < count; i++)
		if (plan->published[i].store == pair.store && plan->published[i].read == pair.read &&
		    plan->published[i].through == pair.through)
			return true;
	return false;
}

void rt_publish_read(const struct rt_thread *t, uintptr_t address, uint32_t site)
{
	struct raddle_memory *plan = rt_memory()->plan;
	struct raddle_published pair;
	struct rt_published *p;
	uint32_t count;

	if (!rt_memory()->published_count)
		return;
	p = entry_of(address);
	if (!p->address || p->thread == t->number || p->notified == site ||
	    memory_is_after(&rt_memory()->model, t->number, p->thread, p->tick))
		return;
	p->notified = site;
	pair = (struct raddle_published){p->site, p->through, site};
	count = atomic_load(&plan->published_count);
	if (count == RADDLE_MEMORY_SITES || is_known(plan, count, pair))
		return;
	plan->published[count] = pair;
	atomic_store(&plan->published_count, count + 1);
}

void rt_publish_reset(struct rt_thread *t)
{
	own_of(t)->epoch++;
}
