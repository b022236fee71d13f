/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What threads wait for that is not an operation of the program, where they take turns: futexes of
 * libraries, descriptors, signals.  Each thread has an entry of each kind, by its slot.
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
	uint32_t value; /* of the word; the wait may end when the word has another value */
	uint32_t bits;	/* calls with a common bit wake the thread */
	bool woken;
};

/* A thread that waits (rt/steer/blocking.c). */
struct rt_wait_entry {
	const struct rt_look *look;   /* the descriptors; NULL if it waits for something else */
	const struct rt_until *until; /* NULL if it has no time limit, or an unknown one */
	bool interrupted;	      /* a signal handler has run, so the call fails */
};
/* Signals that were sent to a thread and not delivered yet (rt/steer/signal.c). */
struct rt_signals {
	uint64_t pending; /* a bit for each signal */
	int queued;	  /* the signal that has a value, or 0 */
	uint64_t value;	  /* its value, a union sigval */
};
#define RT_INHERITED 3 /* descriptors that a program inherits */

/* Number of threads that may be on their way out at the same time.  Chosen by hand: such a thread
 * takes some 20 microseconds, and more of them would only make a wait less repeatable. */
#define RT_LEAVERS 64

/* What is expected from outside (rt/steer/expect.c).  `news` is that of struct rt_turns. */
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
	uint32_t signals_pending;		     /* of all threads */
	struct rt_expecting expecting;
	struct rt_turn_clock clock;
	_Atomic uint32_t blocking; /* number of waits for descriptors */
	ino_t inherited[RT_INHERITED];
	/* IDs of the kernel threads whose threads made their last step, or 0; and how many did */
	pid_t leavers[RT_LEAVERS];
	uint32_t left;
};

#endif
