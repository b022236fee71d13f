// SPDX-License-Identifier: Apache-2.0
/*
 * Where instrumented code finds the functions that it calls without the runtime between (guard.inc).  At
 * first that is the runtime's own; when the real ones are known, and the program has none of its own by that
 * name, those.  While something is tracked functions that release are the runtime's again.
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
