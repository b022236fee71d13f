/* SPDX-License-Identifier: Apache-2.0 */
/* The result of a replay (replay/replay.h): how the program ended, what was observed, and why a
 * finding was not confirmed. */
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
	REPLAY_CONFIRMED, /* race: both threads were stopped at their accesses; deadlock: the threads are in
			     it */
	REPLAY_DIVERGED,  /* the program did something that the schedule does not have */
	REPLAY_DEADLOCK,  /* a different deadlock came first */
	REPLAY_LIVELOCK,  /* a thread runs without end while another one is stopped */
	REPLAY_CRASHED,	  /* a signal ended the program too early */
	REPLAY_ENDED,	  /* the program ended too early */
	REPLAY_STUCK,	  /* no progress, for an unknown reason */
	REPLAY_STOPPED,	  /* the user interrupted it */
	REPLAY_OUTCOMES,
};

/* How the program ended, whatever had been observed by then. */
enum replay_end {
	REPLAY_EXITED,	   /* `status` is its exit status */
	REPLAY_SIGNALLED,  /* `status` is the signal, which we did not send */
	REPLAY_DEADLOCKED, /* we killed it: `waits` are its deadlocked threads */
	REPLAY_LIVELOCKED, /* we killed it: all runnable threads spun, and none changed anything */
	REPLAY_HUNG,	   /* we killed it: no progress, for no reason that can be shown */
	REPLAY_RAN_ON,	   /* we killed it: it reached a limit, or left a strict schedule */
};

/* A thread that is stopped at an access. */
struct replay_spot {
	const char *thread; /* T_0_1 */
	uint32_t tid;	    /* the kernel's */
	uint32_t site;
	uint64_t address, size, n;
	bool write, atomic;
	size_t frame_count; /* call sites, innermost first */
	uint32_t frames[RADDLE_STEER_FRAMES];
};

/* A lock that a thread holds. */
struct replay_held {
	uint64_t address;
	bool shared;
};

/* A thread of a deadlock. */
struct replay_wait {
	const char *thread;
	uint32_t tid;
	const char *kind;     /* as in event.inc */
	uint64_t n;	      /* the number of the operation */
	uint64_t object;      /* address; for a join: the number of the thread */
	const char *name;     /* of the object: a variable, T_0_1, or 0x7f... */
	const char *waits_on; /* the thread that owns it; NULL: no single owner */
	uint32_t site;
	bool planned; /* it is stopped where the schedule stops it */
	bool core;    /* false: it only waits for the others */
	struct replay_held *held;
	size_t held_count;
};

/* Two accesses that the detector saw unordered. */
struct replay_race {
	const char *thread[2];
	uint32_t site[2];
	bool write[2], atomic[2];
	bool planned; /* they are the accesses of the schedule */
	uint64_t address, size;
};

/* What kept a thread from its goal: a value that it waits for in a loop, a lock that another
 * thread holds, or a notification that another thread must give. */
struct replay_obstacle {
	const char *thread;	/* the expected thread; NULL: unknown */
	const char *kind;	/* of the operation that it waits in; NULL: it spins */
	const char *name;	/* of the variable or lock; NULL: unknown */
	const char *owner;	/* the thread that holds the lock; NULL: no single one */
	uint32_t site;		/* where it waits */
	uint64_t address, size; /* of the variable */
	bool lifted; /* it continued when the value changed, or when stopped threads were released */
	int goal;    /* of a spin: the goal whose thread is stopped at that memory; or -1 */
};

/* A misuse of freed memory, or a failed predicate, that ended the program. */
struct replay_fault {
	const char *what; /* "use after free", "double free"; for a predicate the end of a sentence; NULL: no
			     fault */
	const char *thread;		 /* that did it */
	const char *freed;		 /* that had freed it; NULL: unknown */
	const char *place, *freed_place; /* "a.c:12", "an unknown place" */
	const char *predicate; /* text of the predicate that failed, and `what` states how; else NULL */
};

