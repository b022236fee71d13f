// SPDX-License-Identifier: Apache-2.0
/*
 * The tests that the instrumenter puts at guards, atomic operations and calls of unknown functions, before
 * the optimiser runs.  While a flag is 0 nothing else happens; the calls behind them keep registers
 * (preserve_most), so that the code around a test pays for none of them.
 */
#include "raddle/guard.h"

#define HOOK __attribute__((always_inline, visibility("default")))
#define SLOW __attribute__((preserve_most, cold))

extern __attribute__((visibility("hidden"))) volatile uint8_t __raddle_guard_flags[RADDLE_GUARDS];
extern __attribute__((visibility("hidden"))) uint8_t __raddle_guard_groups[RADDLE_GUARDS];
extern __attribute__((visibility("hidden"))) volatile uint8_t __raddle_guard_tracking;

SLOW void __raddle_guard_access(const void *address, uint64_t size, uint32_t number);
SLOW void __raddle_guard_ordered(const volatile void *address, uint32_t what);
SLOW void __raddle_guard_elsewhere(uint32_t leaving);

HOOK void __raddle_guard_test(const void *address, uint32_t number, uint64_t size, uint32_t group);
HOOK void __raddle_guard_atomic(const volatile void *address, uint32_t what);
HOOK void __raddle_guard_outside(uint32_t leaving);

/* A loop may look at the group once; what it does if that is set it asks each time. */
HOOK void __raddle_guard_test(const void *address, uint32_t number, uint64_t size, uint32_t group)
{
	if (__builtin_expect(__raddle_guard_groups[group], 0) &&
	    __builtin_expect(__raddle_guard_flags[number], 0))
		__raddle_guard_access(address, size, number);
}

HOOK void __raddle_guard_atomic(const volatile void *address, uint32_t what)
{
	if (__builtin_expect(__raddle_guard_tracking, 0))
		__raddle_guard_ordered(address, what);
}

HOOK void __raddle_guard_outside(uint32_t leaving)
{
	if (__builtin_expect(__raddle_guard_tracking, 0))
		__raddle_guard_elsewhere(leaving);
}
