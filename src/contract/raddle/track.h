/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The memory that a tracked program (flavour `track`) shares with the tool.
 *
 * The gates
 * ---------
 * Each instruction that can be tracked has a number, its *gate*, and a byte of
 * __raddle_track_flags.  The tool sets the bytes before the program starts and does not change them
 * later; the program may close gates (see `budget`).  Without the tool all bytes are 0.  On entry,
 * a function tests the byte of one of its gates.  If that byte is 0, all gates of the function are
 * closed and cost nothing more.  Loops test again in each iteration while one of their gates is
 * open (instr/track/ungated.c).
 *
 * The memory
 * ----------
 * 	0			struct raddle_track
 * 	RADDLE_TRACK_FLAGS_AT	for each gate, a byte: enum raddle_track_flag
 * 	RADDLE_TRACK_GROUPS_AT	for each of the first gate_count gates, the number of its function
 * 	RADDLE_TRACK_EVENTS_AT	the last events: event_count times struct raddle_track_event
 *
 * It is a memory file, so its content survives any end of the program.  Events are numbered from 0.
 * Event n lies in slot n % event_count and gets the stamp n + 1 when it is complete.  An access
 * happens and gets its number under a lock that is chosen by the address, so the numbers reflect
 * the order of accesses to an address.  The reader does not trust the content
 * (sketch/track-read.c).
 */
#ifndef RADDLE_TRACK_H
#define RADDLE_TRACK_H

#include "raddle/crash.h"

#include <stdatomic.h>
#include <stdint.h>

#define RADDLE_TRACK_MAGIC 0x316b6361727472ull /* "rtrack1" */
#define RADDLE_TRACK_VERSION 1u

#define RADDLE_TRACK_FLAGS_NAME "__raddle_track_flags"
#define RADDLE_TRACK_GATES 32768u /* the maximum number of gates in a program */
#define RADDLE_TRACK_SLOTS 4u	  /* the number of watchpoints that the processor has */
#define RADDLE_TRACK_HARDWARE UINT32_MAX

#define RADDLE_TRACK_FLAGS_AT 4096u /* the start of a page, since the flags are mapped on their own */
#define RADDLE_TRACK_GROUPS_AT (RADDLE_TRACK_FLAGS_AT + RADDLE_TRACK_GATES)
#define RADDLE_TRACK_EVENTS_AT (RADDLE_TRACK_GROUPS_AT + 4u * RADDLE_TRACK_GATES)
#define RADDLE_TRACK_SIZE(events)                                                                            \
	(RADDLE_TRACK_EVENTS_AT + (uint64_t)(events) * sizeof(struct raddle_track_event))
#define RADDLE_TRACK_EVENTS (1u << 24) /* the maximum number of events that are kept */
_Static_assert((RADDLE_TRACK_EVENTS & (RADDLE_TRACK_EVENTS - 1)) == 0, "numbers of events wrap around");

/* Bits of a gate's flag. */
enum raddle_track_flag {
	/* A statement of the slice; a watchpoint may be set on its memory. */
	RADDLE_TRACK_SLICE = 1,
	RADDLE_TRACK_OTHER = 2,	 /* another access that may touch the same memory */
	RADDLE_TRACK_OPEN = 3,	 /* the mask of both bits; if one is set, the gate is open */
	RADDLE_TRACK_BESIDE = 4, /* closed, but another gate of its function is open */
};

/* The kind of instruction at a gate.  Hooks get it as a parameter, and events contain it. */
enum raddle_track_what {
	RADDLE_TRACK_READ,
	RADDLE_TRACK_WRITE,
	RADDLE_TRACK_UPDATE, /* read-modify-write */
	/* A call that may wait, whose event is written when the call returns. */
	RADDLE_TRACK_ACQUIRE,
	RADDLE_TRACK_CALL,  /* any other call, whose event is written before the call */
	RADDLE_TRACK_FREE,  /* as CALL, for a call that frees the block at the address */
	RADDLE_TRACK_POINT, /* a branch or a return */
	RADDLE_TRACK_WHATS
};

enum raddle_track_state {
	/* The slot was reserved but is not used, since another event describes the access. */
	RADDLE_TRACK_VOID,
	RADDLE_TRACK_BEGUN, /* the thread has not finished the instruction */
	RADDLE_TRACK_DONE,
};

struct raddle_track_event {
	_Atomic uint64_t stamp;
	uint64_t address;
	uint64_t value;
	/* The value that an update wrote, the size of a freed block, or the code offset of an
	 * access that a watchpoint caught. */
	uint64_t more;
	uint32_t gate;	 /* RADDLE_TRACK_HARDWARE if a watchpoint caught the access */
	uint32_t thread; /* the number of the thread in the order of creation, from 0 */
	uint8_t size;	 /* the size of the value in bytes; 0 if unknown */
	uint8_t what, state;
	/* 1 if the order may be wrong because another thread held the address's lock too long. */
	uint8_t unsure;
	uint32_t reserved;
};

#define RADDLE_TRACK_TEXT 240 /* bytes, chosen by hand; longer conditions and names are cut */
#define RADDLE_TRACK_PLACES RADDLE_CRASH_PLACES
struct raddle_track_failure {
	_Atomic uint32_t ready;
	int32_t signal;
	uint32_t thread;
	uint32_t line;	  /* the line of a failed assertion; otherwise 0 */
	uint64_t address; /* the address whose access raised the signal */
	/* Offsets from the program's load address: first the place where the thread was, then
	 * candidates for its callers. */
	uint64_t places[RADDLE_TRACK_PLACES]; /* terminated by 0 */
	char text[RADDLE_TRACK_TEXT];	      /* the condition of a failed assertion */
	char file[RADDLE_TRACK_TEXT], function[RADDLE_TRACK_TEXT];
};

struct raddle_track {
	uint64_t magic;
	uint32_t version;
	uint32_t event_count;

	/* Written by the tool. */
	uint32_t watch; /* 1 if the program should use watchpoints */
	uint32_t turn;	/* the first turn * RADDLE_TRACK_SLOTS locations get no watchpoint */
	uint32_t gate_count;
	/* The number of events after which a gate is closed; 0 for no limit.  A function whose
	 * gates are all closed is not slowed down. */
	uint32_t budget;
	uint64_t perturb; /* the seed of random delays at gates; 0 for no delays */

	/* Written by the program. */
	_Atomic uint32_t pid;
	_Atomic uint32_t threads; /* the number of threads created so far */
	_Atomic uint64_t head;	  /* the number of the next event */
	/* The number of locations that got a watchpoint, and the number of accesses that
	 * watchpoints caught. */
	_Atomic uint32_t watched, hits;
	/* The number of gates that were closed because their budget was spent. */
	_Atomic uint32_t spent;
	_Atomic uint32_t no_watch; /* 1 if the system refused watchpoints */
	struct raddle_track_failure failure;
};
_Static_assert(sizeof(struct raddle_track) <= RADDLE_TRACK_FLAGS_AT, "the header has its room");

#endif
