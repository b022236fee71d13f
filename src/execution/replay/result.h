/* SPDX-License-Identifier: Apache-2.0 */
/* What came of a replay (replay/replay.h): how the program ended, what was seen on the way, why it was not
 * what was wanted. */
#ifndef REPLAY_RESULT_H
#define REPLAY_RESULT_H

#include "base/alloc.h"
#include "finding/schedule.h"
#include "raddle/steer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct replay_weight;

enum replay_outcome {
	REPLAY_CONFIRMED, /* race: both threads stood at their accesses; deadlock: they stand in it */
	REPLAY_DIVERGED,  /* the program did something that the schedule does not have */
	REPLAY_DEADLOCK,  /* the way was blocked by a deadlock that is not the one meant */
	REPLAY_LIVELOCK,  /* a thread runs without end while another one stands */
	REPLAY_CRASHED,	  /* a signal ended the program before it came there */
	REPLAY_ENDED,	  /* the program ended before it came there */
	REPLAY_STUCK,	  /* nothing moved, and it cannot be told why */
	REPLAY_STOPPED,	  /* from outside: the user interrupted it */
	REPLAY_OUTCOMES,
};

/* How the program ended, whatever had been seen by then. */
enum replay_end {
	REPLAY_EXITED,	   /* `status` is its exit status */
	REPLAY_SIGNALLED,  /* `status` is the signal; not one of ours */
	REPLAY_DEADLOCKED, /* we ended it: `waits` stand */
	REPLAY_LIVELOCKED, /* we ended it: all threads that could go on spun, and nobody changed anything */
	REPLAY_HUNG,	   /* we ended it: nothing moved any more, for no reason that can be shown */
	REPLAY_RAN_ON,	   /* we ended it: the time was up */
};

/* A thread that stands at an access. */
struct replay_spot {
	const char *thread; /* T_0_1 */
	uint32_t tid;	    /* the kernel's */
	uint32_t site;
	uint64_t address, size, n;
	bool write, atomic;
	size_t frame_count; /* of the call stack: call sites, innermost first */
	uint32_t frames[RADDLE_STEER_FRAMES];
};

/* A lock that a thread holds. */
struct replay_held {
	uint64_t address;
	bool shared;
};

/* A thread of a standing deadlock. */
struct replay_wait {
	const char *thread;
	uint32_t tid;
	const char *kind;     /* as in event.inc */
	uint64_t n;	      /* which of its operations it is */
	uint64_t object;      /* address; of a join: the number of the thread */
	const char *name;     /* of the object: a variable, T_0_1, or 0x7f... */
	const char *waits_on; /* the thread that has what it wants; NULL: nobody in particular */
	uint32_t site;
	bool planned; /* it stands where the schedule stops it */
	bool core;    /* false: it only waits for the others */
	struct replay_held *held;
	size_t held_count;
};

/* Two accesses that the detector saw unordered. */
struct replay_race {
	const char *thread[2];
	uint32_t site[2];
	bool write[2], atomic[2];
	bool planned; /* the accesses of the schedule */
	uint64_t address, size;
};

/* What kept a thread from coming where it was led: a value that it waits for in a loop, something that
 * another thread has, or something that nobody has and another thread gives. */
struct replay_obstacle {
	const char *thread;	/* that was awaited; NULL: nothing is known */
	const char *kind;	/* of the operation that it waits in; NULL: it spins */
	const char *name;	/* of the variable or lock; NULL: unknown */
	const char *owner;	/* the thread that has the lock; NULL: none in particular */
	uint32_t site;		/* where it waits */
	uint64_t address, size; /* of the variable */
	bool lifted;		/* it went on when that had changed, or when who stood had been let go */
	int goal;		/* of a spin: the goal whose thread stands at that memory; -1: none */
};

/* What the program did to memory that it had freed, and was ended for. */
struct replay_fault {
	const char
		*what; /* "use after free", "double free"; of a predicate, a sentence's end; NULL: nothing */
	const char *thread;		 /* that did it */
	const char *freed;		 /* that had freed it; NULL: unknown */
	const char *place, *freed_place; /* "a.c:12", "an unknown place" */
	const char *predicate; /* that does not hold: its text; `what` says how; NULL: it is not that */
};

