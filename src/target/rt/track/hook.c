// SPDX-License-Identifier: Apache-2.0
/*
 * The gates that the instrumenter inserts at instructions.  Functions whose gates are all closed
 * run a copy without gates (instr/track/ungated.c).  The functions called after the tests preserve
 * registers (preserve_most), so the code around a gate does not have to save any.
 */
#include "raddle/track.h"

#define HOOK __attribute__((always_inline, visibility("default")))
#define SLOW __attribute__((preserve_most, cold))

extern __attribute__((visibility("hidden"))) volatile uint8_t __raddle_track_flags[RADDLE_TRACK_GATES];

SLOW uint64_t __raddle_track_begin(const void *address, uint32_t gate, uint32_t how, uint64_t value);
SLOW void __raddle_track_end(uint64_t token, uint64_t value);
SLOW void __raddle_track_pass(uint32_t gate, uint64_t value);

HOOK uint64_t __raddle_track_enter(const void *address, uint32_t gate, uint32_t how, uint64_t value);
HOOK void __raddle_track_leave(uint64_t token, uint64_t value);
HOOK void __raddle_track_point(uint32_t gate, uint64_t value);

HOOK uint64_t __raddle_track_enter(const void *address, uint32_t gate, uint32_t how, uint64_t value)
{
	if (__builtin_expect(__raddle_track_flags[gate] & RADDLE_TRACK_OPEN, 0))
		return __raddle_track_begin(address, gate, how, value);
	return 0;
}

HOOK void __raddle_track_leave(uint64_t token, uint64_t value)
{
	if (__builtin_expect(token != 0, 0))
		__raddle_track_end(token, value);
}

HOOK void __raddle_track_point(uint32_t gate, uint64_t value)
{
	if (__builtin_expect(__raddle_track_flags[gate] & RADDLE_TRACK_OPEN, 0))
		__raddle_track_pass(gate, value);
}
