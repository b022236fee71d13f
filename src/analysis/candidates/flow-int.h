/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What holds at each point of a function: which other threads may be alive, and which locks are
 * certainly held.  The analysis starts with a state at the entry; a callback sees the state before
 * every instruction.
 *
 * Each function has an effect, expressed in terms of its arguments and of unique objects, which is
 * applied at every call.  Effects are computed bottom-up.  Because of recursive functions that is
 * repeated until nothing changes, a few times at most.  Joins and semaphores are trusted until a
 * walk over the program disproves them (the rounds in candidates/walk.c).
 */
#ifndef CANDIDATES_FLOW_INT_H
#define CANDIDATES_FLOW_INT_H

#include "candidates/lock-int.h"
#include "candidates/thread-int.h"

struct flow_state {
	bool reached;
	uint64_t alive;	   /* threads that may be alive */
	uint64_t ended;	   /* threads that have certainly ended since the entry */
	uint32_t nothing;  /* a pointer that is null here; FACTS_NONE: unknown */
	uint32_t held;	   /* set of locks */
	uint32_t released; /* set of locks that the function may have released without acquiring them */
};

/* A function whose argument `parameter` becomes the routine of a thread at the call `create`. */
struct starter {
	uint32_t parameter, create;
};

struct flow_effect {
	uint64_t alive, ended; /* at the end: threads that it started and that may be alive; that ended */
	uint64_t started;      /* at any time, including threads that these start */
	uint32_t held, released;
	bool stub; /* it does nothing: a placeholder for a real function */
	struct starter *starters;
	size_t starter_count, starter_capacity;
};

struct flow {
	struct program *p;
	struct threads *threads;
	struct locks *locks;
	struct flow_effect *effects; /* by function */
	struct semaphore {
		uint32_t lock;
		bool banned; /* not a lock: its initial value is not 1, or a thread posts without a wait */
	} * semaphores;
	size_t semaphore_count, semaphore_capacity;
	/* What the analysis leaves out. */
	bool unfinished;	      /* effects still changed in the last pass */
	uint32_t cut_calls, cut_call; /* calls of too many functions, and the first of them */
};

enum { FLOW_CALLEES = 64 }; /* functions of an indirect call; set by hand, further ones are ignored */

/* Known functions among the arguments of the current function, by position; FACTS_NONE: unknown. */
enum { FLOW_BOUND = 4 };
struct bound {
	uint32_t functions[FLOW_BOUND];
};
extern const struct bound flow_unbound;

typedef void flow_fn(void *data, uint32_t value, const struct flow_state *s);

void flow_init(struct flow *w, struct program *p, struct threads *threads, struct locks *locks);
void flow_release(struct flow *w);
void flow_effects(struct flow *w);

/* Runs `fn` over the instructions of a function that is entered in this state. */
void flow_run(struct flow *w, uint32_t function, const struct flow_state *entry, const struct bound *bound,
	      flow_fn *fn, void *data);

/* The threads that a call starts, including those that they start; `bound` is that of the calling
 * function. */
uint64_t flow_started(const struct flow *w, uint32_t create, const struct bound *bound);

/* What is known about the arguments of a called function. */
struct bound flow_bind(const struct flow *w, uint32_t call, uint32_t callee, const struct bound *bound);

/* The lock of a semaphore that starts with 1 and is used as a lock; FACTS_NONE: it is not.  */
uint32_t flow_semaphore(const struct flow *w, uint32_t call, size_t *number);

#endif
