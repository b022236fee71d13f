// SPDX-License-Identifier: Apache-2.0
/*
 * Finding the real functions of a dynamic program.  The loader calls malloc() and free() of the program
 * before anybody's constructor, and dlsym() itself allocates and frees; what is freed meanwhile is left
 * alone.
 */
#include "rt/guard/real.h"

#ifndef RADDLE_STATIC
#include <dlfcn.h>
#include <stddef.h>

struct guard_real guard_real;

static const struct {
	const char *name;
	size_t offset;
} table[] = {
#define GUARDED(name) {#name, offsetof(struct guard_real, name)},
#include "raddle/guard.inc"
};

/* Condition variables have an older twin with another layout. */
static void *find(const char *name)
{
	void *p = NULL;

	if (!__builtin_strncmp(name, "pthread_cond_", 13))
		p = dlvsym(RTLD_NEXT, name, "GLIBC_2.3.2");
	return p ? p : dlsym(RTLD_NEXT, name);
}

static void leave_alone(void *p)
{
	(void)p;
}

void guard_resolve_all(void)
{
	static __thread bool resolving;
	struct guard_real found = {0};
	int saved = errno;

	if (resolving) {
		if (!guard_real.free)
			guard_real.free = leave_alone;
		return;
	}
	resolving = true;
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		void *p = find(table[i].name);
		if (p)
			__builtin_memcpy((char *)&found + table[i].offset, &p, sizeof p);
	}
	guard_real = found;
	atomic_store_explicit(&guard_real.resolved, 1, memory_order_release);
	dlerror(); /* allocates */
	resolving = false;
	errno = saved;
}
#endif
