// SPDX-License-Identifier: Apache-2.0
/* The functions that the tests of hook.c call if a flag is set. */
#include "rt/guard/guard.h"

#include <errno.h>

#define SLOW __attribute__((preserve_most, visibility("default")))

SLOW void __raddle_guard_access(const void *address, uint64_t size, uint32_t number);
SLOW void __raddle_guard_ordered(const volatile void *address, uint32_t what);
SLOW void __raddle_guard_elsewhere(uint32_t leaving);
SLOW void __raddle_guard_got(const volatile void *object, int result);

SLOW void __raddle_guard_access(const void *address, uint64_t size, uint32_t number)
{
	guard_access(address, size, number);
}

SLOW void __raddle_guard_ordered(const volatile void *address, uint32_t what)
{
	guard_note_atomic(address, what);
}

SLOW void __raddle_guard_elsewhere(uint32_t leaving)
{
	guard_note_outside(leaving);
}

SLOW void __raddle_guard_got(const volatile void *object, int result)
{
	if (!result || result == EOWNERDEAD)
		guard_note_acquire(object, GUARD_EXCLUSIVE);
}
