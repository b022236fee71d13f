// SPDX-License-Identifier: Apache-2.0
/*
 * Looks up the real functions, which the interposed ones replace, in a dynamically linked program.
 * The loader calls malloc() and free() of the program before any constructor, and the lookup itself
 * allocates and frees memory.  Memory that is freed during the lookup is leaked.
 */
#include "rt/guard/real.h"

#ifndef RADDLE_STATIC
#include <dlfcn.h>

struct guard_real guard_real;

static const struct rt_function table[] = {
#define GUARDED(name) {#name, offsetof(struct guard_real, name)},
#include "raddle/guard.inc"
};

static void leak(void *p)
{
	(void)p;
}

void guard_resolve_all(void)
{
	struct guard_real found = {0};
	int saved = errno;

	if (!rt_resolve_begin()) {
		if (!guard_real.free)
			guard_real.free = leak;
		return;
	}
	rt_find_all(table, sizeof table / sizeof table[0], &found);
	guard_real = found;
	atomic_store_explicit(&guard_real.resolved, 1, memory_order_release);
	dlerror(); /* allocates */
	rt_resolve_end();
	errno = saved;
}
#endif
