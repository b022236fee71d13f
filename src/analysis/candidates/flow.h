/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What holds at each point of a function: which threads may be alive beside the one that runs it, and which
 * locks are certainly held.  A state comes in at the entry; at every instruction a callback sees the state
 * before it.
 *
 * What a call leaves behind is an effect of the function called, in its own terms (its arguments, objects of
 * which there is one).  Effects are found bottom-up; functions that call each other are looked at until
 * nothing changes any more.  Joins and semaphores are trusted until a walk over the program shows that they
 * may not be: the rounds of candidates/walk.c.
 */
#ifndef CANDIDATES_FLOW_H
#define CANDIDATES_FLOW_H

#include "candidates/lock.h"
#include "candidates/thread.h"

struct state {
	bool reached;
	uint64_t alive;	   /* threads that may be alive */
	uint64_t ended;	   /* threads that have certainly ended since the entry */
	uint32_t nothing;  /* a pointer that is null here, FACTS_NONE: none is known to be */
	uint32_t held;	   /* set of locks */
	uint32_t released; /* set of locks that may have been released since the entry without being acquired
			      in it */
};

/* A function whose argument `parameter` becomes the routine of a thread at the call `create`. */
struct starter {
	uint32_t parameter, create;
};

struct effect {
	uint64_t alive, ended; /* at the end: threads that may have been started, that have ended */
	uint64_t started;      /* at any time, by what it starts too */
	uint32_t held, released;
	bool stub; /* it does nothing at all: stands where a real function may be chosen */
	struct starter *starters;
	size_t starter_count, starter_capacity;
};

struct flow {
	struct program *p;
	struct threads *threads;
	struct locks *locks;
	struct effect *effects; /* by function */
	struct semaphore {
		uint32_t lock;
		bool banned; /* it is no lock: has not one to take, or is posted by who did not take it */
	} * semaphores;
	size_t semaphore_count, semaphore_capacity;
};

/* Functions that the arguments of the running function are known to be, by position; FACTS_NONE: not known.
 */
enum { FLOW_BOUND = 4 };
struct bound {
	uint32_t functions[FLOW_BOUND];
};
extern const struct bound flow_unbound;

typedef void flow_fn(void *data, uint32_t value, const struct state *s);

void flow_init(struct flow *w, struct program *p, struct threads *threads, struct locks *locks);
void flow_release(struct flow *w);
void flow_effects(struct flow *w);

/* Runs `fn` over the instructions of a function that is entered in this state. */
void flow_run(struct flow *w, uint32_t function, const struct state *entry, const struct bound *bound,
	      flow_fn *fn, void *data);

/* The threads that a call starts, with what these start; `bound` is that of the function of the call. */
uint64_t flow_started(const struct flow *w, uint32_t create, const struct bound *bound);

/* What is known of the arguments of a function that is called there. */
struct bound flow_bind(const struct flow *w, uint32_t call, uint32_t callee, const struct bound *bound);

/* A semaphore, if it has one to take and is used as a lock: its lock; FACTS_NONE: it is not.  */
uint32_t flow_semaphore(const struct flow *w, uint32_t call, size_t *number);

#endif
