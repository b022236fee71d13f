/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Determines the state at each point of a function: which other threads may be alive, and which
 * locks are certainly held.  The analysis starts with the state at the entry, and passes the state
 * before every instruction to a callback.
 *
 * Each function has an effect on this state, which is applied at every call of the function.  The
 * effect is expressed in terms of the function's arguments and of unique objects.  Effects are
 * computed bottom-up.  Because functions may be recursive, the computation is repeated a few
 * times, or until nothing changes.  At first, the analysis assumes that joins and semaphores order
 * threads.  A walk over the program may disprove that (the rounds in candidates/walk.c).
 */
#ifndef CANDIDATES_FLOW_INT_H
#define CANDIDATES_FLOW_INT_H

#include "candidates/lock-int.h"
#include "candidates/thread-int.h"

struct flow_state {
	bool reached;
	uint64_t alive; /* mask of the threads that may be alive */
	uint64_t ended; /* mask of the threads that have certainly ended since the entry */
	/* A pointer that is known to be null at this point, or FACTS_NONE if there is none. */
	uint32_t nothing;
	uint32_t held; /* set of locks that are certainly held */
	/* The set of locks that the function may have released without having acquired them. */
	uint32_t released;
};

/* A function whose argument `parameter` becomes the routine of a thread at the call `create`. */
struct starter {
	uint32_t parameter, create;
};

struct flow_effect {
	/* Masks of the threads that the function starts.  `alive` contains those that may be alive
	 * when the function ends, and `ended` those that have certainly ended by then. */
	uint64_t alive, ended;
	/* A mask of all threads that the function starts, directly or through other threads. */
	uint64_t started;
	uint32_t held, released;
	bool stub; /* the function does nothing, because it is a placeholder for a real one */
	struct starter *starters;
	size_t starter_count, starter_capacity;
};

struct flow {
	struct program *p;
	struct threads *threads;
	struct locks *locks;
	struct flow_effect *effects; /* the effect of each function on threads and locks */
	struct semaphore {
		uint32_t lock;
		/* True if the semaphore is not used as a lock: its initial value is not 1, or some
		 * thread posts it without having waited for it. */
		bool banned;
	} * semaphores;
	size_t semaphore_count, semaphore_capacity;
	/* The following members show what the analysis does not cover. */
	bool unfinished; /* true if effects still changed in the last pass */
	/* The number of calls that may call more than FLOW_CALLEES functions, and the first such
	 * call. */
	uint32_t cut_calls, cut_call;
};

/* The largest number of functions that the analysis follows at an indirect call.  Further functions
 * are ignored.  Set by hand. */
enum { FLOW_CALLEES = 64 };

/* A struct bound lists the functions that are known to be passed as arguments of a call.  It has
 * an entry for each of the first FLOW_BOUND arguments.  An entry is FACTS_NONE if the function is
 * unknown. */
enum { FLOW_BOUND = 4 };
struct bound {
	uint32_t functions[FLOW_BOUND];
};
extern const struct bound flow_unbound;

typedef void flow_fn(void *data, uint32_t value, const struct flow_state *s);

void flow_init(struct flow *w, struct program *p, struct threads *threads, struct locks *locks);
void flow_release(struct flow *w);
void flow_effects(struct flow *w);

/* Calls `fn` for the instructions of a function that is entered in the state `entry`. */
void flow_run(struct flow *w, uint32_t function, const struct flow_state *entry, const struct bound *bound,
	      flow_fn *fn, void *data);

/* Returns a mask of the threads that a call starts, directly or through other threads.  `bound`
 * lists the functions that the calling function itself got as arguments. */
uint64_t flow_started(const struct flow *w, uint32_t create, const struct bound *bound);

/* Returns the functions that a call is known to pass to `callee` as arguments. */
struct bound flow_bind(const struct flow *w, uint32_t call, uint32_t callee, const struct bound *bound);

/* Returns the lock that represents a semaphore, if the semaphore starts with the value 1 and is
 * used as a lock.  Returns FACTS_NONE for any other semaphore.  Stores in *number the index that
 * the semaphore has in `semaphores`. */
uint32_t flow_semaphore(const struct flow *w, uint32_t call, size_t *number);

#endif
