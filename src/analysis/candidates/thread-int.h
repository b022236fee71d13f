/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the kinds of threads of a program.  A kind represents all threads that one call starts with
 * one function.  There is a kind for main, and one for each combination of a call that starts
 * threads and a function that it may start.
 *
 * This part also finds the arguments that differ from thread to thread, for example fresh memory,
 * an element of an array, or a number.  What such an argument refers to is accessed by no other
 * thread of the same kind.  Finally, it finds the joins after which a thread has certainly ended.
 * Such a join waits for one thread, or is in a loop that joins all threads that another loop
 * started.
 */
#ifndef CANDIDATES_THREAD_INT_H
#define CANDIDATES_THREAD_INT_H

#include "candidates/path.h"

/* The largest number of kinds of threads.  It is 64 because sets of threads are 64-bit masks. */
enum { THREADS_MAX = 64 };

struct thread_kind {
	uint32_t create;   /* the call that starts the thread; FACTS_NONE for main */
	uint32_t function; /* the function that the thread runs */
	/* The operand of the call that becomes the argument of the thread, or FACTS_NONE if it is
	 * unknown. */
	uint32_t argument;
	bool many;    /* several threads of this kind may be alive at the same time */
	bool handler; /* a signal handler, or a destructor of thread-specific data */
	/* True if the pointer or number that each thread receives as its argument differs between
	 * the threads of this kind. */
	bool own_pointer, own_number;
	int64_t own_size;   /* number of bytes, from the pointer on, that belong to one thread */
	uint32_t own_since; /* the block, in the creating function, that makes the argument */
};

/* A call that joins one thread, or a loop of such calls that joins all threads that another loop
 * started. */
struct join {
	uint32_t value, function;
	uint64_t threads;
	bool all;
	uint32_t header; /* the header block of the loop, if `all` is set */
};

struct threads {
	struct program *p;
	struct thread_kind items[THREADS_MAX];
	size_t count;
	/* True if there were too many kinds, so that the last one represents all others. */
	bool overflow;
	struct rd_pmap number; /* maps a call and a function to 1 + the number of the thread */
	struct join *joins;
	size_t join_count, join_capacity;
	bool threaded; /* there are threads other than main and handlers */
};

void threads_init(struct threads *t, struct program *p);
void threads_release(struct threads *t);

/* Returns the number of the kind of thread that `create` starts with `function`, or FACTS_NONE if
 * there is no such kind. */
uint32_t thread_number(const struct threads *t, uint32_t create, uint32_t function);

/* Returns the operand of a thread creation that is the routine of the new thread. */
uint32_t thread_routine(const struct program *p, uint32_t create);

/* Returns the join that a call does, or NULL if it is not certain which thread the call joins. */
const struct join *thread_join(const struct threads *t, uint32_t value);
/* Returns a mask of the threads that have ended when control leaves the loop with this header. */
uint64_t thread_joined_by(const struct threads *t, uint32_t function, uint32_t header);

#endif