/* A run whose threads took turns. */
struct replay_turns {
	struct schedule_decision *made; /* decisions that differ from the default (raddle/steer.h) */
	size_t made_count;
	bool complete;		       /* `made` has all of them */
	struct replay_weight *threads; /* how many points each thread reached */
	size_t thread_count;
	const char *runner;	 /* the thread that had the turn at the end; or NULL */
	uint32_t runner_site;	 /* of its last access; 0: unknown */
	uint64_t extent;	 /* how far the threads came (replay/board-int.h) */
	uint64_t choices;	 /* points with more than one runnable thread */
	uint64_t trail;		 /* a hash of all choices: equal trails are equal schedules */
	uint64_t taken, planned; /* decisions of the schedule */
	uint64_t unsure; /* how often real time influenced the run, because a thread did not return to a point
			  */
	const char *strayed; /* a sentence: how it left the schedule; NULL: it did not */
	bool early;	     /* it ended before all decisions were reached */
};

/* The program's use of replayed input from outside (replay/world-int.h). */
struct replay_outside {
	bool given;		    /* input was replayed */
	uint64_t arrived, arrivals; /* connections and bytes delivered, and recorded */
	uint64_t hurried;	    /* delivered before the program had sent as much as in the recorded run */
	uint64_t connections, same; /* connections made or accepted; those that were sent the same bytes as in
				       the recorded run */
	const char *lack;	    /* a sentence: input that was missing and may matter; NULL: nothing */
	const char *sent;	    /* everything sent, connection by connection */
	size_t sent_length;
	uint64_t digest; /* of it */
	bool cut;	 /* truncated */
	bool ended;	 /* after all input, the program got the signal that ended the recorded run */
};

/* The effects of a memory model. */
struct replay_memory {
	const struct raddle_choice *made; /* the recorded choices; all of them in an exploration */
	size_t made_count;
	struct schedule_choice *chosen; /* choices that are not sequentially consistent */
	size_t chosen_count;
	bool complete;	     /* `chosen` has all of them */
	uint64_t choices;    /* of the model, in total */
	const char *strayed; /* a sentence: how the run left the choices of the schedule; NULL: it did not */
	const char *over;    /* a sentence: why the model was abandoned; NULL: it was not */
	const struct raddle_published *published; /* untracked stores that others may see late */
	size_t published_count;
};

/* The thread that holds what the thread waits for.  NULL: there is not one such thread, or it waits
 * for the end of a thread. */
const char *replay_wait_holder(const struct replay_wait *w);

struct replay_result {
	enum replay_outcome outcome;
	enum replay_end end;
	int status;
	const char *explanation; /* a sentence: why it was not confirmed, or which threads were where */
	uint64_t done, planned;	 /* operations of the schedule: done, and in total */
	struct replay_spot spots[RADDLE_STEER_GOALS];
	size_t spot_count;	   /* 2 once the threads of a race met */
	struct replay_wait *waits; /* an observed deadlock, planned or not */
	size_t wait_count;
	bool observable;	   /* of a race: nothing hidden was seen to keep the threads apart */
	bool assumed;		   /* an assumption of the program was false: the run is ignored */
	bool in_memory;		   /* of a race: a spin on memory kept the threads apart */
	struct replay_race *races; /* the first RADDLE_STEER_RACES, including that of the schedule */
	size_t race_count;
	uint64_t races_seen;
	const uint64_t *pairs; /* conflicting sites that followed each other, if requested; as in steer.h */
	size_t pair_count;
	bool unordered;			    /* one of `races` is planned */
	const char *chance;		    /* why the next run may differ: a racy read; or NULL */
	uint32_t chance_read, chance_write; /* its site, and that of the write */
	unsigned unfit;	  /* enum raddle_unfit: why it needs kernel threads; 0: it does not */
	unsigned lacked;  /* bits of enum raddle_lack: what the system refused the program */
	bool detect_over; /* the detector ran out of memory and saw only a part of the run */
	uint32_t edits;	  /* bits of edits of the schedule that were reached */
	struct replay_obstacle obstacle;
	struct replay_fault fault;
	uint64_t crash_places[RADDLE_CRASH_PLACES]; /* where a fatal signal occurred (raddle/crash.h) */
	int crash_signal;			    /* while a debugger inspects the program; else 0 */
	uint32_t crash_tid;
	const char *crash_thread;
	struct replay_turns turns;
	struct replay_outside outside;
	struct replay_memory memory;
	uint64_t order_at, command_at; /* in the program's memory, for a debugger that releases the threads;
					  0: unknown */
	double wall_seconds, met_seconds, cpu_seconds; /* met: from the start to the meeting */
	struct rd_arena *arena;			       /* owns everything above */
};

#endif
