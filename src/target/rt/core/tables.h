/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The large tables of the core, separate from the state of the process (rt/core/rt.h).  They take
 * no space in the executable, and in most runs most of their pages are never touched.
 */
#ifndef RT_TABLES_H
#define RT_TABLES_H

#include "rt/core/rt.h"

#define RT_PLACEHOLDER_STACK                                                                                 \
	(256 * 1024)	    /* frames; deeper calls than a constructor's are not expected there */
#define RT_MODULES 512	    /* loaded objects; more are reported again */
#define RT_DESCRIPTORS 1024 /* the usual limit; higher descriptors share entries */
#define RT_STREAMS 256	    /* a cache: streams that collide are examined again */
#define RT_FRONT_BUCKETS 256

/* What the runtime knows about objects of the program, each identified by a number
 * (rt/core/library/front.h). */
struct rt_front_table {
	struct rt_front_entry *_Atomic buckets[RT_FRONT_BUCKETS];
};

struct rt_tables {
	uint32_t placeholder_stack[RT_PLACEHOLDER_STACK]; /* of threads that have no state */
	/* rt/core/real.c: memory for calls before malloc() is available. */
	struct {
		_Atomic size_t used;
		_Alignas(16) char bytes[65536];
	} early;
	struct raddle_buffer nowhere; /* for records that are not read */
	/* rt/core/process/module.c: objects that were reported, protected by the loader's lock;
	 * state of dlopen(). */
	struct {
		size_t count;
		struct {
			uintptr_t base;
			uint64_t name;
		} items[RT_MODULES];
		void *(*_Atomic open)(const char *, int);
	} modules;
	_Atomic bool locking[RT_DESCRIPTORS]; /* rt/core/io/kernel.c: has a lock on its file */
	_Atomic uint64_t streams[RT_STREAMS]; /* rt/core/io/stdio.c: address, descriptor, whether a channel */
	struct rt_front_table asyncs, lock_bits; /* of libuv; of GLib */
};
extern struct rt_tables rt_tables __attribute__((visibility("hidden")));

#endif
