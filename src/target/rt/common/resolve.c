// SPDX-License-Identifier: Apache-2.0
/*
 * Looks up the real functions, which the interposed ones replace, in the libraries of a dynamically
 * linked program.  In: names.  Out: addresses.
 *
 * dlsym() may allocate memory for its state, and for the text of dlerror() if a function does not
 * exist.  So only functions that exist are looked up.
 */
#include "rt/common/resolve.h"

#ifndef RADDLE_STATIC
#include <dlfcn.h>

static __thread bool resolving __attribute__((tls_model("initial-exec")));

/* glibc has two versions of most pthread_cond_ functions, one for each layout of condition
 * variables, so these functions are looked up by version.  Newer platforms have only one version,
 * which is found by name. */
void *rt_find_real(const char *name)
{
	void *p = NULL;

	if (!rt_is_exported(name))
		return NULL;
	if (!__builtin_strncmp(name, "pthread_cond_", 13) && __builtin_strcmp(name + 13, "clockwait"))
		p = dlvsym(RTLD_NEXT, name, "GLIBC_2.3.2");
	return p ? p : dlsym(RTLD_NEXT, name);
}

void rt_find_all(const struct rt_function *table, size_t count, void *to)
{
	for (size_t i = 0; i < count; i++) {
		void *p = rt_find_real(table[i].name);

		if (p)
			__builtin_memcpy((char *)to + table[i].offset, &p, sizeof p);
	}
}

bool rt_resolve_begin(void)
{
	if (resolving)
		return false;
	resolving = true;
	return true;
}

void rt_resolve_end(void)
{
	resolving = false;
}
#endif
