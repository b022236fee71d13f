/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the roots of all threads down to every access: who makes it, while which other threads may be alive
 * and which locks are held.  A function is looked at in contexts, as many as differ in what matters (up to a
 * limit; then they are one context in which only that holds which holds in all).
 */
#ifndef CANDIDATES_WALK_H
#define CANDIDATES_WALK_H

#include "candidates/flow.h"
#include "candidates/fresh.h"

/* An access as one thread makes it, in contexts that do not differ for it. */
struct instance {
	uint32_t access;
	uint32_t thread;
	uint64_t alive;	 /* other threads, and itself if there are many of it */
	uint64_t apart;	 /* threads whose own memory it cannot be while they run: they have not been started
			    yet, or have ended */
	uint32_t guards; /* set of guards */
	uint32_t held;
	bool own;    /* of what is the thread's own among those of its kind */
	bool direct; /* of a variable on the stack, by its name */
};

struct walk {
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
	bool changed; /* threads turned out to be many, semaphores to be no locks */
};

void walk_program(struct walk *w, struct program *p, struct threads *threads, struct locks *locks);
void walk_release(struct walk *w);

#endif
