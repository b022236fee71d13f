/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions of libraries other than libc that the runtime stands in front of.  They are weak and in every
 * dynamic program, whether it has the library or not, so what is behind one is looked for when it is called.
 */
#ifndef RT_FRONT_H
#define RT_FRONT_H

#include "rt/core/real.h"

#include <dlfcn.h>

#define FRONT(type, name, parameters)                                                                        \
	type name parameters;                                                                                \
	__attribute__((weak, visibility("default"))) type name parameters

/* The function behind ours.  Who calls ours has one. */
static inline void *rt_behind(void *_Atomic *cached, const char *name)
{
	void *p = atomic_load_explicit(cached, memory_order_relaxed);

	if (!p) {
		p = dlsym(RTLD_NEXT, name);
		if (!p)
			REAL(abort)();
		atomic_store_explicit(cached, p, memory_order_relaxed);
	}
	return p;
}

#define BEHIND(type, name, parameters)                                                                       \
	({                                                                                                   \
		static void *_Atomic cached_;                                                                \
		(type(*) parameters) rt_behind(&cached_, #name);                                             \
	})

/* Memory that no trace has, zero. */
static inline void *rt_front_allocate(size_t size)
{
	void *p = REAL(calloc)(1, size);

	if (!p)
		REAL(abort)();
	return p;
}

#endif
