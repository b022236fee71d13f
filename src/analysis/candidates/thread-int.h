/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The threads of a program: main, and one for each call that starts threads and each function that
 * it may start.  Such a thread represents all threads that this call starts with this function.
 *
 * This part also finds the arguments that differ from thread to thread: fresh memory, an element of
 * an array, a number.  No other thread of the same kind accesses what they refer to.  And it finds
 * after which joins a thread has certainly ended: joins of one thread, and loops that join all
 * threads that another loop started.
 */
#ifndef CANDIDATES_THREAD_INT_H
#define CANDIDATES_THREAD_INT_H

#include "candidates/path.h"

enum { THREADS_MAX = 64 }; /* kinds of threads: sets of threads are 64-bit masks */

struct thread_kind {
	uint32_t create;   /* the call; FACTS_NONE: main */
	uint32_t function; /* that it runs */
	uint32_t argument; /* operand of the call that it gets; FACTS_NONE: unknown */
	bool many;	   /* several of it may be alive at a time */
	bool handler;	   /* a signal handler, or a destructor of thread data */
	/* What differs between threads of this kind. */
	bool own_pointer, own_number;
	int64_t own_size;   /* bytes at the pointer that belong to one thread */
	uint32_t own_since; /* the block of the creating function that makes the argument */
};

/* A call that joins one thread, or the loop around it, which joins all. */
struct join {
	uint32_t value, function;
	uint64_t threads;
	bool all;
	uint32_t header; /* of the loop, if all */
};

struct threads {
	struct program *p;
	struct thread_kind items[THREADS_MAX];
	size_t count;
	bool overflow;	       /* the last one represents all others */
	struct rd_pmap number; /* call and function to 1 + thread */
	struct join *joins;
	size_t join_count, join_capacity;
	bool threaded; /* there is a thread other than main and handlers */
};

void threads_init(struct threads *t, struct program *p);
void threads_release(struct threads *t);

/* FACTS_NONE: the call does not start it. */
uint32_t thread_number(const struct threads *t, uint32_t create, uint32_t function);

/* The operand of a thread creation that is the routine. */
uint32_t thread_routine(const struct program *p, uint32_t create);

const struct join *thread_join(const struct threads *t,
			       uint32_t value); /* NULL: it is not certain which thread it ends */
/* Threads that have ended when control leaves the loop with this header. */
uint64_t thread_joined_by(const struct threads *t, uint32_t function, uint32_t header);

#endif
