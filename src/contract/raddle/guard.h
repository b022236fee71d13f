/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interface between a guarded program (flavour `guard`) and the site agent beside it.
 *
 * The guards
 * ----------
 * Each access of a race candidate has a number, its *guard*, and a byte of __raddle_guard_flags.
 * If the byte is not 0, the code calls the runtime with the address.  A function that contains
 * guards after inlining is a *region*, and has a byte of __raddle_guard_regions.  While that byte
 * is 0, the function runs a copy of its code that tests only the region's byte, on entry and in
 * loops.  Synchronisation operations test __raddle_guard_tracking.  All these bytes are 0 in a
 * program that was not started by an agent.  The program carries a table of its guards and
 * candidates in the section RADDLE_GUARD_SECTION, as text:
 *
 * 	raddle-guard 2 BUILD          the build from which this guard flavour was made
 * 	a SITE                        one line per guard, in order: the guard's site in the
 * 	                              unoptimised flavour `record`
 * 	c ID FIRST SECOND             a candidate and the guards of its accesses; "-" for an access
 * 	                              without a guard
 *
 * The optional section RADDLE_GUARD_REGIONS lists where the guards are:
 *
 * 	GUARD REGION                  the guard's flag is tested only if the region's byte is set
 *
 * The sections contain no names of files or functions.  Two functions may share a region.  A guard
 * may be in several regions or in none, and may have been optimised away.
 *
 * The memory
 * ----------
 * The agent creates a memory file and passes its descriptor in the environment.  The runtime maps
 * it before any constructor runs, replaces its own flags by those in the file, closes the
 * descriptor and removes the variable.  So a command of the agent takes effect at the next access,
 * and no thread of the program waits for the agent.  The layout:
 *
 * 	0				struct raddle_guard
 * 	RADDLE_GUARD_FLAGS_AT		a byte per guard: RADDLE_GUARD_OBSERVE | RADDLE_GUARD_TASK
 * 	RADDLE_GUARD_REGIONS_AT	a byte per region: set if one of its guards has a flag
 * 	RADDLE_GUARD_LEFT_AT		a byte per guard: how often it may still be observed
 * 	RADDLE_GUARD_SEEN_AT		struct raddle_guard_seen, one per guard (dynamic context
 * 					inference)
 * 	RADDLE_GUARD_STARTS_AT		a number per guard: where its pairs start in the next list;
 * 					followed by the end of the last guard's part
 * 	RADDLE_GUARD_LISTS_AT		2 * pair_count numbers of pairs, by guard
 * 	RADDLE_GUARD_PAIRS_AT(pairs)	pair_count times struct raddle_guard_pair
 * 	RADDLE_GUARD_FIRST_AT(pairs)	a number per guard: where its places start in the next list;
 * 					followed by the end of the last guard's part
 * 	RADDLE_GUARD_PLACES_AT(pairs)	place_count times struct raddle_guard_place, by guard
 *
 * Neither side trusts the other's numbers: each checks them before it uses them as an index.
 */
#ifndef RADDLE_GUARD_H
#define RADDLE_GUARD_H

#include <stdatomic.h>
#include <stdint.h>

#define RADDLE_GUARD_SECTION ".raddle.guard"
#define RADDLE_GUARD_REGIONS ".raddle.regions"
#define RADDLE_GUARD_TITLE "raddle-guard 2 "
/* An environment variable that contains the descriptor of the memory. */
#define RADDLE_GUARD_ENV "RADDLE_GUARD"
/* an environment variable that disables guards, unless it is empty or "0" */
#define RADDLE_GUARD_OFF "RADDLE_GUARD_OFF"

#define RADDLE_GUARD_MAGIC 0x31647261756772ull /* "rguard1" */
#define RADDLE_GUARD_VERSION 3u

#define RADDLE_GUARDS 65536u /* the maximum number of guards; only the best candidates get one */
#define RADDLE_GUARD_PAIRS 65536u
#define RADDLE_GUARD_TASKS 16u	  /* the maximum number of tasks at a time */
#define RADDLE_GUARD_REPORTS 256u /* maximum number of reports that the agent has not read yet */

