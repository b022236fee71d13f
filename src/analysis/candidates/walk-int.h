/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walks from the start functions of all threads down to every access.  For each access it computes
 * which thread makes it, which other threads may be alive, and which locks are held.  A function is
 * analysed once for each context that differs in these respects.  Contexts beyond a limit are
 * merged into one, which keeps only what holds in all of them.
 */
#ifndef CANDIDATES_WALK_INT_H
#define CANDIDATES_WALK_INT_H

#include "candidates/flow-int.h"
#include "candidates/fresh-int.h"

/* An access by one thread, in contexts that are the same for it. */
struct instance {
	uint32_t access;
	uint32_t thread;
	uint64_t alive;	 /* other threads, and itself if there are several of it */
	uint64_t apart;	 /* threads whose own memory it accesses only before they start or after they
			    were joined */
	uint32_t guards; /* set of guards */
	uint32_t held;
	bool own;    /* of memory that belongs to one thread of its kind */
	bool direct; /* of a local variable, by its name */
};

struct access_walk {
	struct program *p;
	struct threads *threads;
	struct locks *locks;
	struct flow flow;
	struct fresh *fresh;
	struct instance *instances;
	size_t count, capacity;
	struct rd_tuples seen; /* what distinguishes instances */
	struct context *contexts;
	size_t context_count, context_capacity;
	struct rd_pmap context_lists; /* function and thread to 1 + newest context */
	uint32_t *work;
	size_t work_count, work_capacity;
	bool changed; /* a thread turned out to exist several times, or a semaphore not to be a lock */
};

void walk_program(struct access_walk *w, struct program *p, struct threads *threads, struct locks *locks);
void walk_release(struct access_walk *w);

#endif
