// SPDX-License-Identifier: Apache-2.0
/*
 * What racing locations publish.  A thread stores here and there and then to a tracked location; another
 * thread that has read that may go on to read what was stored before, and a weak memory shows it the old
 * values.  In: stores and reads.  Out: pairs of sites (raddle_memory.published), so that the next run tracks
 * these stores too.
 *
 * Nothing here changes what the program does.  Where a table is full or two addresses share an entry, a
 * location is not found.
 */
#include "rt/memory/memory.h"

static struct rt_memory_own *own_of(const struct rt_thread *t)
{
	return t->layer[RT_LAYER_MEMORY];
}

static uint32_t slot_of(uintptr_t address, uint32_t count)
{
	return (uint32_t)((address >> 3) * 0x9e3779b97f4a7c15ull >> 40) & (count - 1);
}

static bool is_own_stack(const struct rt_thread *t, uintptr_t address)
{
	return address >= t->stack_low && address < t->stack_high;
}

void rt_publish_store(struct rt_thread *t, uintptr_t address, uint64_t size, uint32_t site)
{
	struct rt_memory_own *own = own_of(t);
	uint32_t i = slot_of(address, RT_MEMORY_RECENT);

	if (is_own_stack(t, address) || size > 16)
		return;
	own->recent[i].address = address & ~(uintptr_t)7;
	own->recent[i].site = site;
	own->recent[i].epoch = own->epoch + 1;
}

static struct rt_published *entry_of(uintptr_t address)
{
	struct rt_memory *m = rt_memory();
	uint32_t i = slot_of(address, RT_MEMORY_PUBLISHED);

	while (m->published[i].address && m->published[i].address != address)
		i = (i + 1) & (RT_MEMORY_PUBLISHED - 1);
	return &m->published[i];
}

void rt_publish(const struct rt_thread *t, uint32_t site)
{
	struct rt_memory_own *own = own_of(t);

	for (uint32_t i = 0; i < RT_MEMORY_RECENT; i++) {
		struct rt_published *p;

		if (own->recent[i].epoch != own->epoch + 1)
			continue;
		own->recent[i].epoch = 0;
		p = entry_of(own->recent[i].address);
		if (!p->address && rt_memory()->published_count++ >= RT_MEMORY_PUBLISHED / 2)
			return;
		*p = (struct rt_published){.address = own->recent[i].address,
					   .thread = t->number,
					   .site = own->recent[i].site,
					   .through = site};
	}
}

static bool is_known(const struct raddle_memory *plan, uint32_t count, uint32_t store, uint32_t read)
{
	for (uint32_t i = 0; i < count; i++)
		if (plan->published[i].store == store && plan->published[i].read == read)
			return true;
	return false;
}

void rt_publish_read(const struct rt_thread *t, uintptr_t address, uint32_t site)
{
	struct raddle_memory *plan = rt_memory()->plan;
	struct rt_published *p;
	uint32_t count;

	if (!rt_memory()->published_count)
		return;
	p = entry_of(address & ~(uintptr_t)7);
	if (!p->address || p->thread == t->number || p->told)
		return;
	p->told = true;
	count = atomic_load(&plan->published_count);
	if (count == RADDLE_MEMORY_SITES || is_known(plan, count, p->site, site))
		return;
	plan->published[count] = (struct raddle_published){p->site, p->through, site};
	atomic_store(&plan->published_count, count + 1);
}

void rt_publish_reset(struct rt_thread *t)
{
	own_of(t)->epoch++;
}