/* Bytes: the whole pages that contain struct raddle_guard. */
#define RADDLE_GUARD_HEADER_SIZE 32768u
#define RADDLE_GUARD_FLAGS_AT RADDLE_GUARD_HEADER_SIZE
#define RADDLE_GUARD_REGIONS_AT (RADDLE_GUARD_FLAGS_AT + RADDLE_GUARDS)
#define RADDLE_GUARD_LEFT_AT (RADDLE_GUARD_REGIONS_AT + RADDLE_GUARDS)
#define RADDLE_GUARD_SEEN_AT (RADDLE_GUARD_LEFT_AT + RADDLE_GUARDS)
#define RADDLE_GUARD_STARTS_AT (RADDLE_GUARD_SEEN_AT + 12u * RADDLE_GUARDS)
#define RADDLE_GUARD_LISTS_AT (RADDLE_GUARD_STARTS_AT + 4u * (RADDLE_GUARDS + 1024u))
#define RADDLE_GUARD_PAIRS_AT(pairs) (RADDLE_GUARD_LISTS_AT + 8u * (uint64_t)(pairs))
#define RADDLE_GUARD_SIZE(pairs)                                                                             \
	((RADDLE_GUARD_PAIRS_AT(pairs) + 12u * (uint64_t)(pairs) + 4095) / 4096 * 4096)
/* The following parts exist if place_count is not 0. */
#define RADDLE_GUARD_FIRST_AT(pairs) RADDLE_GUARD_SIZE(pairs)
#define RADDLE_GUARD_PLACES_AT(pairs) (RADDLE_GUARD_FIRST_AT(pairs) + 4u * (RADDLE_GUARDS + 1024u))
#define RADDLE_GUARD_WHOLE_SIZE(pairs, places)                                                               \
	((RADDLE_GUARD_PLACES_AT(pairs) + 12u * (uint64_t)(places) + 4095) / 4096 * 4096)

/* Bits of a flag. */
enum raddle_guard_flag {
	RADDLE_GUARD_OBSERVE = 1, /* record the thread and the address */
	RADDLE_GUARD_TASK = 2,	  /* the guard belongs to a task */
};

/* The last observed access of a guard: 12 bytes. */
struct raddle_guard_seen {
	uint32_t address[2]; /* the low and the high half */
	uint32_t thread;     /* the number of the thread, from 1; 0 if no access was observed */
};
_Static_assert(sizeof(struct raddle_guard_seen) == 12, "the layout of the shared memory");

/* Bits of a pair's context, as the hive defines them. */
enum raddle_guard_context {
	RADDLE_GUARD_FIRST = 1,	       /* the first access was executed */
	RADDLE_GUARD_SECOND = 2,       /* the second access was executed */
	RADDLE_GUARD_SAME_ADDRESS = 4, /* both were executed, at the same address */
	RADDLE_GUARD_TWO_THREADS = 8,  /* both were executed at the same address, by two threads */
};

struct raddle_guard_pair {
	uint32_t guard[2]; /* the guards of the two accesses; RADDLE_GUARDS if there is no guard */
	_Atomic uint32_t context;
};

/* States that a guard is in a region, which is a function or loop whose guards are enabled
 * together.  The places of a region form a ring.  When the flag of a guard is cleared, the runtime
 * walks the ring.  If no guard in the ring has a flag, the runtime disables the region. */
struct raddle_guard_place {
	uint32_t guard, region;
	uint32_t next; /* the position of the next place of the ring */
};

#define RADDLE_GUARD_SHARED_ONLY UINT32_MAX

enum raddle_guard_order { RADDLE_GUARD_PRIMARY, RADDLE_GUARD_ALTERNATE };

/*
 * A task asks the program to examine one pair of accesses.  To start a task, the agent fills a
 * slot whose generation is 0, then sets the generation, and then sets the flags of the guards.  To
 * withdraw a task, the agent clears the flags first and the generation last.  No generation is
 * used twice.
 */
