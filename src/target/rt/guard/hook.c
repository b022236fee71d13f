// SPDX-License-Identifier: Apache-2.0
/*
 * The tests that the instrumenter inserts at guards, atomic operations and calls of unknown
 * functions, before the optimiser runs.  While a flag is 0, only the test is executed.  The
 * functions called after the tests preserve registers (preserve_most), so the code around a test
 * does not have to save any.
 */
#include "raddle/guard.h"

#include <pthread.h>
#include <stdlib.h>

#define HOOK __attribute__((always_inline, visibility("default")))
#define SLOW __attribute__((preserve_most, cold))

extern __attribute__((visibility("hidden"))) volatile uint8_t __raddle_guard_flags[RADDLE_GUARDS];
extern __attribute__((visibility("hidden"))) volatile uint8_t __raddle_guard_tracking;

SLOW void __raddle_guard_access(const void *address, uint64_t size, uint32_t number);
SLOW void __raddle_guard_ordered(const volatile void *address, uint32_t what);
SLOW void __raddle_guard_elsewhere(uint32_t leaving);
SLOW void __raddle_guard_got(const volatile void *object, int result);

HOOK void __raddle_guard_test(const void *address, uint32_t number, uint64_t size);
HOOK void __raddle_guard_atomic(const volatile void *address, uint32_t what);
HOOK void __raddle_guard_outside(uint32_t leaving);

HOOK void __raddle_guard_test(const void *address, uint32_t number, uint64_t size)
{
	if (__builtin_expect(__raddle_guard_flags[number], 0))
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

/* Instrumented code calls the real function directly.  After a function that acquires, it tests
 * whether an access is tracked.  For a function that releases, the pointer points to the runtime's
 * function while an access is tracked.  The thread that begins to track an access changes the
 * pointer before its next release.  A thread that acquires something after that release must see
 * the new pointer, so the pointer must be read after everything that precedes the call. */
#define GUARDED_DIRECT_GETS(type, name)                                                                      \
	extern __attribute__((visibility("hidden"))) int (*__raddle_guard_real_##name)(type *);              \
	HOOK int __raddle_guard_##name(type *object);                                                        \
	HOOK int __raddle_guard_##name(type *object)                                                         \
	{                                                                                                    \
		int result = __raddle_guard_real_##name(object);                                             \
		if (__builtin_expect(__raddle_guard_tracking, 0))                                            \
			__raddle_guard_got(object, result);                                                  \
		return result;                                                                               \
	}
#define GUARDED_DIRECT_GIVES(type, name)                                                                     \
	extern __attribute__((visibility("hidden"))) __typeof__(name) *__raddle_guard_real_##name;           \
	HOOK __typeof__(name((type *)0)) __raddle_guard_##name(type *object);                                \
	HOOK __typeof__(name((type *)0)) __raddle_guard_##name(type *object)                                 \
	{                                                                                                    \
		__asm__ volatile("" ::: "memory");                                                           \
		return __raddle_guard_real_##name(object);                                                   \
	}
#include "raddle/guard.inc"
