// SPDX-License-Identifier: Apache-2.0
/*
 * Pointers to the functions that instrumented code calls directly, not through the runtime
 * (guard.inc).  In a dynamic program they first point to the runtime's functions.  When the real
 * functions are known, and the program has no function of its own by that name, they point to the
 * real ones.  While something is tracked, the pointers to releasing functions lead to the runtime.
 */
#include "rt/guard/real.h"

#ifdef RADDLE_STATIC
#define DIRECT(name) __typeof__(name) *__raddle_guard_real_##name = __real_##name;
#else
#define DIRECT(name)                                                                                         \
	extern __typeof__(name) guard_own_##name;                                                            \
	__typeof__(name) *__raddle_guard_real_##name = name;
#endif
#define GUARDED_DIRECT_GETS(type, name) DIRECT(name)
#define GUARDED_DIRECT_GIVES(type, name) DIRECT(name)
#include "raddle/guard.inc"

#ifdef RADDLE_STATIC
#define IS_OURS(name) true
#define OURS(name) __wrap_##name
#define GUARDED_DIRECT_GIVES(type, name) extern __typeof__(name) __wrap_##name;
#include "raddle/guard.inc"
#else
/* The compiler believes that two names are two functions. */
static const void *plain(const void *p)
{
	__asm__("" : "+r"(p));
	return p;
}

#define IS_OURS(name) (plain((const void *)name) == plain((const void *)guard_own_##name) && REAL(name))
#define OURS(name) guard_own_##name
#endif

static void set_releasing(bool tracking)
{
#define GUARDED_DIRECT_GIVES(type, name)                                                                     \
	if (IS_OURS(name))                                                                                   \
		__raddle_guard_real_##name = tracking ? OURS(name) : REAL(name);
#include "raddle/guard.inc"
}

void guard_direct(void)
{
#define GUARDED_DIRECT_GETS(type, name)                                                                      \
	if (IS_OURS(name))                                                                                   \
		__raddle_guard_real_##name = REAL(name);
#include "raddle/guard.inc"
	guard_track(false);
}

void guard_track(bool any)
{
	set_releasing(any);
	guard_free_track(any);
	__raddle_guard_tracking = any;
}
