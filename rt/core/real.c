// SPDX-License-Identifier: Apache-2.0
/*
 * Finding the real functions of a dynamic program.
 *
 * It happens once, at the first call of any interposed function, which may be
 * ld.so's own malloc long before constructors run.  dlsym() may allocate (the text
 * of dlerror() for a function that is not there), so while it works, allocations
 * go straight to libc: the memory table is filled first and those names always exist.
 */
#include "rt/core/real.h"

#ifndef RADDLE_STATIC
#include <dlfcn.h>
#include <stddef.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *p, size_t size);
extern void __libc_free(void *p);
extern void *__libc_memalign(size_t alignment, size_t size);

struct rt_real rt_real = {
	.malloc = __libc_malloc,
	.calloc = __libc_calloc,
	.realloc = __libc_realloc,
	.free = __libc_free,
	.memalign = __libc_memalign,
	.aligned_alloc = __libc_memalign,
};

static const struct {
	const char *name;
	size_t offset;
} table[] = {
#define RADDLE_INTERPOSE(group, name) {#name, offsetof(struct rt_real, name)},
#include "rt/core/interpose.inc"
#undef RADDLE_INTERPOSE
};

/* Condition variables have an older twin with another layout; the version of
 * the present one is older than some platforms, which have no twin. */
static void *find(const char *name)
{
	void *p = NULL;

	if (!__builtin_strncmp(name, "pthread_cond_", 13))
		p = dlvsym(RTLD_NEXT, name, "GLIBC_2.3.2");
	return p ? p : dlsym(RTLD_NEXT, name);
}

void rt_real_resolve_all(void)
{
	static __thread bool resolving;
	int saved = errno;

	if (resolving)
		return;
	resolving = true;
	for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
		void *p = find(table[i].name);
		if (p)
			__builtin_memcpy((char *)&rt_real + table[i].offset, &p, sizeof p);
	}
	dlerror();
	atomic_store_explicit(&rt_real.resolved, 1, memory_order_release);
	resolving = false;
	errno = saved;
}
#endif
