/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interposed functions and the real ones that they call, for every runtime.
 *
 * In a dynamic program an interposed function has the name itself, and the real one is found by
 * dlsym(RTLD_NEXT); definitions are weak so that a program may define one of them too.  In a static program
 * (RADDLE_STATIC) the linker's --wrap provides `__wrap_name` and `__real_name`.
 */
#ifndef RT_COMMON_RESOLVE_H
#define RT_COMMON_RESOLVE_H

#include <stdbool.h>
#include <stddef.h>

#ifdef RADDLE_STATIC
#define INTERPOSE(type, name, parameters)                                                                    \
	type __wrap_##name parameters;                                                                       \
	type __wrap_##name parameters
#else
#define INTERPOSE(type, name, parameters) __attribute__((weak, visibility("default"))) type name parameters

/* A function, and where its address is stored in the caller's struct. */
struct rt_function {
	const char *name;
	size_t offset;
};

/* Whether an object other than the program has a symbol of this name for others.  Allocates nothing. */
bool rt_is_exported(const char *name);

/* NULL: no library has it. */
void *rt_find_real(const char *name);

/* Stores what was found of a table; the rest of `to` stays as it is. */
void rt_find_all(const struct rt_function *table, size_t count, void *to);

/* A thread may call an interposed function while it looks for the real ones.  False: it does so. */
bool rt_resolve_begin(void);
void rt_resolve_end(void);
#endif

#endif
