/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walks from the start functions of all threads down to every access.  For each access it computes
 * which thread makes the access, which other threads may be alive, and which locks are held.
 * Calling contexts of a function that differ in these respects are analysed separately.  Contexts
 * beyond a limit are merged into one, which keeps only what is true in all of them.
 */
#ifndef CANDIDATES_WALK_INT_H
#define CANDIDATES_WALK_INT_H

#include "candidates/flow-int.h"
#include "candidates/fresh-int.h"

/* An access by one thread.  All calling contexts in which the following members are equal share one
 * instance. */
struct instance {
	uint32_t access;
	uint32_t thread;
	/* A mask of the other threads that may be alive.  It includes the kind of the accessing
	 * thread if several threads of that kind may exist. */
	uint64_t alive;
	/* A mask of threads.  This access touches memory that belongs to them, but only before
	 * they start or after they were joined. */
	uint64_t apart;
	uint32_t guards; /* number of the set of guards */
	uint32_t held;
	bool own;    /* the memory belongs to one thread of its kind */
	bool direct; /* the access is to a local variable, by its name */
};

struct access_walk {
	struct program *p;
	struct threads *threads;
	struct locks *locks;
	struct flow flow;
	struct fresh *fresh;
	struct instance *instances;
	size_t count, capacity;
	struct rd_tuples seen; /* the tuples of properties that distinguish instances */
	struct context *contexts;
	size_t context_count, context_capacity;
	struct rd_pmap context_lists; /* maps (function, thread) to 1 + the newest context */
	uint32_t *work;
	size_t work_count, work_capacity;
	/* True if this round showed that a thread exists several times, or that a semaphore is not
	 * a lock. */
	bool changed;
};

void walk_program(struct access_walk *w, struct program *p, struct threads *threads, struct locks *locks);
void walk_release(struct access_walk *w);

#endif
