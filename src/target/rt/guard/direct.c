// SPDX-License-Identifier: Apache-2.0
/*
 * Pointers to the functions that instrumented code calls directly, not through the runtime
 * (guard.inc).  In a dynamic program, they first point to the runtime's functions.  Once the real
 * functions are known, they point to those, unless the program defines the function itself.  While
 * an access is tracked, the pointers to releasing functions point to the runtime's functions.
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
/* Hides the address from the compiler, which assumes that two names are always two functions. */
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
