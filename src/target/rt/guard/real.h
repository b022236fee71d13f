/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The real library functions, which the runtime's interposed functions call (raddle/guard.inc,
 * rt/common/resolve.h).  Their addresses are looked up when the runtime starts, or when the loader
 * first frees memory, whichever is earlier.
 */
#ifndef RT_GUARD_REAL_H
#define RT_GUARD_REAL_H

#include "rt/common/resolve.h"
#include "rt/guard/guard.h"

#include <errno.h>
#include <poll.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <threads.h>
#include <unistd.h>

int __cxa_guard_acquire(void *guard_object);
void __cxa_guard_release(void *guard_object);

#ifdef RADDLE_STATIC
#define GUARDED(name) extern __typeof__(name) __real_##name;
#define GUARDED_MAYBE(name) extern __typeof__(name) __real_##name __attribute__((weak));
#include "raddle/guard.inc"
#define REAL(name) __real_##name
static inline bool guard_is_resolved(void)
{
	return true;
}
static inline void guard_resolve(void)
{
}
#define GUARD_OWN(name)
#else
struct guard_real {
	_Atomic uint32_t resolved;
#define GUARDED(name) __typeof__(name) *name;
#include "raddle/guard.inc"
};
extern GUARD_HIDDEN struct guard_real guard_real;
void guard_resolve_all(void);

static inline bool guard_is_resolved(void)
{
	return GUARD_LIKELY(atomic_load_explicit(&guard_real.resolved, memory_order_acquire));
}

static inline void guard_resolve(void)
{
	if (!guard_is_resolved())
		guard_resolve_all();
}

/* A real function.  Its address is already known, because the runtime starts before any code of
 * the program or its libraries runs.  Functions that the loader itself calls are an exception. */
#define REAL(name) (guard_real.name)
/* Declares the runtime's function under a name that the program cannot define. */
#define GUARD_OWN(name)                                                                                      \
	extern __typeof__(name) guard_own_##name __attribute__((alias(#name), visibility("hidden")));
#endif

void guard_direct(void);	      /* direct.c: called when the real functions are known */
void guard_free_track(bool tracking); /* memory.c: sets which function free() calls */

#endif
