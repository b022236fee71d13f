// SPDX-License-Identifier: Apache-2.0
/*
 * Looks up the real functions, which the interposed ones replace, in a dynamically linked program.
 *
 * All real functions are looked up once, at the first call of any interposed function.  That may be
 * a malloc() of the dynamic linker, long before constructors run.  The lookup may itself allocate
 * memory (rt/common/resolve.c), but it cannot use the program's allocator: jemalloc, tcmalloc or
 * mimalloc would call interposed functions whose real ones have not been found yet.  So these few
 * allocations come from a small area of the runtime, which is never freed.  No real function is
 * called before all have been found.
 */
#include "rt/core/real.h"

#ifndef RADDLE_STATIC
#include <dlfcn.h>
#include <link.h>
#include <stddef.h>

/* Each block is preceded by its size. */
static void *early_memalign(size_t alignment, size_t size)
{
	uintptr_t start, end;
	size_t used = atomic_load_explicit(&rt_tables.early.used, memory_order_relaxed);

	if (alignment < sizeof(max_align_t))
		alignment = sizeof(max_align_t);
	do {
		start = ((uintptr_t)rt_tables.early.bytes + used + sizeof(size_t) + alignment - 1) &
			-alignment;
		end = start - (uintptr_t)rt_tables.early.bytes;
		if (end > sizeof rt_tables.early.bytes || size > sizeof rt_tables.early.bytes - end)
			return NULL;
		end += size;
	} while (!atomic_compare_exchange_weak_explicit(&rt_tables.early.used, &used, end,
							memory_order_relaxed, memory_order_relaxed));
	((size_t *)start)[-1] = size;
	return (void *)start;
}

static void *early_malloc(size_t size)
{
	return early_memalign(0, size);
}

/* No byte of the area is allocated twice, so the memory is still zero. */
static void *early_calloc(size_t count, size_t size)
{
	return __builtin_mul_overflow(count, size, &size) ? NULL : early_malloc(size);
}

static void *early_realloc(void *old, size_t size)
{
	void *p = early_malloc(size);

	return p && old ? __builtin_memcpy(p, old, rt_early_size(old) < size ? rt_early_size(old) : size) : p;
}

static void early_free(void *p)
{
	(void)p;
}

/* This variable has no initialiser, because initialised variables are placed among those of the
 * program. */
struct rt_real rt_real;

static const struct rt_real early = {
	.malloc = early_malloc,
	.calloc = early_calloc,
	.realloc = early_realloc,
	.free = early_free,
	.memalign = early_memalign,
	.aligned_alloc = early_memalign,
};

static const struct rt_function table[] = {
#define LIBC_INTERPOSED(group, name) {#name, offsetof(struct rt_real, name)},
#include "raddle/libc.inc"
};

/* Returns true if the library's name shows that it is only an allocator, like libjemalloc,
 * libtcmalloc and libmimalloc.  Other libraries may define malloc() among other things. */
static bool is_only_allocator(const char *path)
{
	const char *slash = __builtin_strrchr(path, '/');

	return __builtin_strstr(slash ? slash : path, "alloc") != NULL;
}

/* Finds the object that contains the code of malloc(), and determines whether that object is libc.
 * The symbol __libc_malloc does not identify libc, since jemalloc and tcmalloc define it too. */
static int look_at_object(struct dl_phdr_info *info, size_t size, void *context)
{
	struct rt_real *real = context;
	uintptr_t at = (uintptr_t)real->malloc, end = 0;

	(void)size;
	for (size_t i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_LOAD)
			end = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz;
	if (at < info->dlpi_addr || at >= end)
		return 0;
	real->own_allocator = (uintptr_t)real->_exit < info->dlpi_addr || (uintptr_t)real->_exit >= end;
	if (real->own_allocator && is_only_allocator(info->dlpi_name)) {
		real->allocator = info->dlpi_addr;
		real->allocator_size = end - info->dlpi_addr;
	}
	return 1;
}

void rt_real_resolve_all(void)
{
	struct rt_real found = {0};
	int saved = errno;

	if (!rt_resolve_begin())
		return;
	rt_real = early;
	rt_find_all(table, sizeof table / sizeof table[0], &found);
	dl_iterate_phdr(look_at_object, &found);
	dlerror();
	rt_real = found;
	atomic_store_explicit(&rt_real.resolved, 1, memory_order_release);
	rt_resolve_end();
	errno = saved;
}
#endif
