/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A tracked program (flavour `track`) and the tool: what both know of the memory that they share.
 *
 * The gates
 * ---------
 * Each instruction that can be watched has a number, its *gate*, and a byte of __raddle_track_flags.  The
 *tool sets the bytes before the program starts, and changes none of them then (the program may, see budget);
 *without a tool they are all 0. So a function looks once, when it is entered, at the byte of one of its
 *gates: where that is 0, all of its gates are shut and cost nothing more.  Loops look again in each round
 *while a gate of theirs is open (instr/spent.c).
 *
 * The memory
 * ----------
 *	0			struct raddle_track
 *	RADDLE_TRACK_FLAGS_AT	a byte a gate: enum raddle_track_flag
 *	RADDLE_TRACK_GROUPS_AT	a number a gate: its function; of the first gate_count gates
 *	RADDLE_TRACK_EVENTS_AT	struct raddle_track_event, event_count of them: the last events of the run
 *
 * It belongs to the kernel and not to the program, so that it is there however the program ends.  Event n,
 *from 0, lies in slot n % event_count, and has n + 1 as its stamp when it is complete; the order of numbers
 *is the order in which things happened: an access and its number are taken together, under a lock for the
 *address.  The reader trusts nothing of it (sketch/track-read.c).
 */
#ifndef RADDLE_TRACK_H
#define RADDLE_TRACK_H

#include "raddle/crash.h"

#include <stdatomic.h>
#include <stdint.h>

#define RADDLE_TRACK_MAGIC 0x316b6361727472ull /* "rtrack1" */
#define RADDLE_TRACK_VERSION 1u

#define RADDLE_TRACK_FLAGS_NAME "__raddle_track_flags"
#define RADDLE_TRACK_GATES 32768u /* at most */
#define RADDLE_TRACK_SLOTS 4u	  /* watchpoints of the processor */
#define RADDLE_TRACK_HARDWARE UINT32_MAX

#define RADDLE_TRACK_FLAGS_AT 4096u
#define RADDLE_TRACK_GROUPS_AT (RADDLE_TRACK_FLAGS_AT + RADDLE_TRACK_GATES)
#define RADDLE_TRACK_EVENTS_AT (RADDLE_TRACK_GROUPS_AT + 4u * RADDLE_TRACK_GATES)
#define RADDLE_TRACK_SIZE(events)                                                                            \
	(RADDLE_TRACK_EVENTS_AT + (uint64_t)(events) * sizeof(struct raddle_track_event))
#define RADDLE_TRACK_EVENTS (1u << 24) /* at most */

/* Bits of a gate's flag. */
enum raddle_track_flag {
	RADDLE_TRACK_SLICE = 1,	 /* a statement of the slice: what it accesses may get a watchpoint */
	RADDLE_TRACK_OTHER = 2,	 /* something else that may touch the same memory */
	RADDLE_TRACK_OPEN = 3,	 /* either of them */
	RADDLE_TRACK_BESIDE = 4, /* it is shut, and another gate of its function is open */
};

/* What a gate is at: a parameter of the hooks, and in events. */
enum raddle_track_what {
	RADDLE_TRACK_READ,
	RADDLE_TRACK_WRITE,
	RADDLE_TRACK_UPDATE,  /* reads and writes in one */
	RADDLE_TRACK_ACQUIRE, /* a call that may wait: its event comes when it returns, or never */
	RADDLE_TRACK_CALL,    /* any other: its event comes before it */
	RADDLE_TRACK_FREE,    /* the same, of a call that frees the block at the address */
	RADDLE_TRACK_POINT,   /* a branch or a return */
	RADDLE_TRACK_WHATS
};

enum raddle_track_state {
	RADDLE_TRACK_VOID,  /* it was to be, and another event says what became of it */
	RADDLE_TRACK_BEGUN, /* the thread has not come behind it */
	RADDLE_TRACK_DONE,
};

struct raddle_track_event {
	_Atomic uint64_t stamp;
	uint64_t address;
	uint64_t value;
	uint64_t more; /* what an update wrote; the size of a block that is freed; a watchpoint's place in the
			  code */
	uint32_t gate; /* RADDLE_TRACK_HARDWARE: a watchpoint saw it */
	uint32_t thread; /* 0: the first; then in the order of creation */
	uint8_t size;	 /* bytes of the value; 0: it is not known */
	uint8_t what, state;
	uint8_t unsure; /* another thread held the lock of the address for too long: the order may be wrong */
	uint32_t reserved;
};

#define RADDLE_TRACK_TEXT 240
#define RADDLE_TRACK_PLACES RADDLE_CRASH_PLACES
struct raddle_track_failure {
	_Atomic uint32_t ready;
	int32_t signal;
	uint32_t thread;
	uint32_t line;	  /* of an assertion; 0: it is none */
	uint64_t address; /* that a fault was about */
	/* In the program's code, from where it is loaded: where it stood, then what may be calls that led
	 * there. */
	uint64_t places[RADDLE_TRACK_PLACES]; /* 0: no more */
	char text[RADDLE_TRACK_TEXT];	      /* of an assertion: the condition */
	char file[RADDLE_TRACK_TEXT], function[RADDLE_TRACK_TEXT];
};

struct raddle_track {
	uint64_t magic;
	uint32_t version;
	uint32_t event_count;

	/* The tool's. */
	uint32_t watch; /* watchpoints are wanted */
	uint32_t turn;	/* so many times RADDLE_TRACK_SLOTS locations are passed over before one gets a
			   watchpoint */
	uint32_t gate_count;
	uint32_t budget;  /* events of a gate; then it is shut, and a function whose gates are all shut costs
			     nothing; 0: no limit */
	uint64_t perturb; /* the seed of random delays at gates; 0: none */

	/* The program's. */
	_Atomic uint32_t pid;
	_Atomic uint32_t threads; /* that were created */
	_Atomic uint64_t head;	  /* number of the next event */
	_Atomic uint32_t watched, hits;
	_Atomic uint32_t spent;	   /* gates that were shut */
	_Atomic uint32_t no_watch; /* the system has refused watchpoints */
	struct raddle_track_failure failure;
};
_Static_assert(sizeof(struct raddle_track) <= RADDLE_TRACK_FLAGS_AT, "the header has its room");

#endif
