// SPDX-License-Identifier: Apache-2.0
/*
 * Remembers which threads recently accessed which bytes at the guards of a task.  A loop over an
 * array may access thousands of addresses, of which other threads access only a few.  At the other
 * addresses, it is useless to stop a thread or to track an access.  In this table, new entries
 * displace old ones.  That is good enough, since the table only selects accesses and proves
 * nothing.
 */
#include "rt/common/hash.h"
#include "rt/guard/guard.h"

static struct guard_visit *visit_of(uintptr_t address, uint32_t number)
{
	uint64_t hash = rt_hash(address ^ (uint64_t)number << 48);

	return &guard_tables.recent[hash >> 52];
}

_Static_assert(GUARD_RECENT == 1 << (64 - 52), "a hash is the number of a place");

bool guard_was_recently(const struct guard_thread *t, uintptr_t address, uint32_t number)
{
	const struct guard_visit *p = visit_of(address, number);

	return p->thread && p->thread != t->number && p->address == address && p->guard == number;
}

void guard_was_at(const struct guard_thread *t, uintptr_t address, uint32_t number)
{
	*visit_of(address, number) = (struct guard_visit){address, number, t->number};
}
