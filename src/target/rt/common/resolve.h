/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interposed functions and the real ones that they call, for every runtime.
 *
 * In a dynamic program an interposed function has the original name, and dlsym(RTLD_NEXT) finds
 * the real one.  The definitions are weak, so a program may define such a function itself.  In a
 * static program (RADDLE_STATIC) the linker's --wrap provides `__wrap_name` and `__real_name`.
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

/* The name of a function, and the offset in the caller's struct where its address is stored. */
struct rt_function {
	const char *name;
	size_t offset;
};

/* Returns true if an object other than the program exports a symbol of this name.  Allocates
 * nothing. */
bool rt_is_exported(const char *name);

/* Returns the address of the real function; NULL if no library has it. */
void *rt_find_real(const char *name);

/* Looks up the functions of a table.  Stores the addresses of existing functions in the struct
 * `to`, whose other members do not change. */
void rt_find_all(const struct rt_function *table, size_t count, void *to);

/* A thread calls begin() before it looks up the real functions, and end() afterwards.  The lookup
 * may itself call an interposed function, which calls begin() again; this second call returns
 * false. */
bool rt_resolve_begin(void);
void rt_resolve_end(void);
#endif

#endif
