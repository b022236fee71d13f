// SPDX-License-Identifier: Apache-2.0
/*
 * Who came to which bytes lately at the guards of a task.  A loop over an array comes to its two accesses at
 * thousands of addresses, and other threads to a few of these; what is held or tracked at any of the others
 * meets nobody.  A table that forgets is enough: it says where to look, and is no witness of anything.
 */
#include "rt/guard/guard.h"

enum { PLACES = 4096 };

struct place {
	uintptr_t address;
	uint32_t guard, thread;
};

static struct {
	struct place places[PLACES];
} lately;

static struct place *place_of(uintptr_t address, uint32_t number)
{
	uint64_t hash = (address ^ (uint64_t)number << 48) * 0x9e3779b97f4a7c15ull;

	return &lately.places[hash >> 52];
}

_Static_assert(PLACES == 1 << (64 - 52), "a hash is the number of a place");

bool guard_lately(const struct guard_thread *t, uintptr_t address, uint32_t number)
{
	const struct place *p = place_of(address, number);

	return p->thread && p->thread != t->number && p->address == address && p->guard == number;
}

void guard_was_at(const struct guard_thread *t, uintptr_t address, uint32_t number)
{
	*place_of(address, number) = (struct place){address, number, t->number};
}
