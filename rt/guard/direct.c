// SPDX-License-Identifier: Apache-2.0
/*
 * Where instrumented code finds the functions that it calls without the runtime between (guard.inc).  At
 * first that is the runtime's own; when the real ones are known, and the program has none of its own by that
 * name, those.
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
void guard_direct(void)
{
}
#else
/* The compiler believes that two names are two functions. */
static const void *plain(const void *p)
{
	__asm__("" : "+r"(p));
	return p;
}

#define DIRECT_REAL(name)                                                                                    \
	if (plain((const void *)name) == plain((const void *)guard_own_##name) && REAL(name))                \
		__raddle_guard_real_##name = REAL(name);

void guard_direct(void)
{
#define GUARDED_DIRECT_GETS(type, name) DIRECT_REAL(name)
#define GUARDED_DIRECT_GIVES(type, name) DIRECT_REAL(name)
#include "raddle/guard.inc"
}
#endif