struct raddle_guard_task {
	_Atomic uint32_t generation; /* 0 if the slot is free */
	uint32_t guard[2];
	/* Enum raddle_guard_order: PRIMARY if the access of guard[0] should be first. */
	uint32_t order;
	/* For how many microseconds to stop a thread to produce the order; 0 for not at all. */
	uint32_t tau_us;
	/* The number of accesses that threads may make before one of them is stopped.  Bytes are
	 * shared if another thread has just accessed them.  At shared bytes, a thread may be
	 * stopped earlier.  With RADDLE_GUARD_SHARED_ONLY, threads are stopped and accesses are
	 * tracked only at shared bytes. */
	uint32_t skip;
	/* The program writes the following members, in case the run ends without a result. */
	/* The number of tracked accesses that turned out not to race, because the other access, or
	 * everything that other threads do later, is ordered after them. */
	_Atomic uint32_t ordered;
	_Atomic uint32_t active; /* 1 while an access is tracked or a thread is stopped */
	/* A bit for each order in which the race was observed: 1 << order. */
	_Atomic uint32_t raced;
	_Atomic uint32_t over; /* 1 if the task is complete */
};

enum raddle_guard_result { RADDLE_GUARD_RACE = 1, RADDLE_GUARD_NO_RACE, RADDLE_GUARD_TIMEOUT };
enum raddle_guard_proof { RADDLE_GUARD_UNORDERED, RADDLE_GUARD_COLLISION };

struct raddle_guard_report {
	_Atomic uint32_t ready;
	uint32_t generation; /* the generation of the task */
	uint32_t result, order, proof;
	/* How long the thread should be stopped, and how long it was stopped. */
	uint32_t tau_us, pause_us;
	uint32_t watched; /* 1 if a watchpoint also fired at the address of the stopped thread */
};

struct raddle_guard {
	uint64_t magic;
	uint32_t version;
	uint32_t pair_count;
	uint32_t guard_count;

	/* Written by the agent. */
	_Atomic uint64_t beat_ns; /* the last sign of life, by CLOCK_MONOTONIC */
	/* If beat_ns is older than this, the agent is assumed to have ended. */
	_Atomic uint32_t patience_ms;
	_Atomic uint32_t track_us;     /* the maximum time for which an access is tracked */
	_Atomic uint32_t track_permil; /* thousandths of the run time that may be spent on tracking */
	_Atomic int64_t pause_us;      /* how long threads may still be stopped; the program decrements it */
	_Atomic uint32_t watch;	       /* 1 if hardware watchpoints are allowed */
	/* The number of calls that guards may still make to the runtime; at 0, guards do
	 * nothing. */
	_Atomic int64_t calls_left;

	/* Written by the program. */
	_Atomic uint32_t pid;	    /* the ID of the process that mapped this memory; 0 at first */
	_Atomic uint64_t calls;	    /* how often guards called the runtime */
	_Atomic uint64_t paused_us; /* total time for which threads were stopped */
	/* How often a thread was stopped, how many accesses were tracked, how many of these were
	 * abandoned for lack of time, and how often a watchpoint fired. */
	_Atomic uint32_t pauses, tracked, abandoned, hits;
	_Atomic uint32_t dropped; /* the number of reports lost because `reports` was full */
	_Atomic uint32_t report_head;

	struct raddle_guard_task tasks[RADDLE_GUARD_TASKS];
	struct raddle_guard_report reports[RADDLE_GUARD_REPORTS];

	uint32_t place_count; /* written by the agent; 0 if the regions of guards are unknown */
};
_Static_assert(sizeof(struct raddle_guard) <= RADDLE_GUARD_HEADER_SIZE, "the header has its room");

/* ---- arguments of the functions that instrumented code calls where a flag is set ---- */

/* The direction of the access that follows. */
#define RADDLE_GUARD_READ 0u
#define RADDLE_GUARD_WRITE 1u

/* Bits that describe an atomic operation, or a fence, which has no address. */
enum raddle_guard_atomic {
	RADDLE_GUARD_RELAXED_LOAD = 1,
	RADDLE_GUARD_RELAXED_STORE = 2,
	RADDLE_GUARD_ACQUIRE = 4, /* the operation acquires; the call follows it */
	RADDLE_GUARD_RELEASE = 8, /* the operation releases; the call precedes it */
	RADDLE_GUARD_FENCE = 16,
};

#endif
