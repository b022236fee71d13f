/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The large tables of the core, separate from the state of the process (rt/core/rt.h).  They take
 * no space in the executable, and in most runs most of their pages are never touched.
 */
#ifndef RT_TABLES_H
#define RT_TABLES_H

#include "rt/core/rt.h"

#define RT_PLACEHOLDER_STACK                                                                                 \
	(256 * 1024)	    /* frames; enough for calls in constructors, before a thread has a state */
#define RT_MODULES 512	    /* maximum number of listed objects; others are reported repeatedly */
#define RT_DESCRIPTORS 1024 /* the usual limit of descriptors; higher ones share entries */
/* The number of entries of the cache of stdio streams.  If two streams share an entry, each
 * replaces the other, so that both are examined again and again. */
#define RT_STREAMS 256
#define RT_FRONT_BUCKETS 256

/* What the runtime knows about objects of the program, each identified by a number
 * (rt/core/library/front.h). */
struct rt_front_table {
	struct rt_front_entry *_Atomic buckets[RT_FRONT_BUCKETS];
};

struct rt_tables {
	uint32_t placeholder_stack[RT_PLACEHOLDER_STACK]; /* the stack of threads without a state */
	/* rt/core/real.c: memory for calls before malloc() is available. */
	struct {
		_Atomic size_t used;
		_Alignas(16) char bytes[65536];
	} early;
	struct raddle_buffer nowhere; /* receives records that nothing reads */
	/* rt/core/process/module.c: the objects that were reported, protected by the loader's lock,
	 * and the real dlopen(). */
	struct {
		size_t count;
		struct {
			uintptr_t base;
			uint64_t name;
		} items[RT_MODULES];
		void *(*_Atomic open)(const char *, int);
	} modules;
	/* rt/core/io/kernel.c: which descriptors lock a file */
	_Atomic bool locking[RT_DESCRIPTORS];
	_Atomic uint64_t streams[RT_STREAMS];	 /* rt/core/io/stdio.c: which streams are channels */
	struct rt_front_table asyncs, lock_bits; /* libuv's handles; GLib's one-bit locks */
	/* Memory that rt_map() uses before it makes mappings.  Only a frozen program and its
	 * copies have such memory (rt/steer/reset.c), because a copy would have to undo each
	 * mapping after the run. */
	struct {
		char *start, *at, *end;
	} reserve;
};
extern struct rt_tables rt_tables __attribute__((visibility("hidden")));

#endif
