/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The runtime of the flavour `track`.  It records what happens at open gates, which are statements
 * that are being observed (raddle/track.h), and where the program fails.  Apart from that, the
 * program runs as usual.  Like the runtime of `guard`, this runtime does not use rt/core/, which
 * interposes everything that orders threads.
 *
 * Rules: this code allocates no memory, does not use stdio, and preserves errno.  No thread waits
 * for long.  If a thread cannot get the lock of an address in time, it continues and marks its
 * event as unsure.  The child of a fork records nothing.
 */
#ifndef RT_TRACK_H
#define RT_TRACK_H

#include "raddle/track.h"
#include "rt/common/resolve.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

enum {
	/* The number of locks; the address, in units of eight bytes, selects one. */
	TRACK_STRIPES = 256,
	TRACK_STARTING = 4096, /* maximum number of threads that were created and have not begun */
	TRACK_LOCATIONS = 256, /* the maximum number of locations that may get a watchpoint */
	TRACK_FATAL = 5,       /* the number of signals that fail.c handles */
};

struct track_process {
	struct raddle_track *shared; /* NULL if the program is not tracked */
	struct raddle_track_event *events;
	uint32_t event_count;
	const uint32_t *groups; /* the function of each gate */
	uint32_t gate_count, budget;
	/* note.c: locks for the addresses that are being accessed, and, if there is a budget, the
	 * number of events of each gate. */
	_Atomic uint32_t stripes[TRACK_STRIPES];
	_Atomic uint32_t counts[RADDLE_TRACK_GATES];
	/* thread.c: what a creator passes to the new thread. */
	struct track_beginning {
		_Atomic uint32_t taken;
		uint32_t number;
		void *(*start)(void *);
		int (*start_c11)(void *);
		void *argument;
	} beginnings[TRACK_STARTING];
	/* fail.c: the handlers that were installed before. */
	struct sigaction before[TRACK_FATAL];
	/* watch.c: watchpoints, and all locations that were accessed, including those without a
	 * watchpoint. */
	struct track_slot {
		int watchpoint;
		_Atomic uint64_t address;
		uint64_t length;
		_Atomic uint32_t hits;
	} slots[RADDLE_TRACK_SLOTS];
	uint32_t slot_count;
	_Atomic uint64_t met[TRACK_LOCATIONS];
	_Atomic uint32_t met_count;
};
extern struct track_process track;

/* The state of a thread. */
struct track_local {
	uint32_t number; /* its number plus 1; 0 before it has a number */
	/* The number of the lock that the thread holds, plus 1; 0 if it holds none.  If longjmp
	 * leaves an access, the lock is not released. */
	uint32_t stripe;
	uint64_t random;
};
extern __thread struct track_local track_local __attribute__((tls_model("initial-exec")));

extern volatile uint8_t __raddle_track_flags[RADDLE_TRACK_GATES];

/* thread.c */
uint32_t track_thread(void); /* the number of the calling thread, from 0 */

/* note.c */
/* track_event() reserves an event.  Call track_complete() when its members are stored. */
struct raddle_track_event *track_event(uint32_t gate, uint64_t *token);
void track_complete(struct raddle_track_event *e, uint64_t token);

/* fail.c */
void track_fail_open(void);
/* Returns the offset of pc from the program's load address, or 0 if pc is not in the program. */
uint64_t track_place(uint64_t pc);

/* watch.c */
void track_watch_open(void);
/* Called when a statement of the slice is about to access the location. */
void track_watch(const void *address, uint32_t size);

/* Few functions are interposed, and they are rarely called, so each call looks up the real one. */
#ifdef RADDLE_STATIC
#define TRACK_REAL(name) __real_##name
#define TRACK_INTERPOSE(type, name, parameters)                                                              \
	extern __typeof__(name) __real_##name;                                                               \
	INTERPOSE(type, name, parameters)
#else
#define TRACK_REAL(name) ((__typeof__(&name))rt_find_real(#name))
#define TRACK_INTERPOSE(type, name, parameters) INTERPOSE(type, name, parameters)
#endif

#endif