/* How a program went on whose threads took turns. */
struct replay_turns {
	struct schedule_decision *made; /* in which it differed from the default (raddle/steer.h) */
	size_t made_count;
	bool complete;		       /* these are all */
	struct replay_weight *threads; /* how many points each thread came to */
	size_t thread_count;
	const char *runner;	 /* the thread that had the turn at the end; NULL: none */
	uint32_t runner_site;	 /* of its last access; 0: unknown */
	uint64_t extent;	 /* how far the threads came (replay/board.h) */
	uint64_t choices;	 /* points at which more than one thread could go on */
	uint64_t trail;		 /* a hash of what was chosen at each: equal trails are equal schedules */
	uint64_t taken, planned; /* decisions of the schedule */
	uint64_t unsure;     /* how often a thread was waited for in vain: what came then depends on time */
	const char *strayed; /* a sentence: how it left the schedule; NULL: it did not */
	bool early;	     /* it did not leave it, but ended before all decisions came up */
};

/* What the program did with the world that it was given back (replay/world.h). */
struct replay_outside {
	bool given;		    /* it was */
	uint64_t arrived, arrivals; /* connections and bytes that came in, of those recorded */
	uint64_t hurried;	    /* of them, those that came before the program had sent as much as then */
	uint64_t connections, same; /* that were made or accepted; that were sent what they were sent then */
	const char *lack;	    /* what had to be made up and may matter: a sentence; NULL: nothing */
	const char *sent;	    /* all that was sent, one connection behind the other */
	size_t sent_length;
	uint64_t digest; /* of it */
	bool cut;	 /* more was sent than that */
	bool ended; /* when everything had come in, the program got the signal that ended the recorded run */
};

/* What memory did that obeyed a model. */
struct replay_memory {
	const struct raddle_choice *made; /* what was listed: all choices of an exploration */
	size_t made_count;
	struct schedule_choice *chosen; /* choices that sequential consistency would not have made */
	size_t chosen_count;
	bool complete;	     /* these are all */
	uint64_t choices;    /* of the model, in all */
	const char *strayed; /* a sentence: how the run left the choices of the schedule; NULL: it did not */
	const char *over;    /* a sentence: why the model was left before the end; NULL: it was not */
	const struct raddle_published *published; /* stores that others may see late, and are not tracked */
	size_t published_count;
};

struct replay_result {
	enum replay_outcome outcome;
	enum replay_end end;
	int status;
	const char *explanation; /* a sentence: why it was not confirmed, or what stood where */
	uint64_t done, planned;	 /* operations of the schedule that were done, and that it has */
	struct replay_spot spots[RADDLE_STEER_GOALS];
	size_t spot_count;	   /* 2 once a race was met */
	struct replay_wait *waits; /* a deadlock that stood, meant or not */
	size_t wait_count;
	bool observable;	   /* of a race: nothing hidden was seen to keep the threads apart */
	bool assumed;		   /* an assumption of the program's did not hold: it says nothing */
	bool in_memory;		   /* and a spin in the program's own code did */
	struct replay_race *races; /* the first RADDLE_STEER_RACES, that of the schedule among them */
	size_t race_count;
	uint64_t races_seen;
	const uint64_t *pairs; /* conflicting places that followed on each other, if wanted; as in steer.h */
	size_t pair_count;
	bool unordered;	    /* one of them is planned */
	const char *chance; /* why it may go another way in the next run: a read that races; NULL */
	uint32_t chance_read, chance_write; /* its site, and that of the write */
	unsigned lacked;  /* bits of enum raddle_lack: what the system refused the program */
	bool detect_over; /* the detector had no memory and saw only a part of the run */
	uint32_t edits;	  /* bits of edits of the schedule that control came to */
	struct replay_obstacle obstacle;
	struct replay_fault fault;
	uint64_t crash_places[RADDLE_CRASH_PLACES]; /* where a fatal signal came (raddle/crash.h) */
	int crash_signal;			    /* while somebody looks at the program; else 0 */
	uint32_t crash_tid;
	const char *crash_thread;
	struct replay_turns turns;
	struct replay_outside outside;
	struct replay_memory memory;
	uint64_t order_at,
		command_at; /* in the program's memory, for a debugger that lets them go; 0: unknown */
	double wall_seconds, met_seconds, cpu_seconds; /* met: from the start until it was there */
	struct rd_arena *arena;			       /* everything above */
};

#endif
