/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions that the runtime interposes from libraries other than libc.  The interposed
 * functions are weak symbols, and every dynamically linked program contains them, whether or not
 * it uses the library.  So each real function is looked up only when it is first called.
 */
#ifndef RT_FRONT_H
#define RT_FRONT_H

#include "rt/common/hash.h"
#include "rt/core/real.h"
#include "rt/core/tables.h"

#include <dlfcn.h>

#define FRONT(type, name, parameters)                                                                        \
	type name parameters;                                                                                \
	__attribute__((weak, visibility("default"))) type name parameters

/* Returns the real function that an interposed one replaces.  The real function exists, because a
 * program that calls the interposed function has loaded the library. */
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

/* Allocates zeroed memory without recording it. */
static inline void *rt_front_allocate(size_t size)
{
	void *p = REAL(calloc)(1, size);

	if (!p)
		REAL(abort)();
	return p;
}

/* An entry of a table, with what the runtime knows about an object of the program.  The key is a
 * number that identifies the object.  An entry begins with this struct.  The rest of the entry is
 * zero at first.  Entries are never removed. */
struct rt_front_entry {
	uint64_t key;
	struct rt_front_entry *next;
};

_Static_assert(sizeof((struct rt_front_table *)0)->buckets / sizeof(void *) == 1 << 8,
	       "an index is the upper 8 bits of a hash");

static inline struct rt_front_entry *_Atomic *rt_front_bucket(struct rt_front_table *table, uint64_t key)
{
	return &table->buckets[rt_hash(key) >> 56];
}

static inline void *rt_front_in(struct rt_front_entry *e, uint64_t key)
{
	while (e && e->key != key)
		e = e->next;
	return e;
}

/* Returns the entry with this key; NULL if there is none. */
static inline void *rt_front_find(struct rt_front_table *table, uint64_t key)
{
	return rt_front_in(atomic_load_explicit(rt_front_bucket(table, key), memory_order_acquire), key);
}

static inline void *rt_front_add(struct rt_front_table *table, uint64_t key, size_t size)
{
	struct rt_front_entry *_Atomic *bucket = rt_front_bucket(table, key);
	struct rt_front_entry *first = atomic_load_explicit(bucket, memory_order_acquire), *fresh = NULL, *e;

	while (!(e = rt_front_in(first, key))) {
		if (!fresh)
			fresh = rt_front_allocate(size);
		fresh->key = key;
		fresh->next = first;
		if (atomic_compare_exchange_weak(bucket, &first, fresh))
			return fresh;
	}
	REAL(free)(fresh);
	return e;
}

#endif
