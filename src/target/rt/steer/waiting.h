/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Waits of threads that take turns, apart from the operations of the program: waits for futexes of
 * libraries, file descriptors and signals.  Each thread has one entry of each kind, indexed by its
 * slot.
 */
#ifndef RT_STEER_WAITING_H
#define RT_STEER_WAITING_H

#include "raddle/steer.h"
#include "raddle/world.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct rt_look;
struct rt_until;

/* A thread that waits for a futex of a library (rt/steer/futex.c). */
struct rt_futex_entry {
	uintptr_t word;
	/* the value of the word when the wait began; the wait may end when the word changes */
	uint32_t value;
	uint32_t bits; /* a call wakes the thread if its bits and these have a bit in common */
	bool woken;
};

/* A thread that waits (rt/steer/blocking.c). */
struct rt_wait_entry {
	const struct rt_look *look;   /* the descriptors; NULL if it waits for something else */
	const struct rt_until *until; /* NULL if the wait has no time limit, or an unknown one */
	bool interrupted;	      /* a signal handler has run, so the call fails */
};
/* Signals that were sent to a thread but have not been delivered yet (rt/steer/signal.c). */
struct rt_signals {
	uint64_t pending; /* a bit for each signal */
	int queued;	  /* the signal that has a value, or 0 */
	uint64_t value;	  /* the value of the queued signal, a union sigval */
};
#define RT_INHERITED 3 /* descriptors that a program inherits */

/* Maximum number of ending threads that are tracked at the same time.  Chosen by hand: a thread
 * takes about 20 microseconds to end.  If more threads end at once, the only effect is that waits
 * become less repeatable. */
#define RT_LEAVERS 64

/* What is expected from outside (rt/steer/expect.c).  The count of news is `news` in struct
 * rt_turns. */
struct rt_expecting {
	/* by slot: 1 plus the count of news when the thread last looked for input from outside */
	uint64_t looks[RADDLE_SLOTS];
	uint64_t naps, nap_news; /* number of naps while the count of news was `nap_news` */
	uint64_t calm_news;	 /* the count of news when nothing more was expected */
	bool extended;		 /* a time limit has expired at the limit of points (rt/steer/turn.c) */
};

/* The clock of the program (rt/steer/clock.c). */
struct rt_turn_clock {
	bool on, real;
	uint64_t passed;	      /* nanoseconds since the start */
	uint64_t from[RADDLE_CLOCKS]; /* what each clock showed at the start */
	uint64_t work;		      /* the count of news, without what follows a query of the time */
	/* by slot: queries since any thread last worked, and what the thread and others had done then */
	struct rt_queries {
		uint64_t n, others;
		uint32_t count;
	} queries[RADDLE_SLOTS];
	/* by slot: the end of its last sleep, and the point at which it began */
	struct rt_sleep {
		uint64_t end;
		uint32_t arrivals;
	} sleeps[RADDLE_SLOTS];
};

struct rt_entries {
	struct rt_futex_entry futexes[RADDLE_SLOTS]; /* by slot */
	struct rt_wait_entry waits[RADDLE_SLOTS];    /* by slot */
	struct rt_signals signals[RADDLE_SLOTS];     /* by slot */
	uint32_t signals_pending;		     /* number of pending signals of all threads */
	struct rt_expecting expecting;
	struct rt_turn_clock clock;
	_Atomic uint32_t blocking; /* number of waits for descriptors */
	ino_t inherited[RT_INHERITED];
	/* `leavers` is a ring buffer with the IDs of kernel threads that are about to end, because
	 * their threads have made their last step.  An entry becomes 0 when its kernel thread has
	 * ended.  `left` is the total number of such threads. */
	pid_t leavers[RT_LEAVERS];
	uint32_t left;
};

#endif
