/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steering: the memory through which `raddle replay` leads a run of a program to
 * a race or a deadlock and learns what happened (doc/format/schedule.md says what
 * a schedule means).
 *
 * It lies after the buffers of the session (session.h: steer_offset, 0 for a run
 * that is only recorded) and belongs to the first process; what that forks runs
 * free.  The replayer fills the plan before the program starts.  From then on the
 * program writes everything but `command`, and the replayer only looks, except where
 * the program stands and asks (below).
 *
 *   struct raddle_steer
 *   struct raddle_steer_thread     thread_count of them, thread 0 first
 *   struct raddle_steer_op         op_count of them, those of a thread together, n ascending
 *   struct raddle_steer_watch      room for RADDLE_STEER_WATCHES
 *   struct raddle_steer_decision   room for RADDLE_STEER_DECISIONS: what the plan decides
 *   struct raddle_steer_decision   room for RADDLE_STEER_DECISIONS: what was decided
 *   struct raddle_memory           memory.h, if the plan has a memory model
 *   struct raddle_slot             RADDLE_SLOTS of them, by thread number; sparse
 *
 * The life of a run (`phase`, a futex):
 *   LEADING   operations wait for their turn, threads stop at limits, goals and stops
 *   MET       race: two threads stand at overlapping accesses, one of them a write;
 *             deadlock: all stops are reached and let go into their operations;
 *             order: all operations were done
 *   DIVERGED  the plan cannot be kept: `difference` says why; nobody is kept waiting any more
 *   RUNS_FREE nobody is kept waiting any more
 *   GOES_ON   with RADDLE_STEER_TURNS: the threads take turns as the plan decides
 * LEADING -> MET -> RUNS_FREE, or LEADING -> DIVERGED.  Out of MET leads `command`, or the
 * runtime itself unless RADDLE_STEER_STAY is set.  The replayer ends LEADING from
 * outside with RADDLE_COMMAND_GIVE_UP when it sees that nothing moves any more.
 * With RADDLE_STEER_TURNS: LEADING -> MET -> GOES_ON, or GOES_ON from the start where there is nothing to
 * lead to; GOES_ON -> DIVERGED where a decision cannot be kept, GOES_ON -> RUNS_FREE on GIVE_UP.
 *
 * Turns
 * -----
 * With RADDLE_STEER_TURNS one thread runs at a time (`running`), from the start of the program on, so what
 * happens depends on the plan alone.  A thread keeps the turn from one point to the next.  Points are:
 * before an operation; where it has to wait in one; before a watched access; the first sign of a thread
 * after the access at which it met another; where it yields or sleeps; before it writes to a stream, in the
 * flavour `led`; its end; before it ends the process; and two that keep a
 * program from standing still: SPIN (many accesses, or points, without a change) and AWAY (it waits in
 * the kernel for something that is not ours).  A point of a thread is named by the number n of
 * operations it has begun, the kind of the point and its count among those of that kind behind operation n.
 *
 * At each point somebody is chosen among those that could go on:
 *   1. While decisions are left: the next one says who, if this is its point.  At all other points the
 * default.
 *   2. Then by `strategy` and `seed`, if that is not 0; else the default.
 * The default: the thread itself, if it can go on and has not done so for RADDLE_STEER_STAYS points; else
 * the next one by slot number that can, round about.  What was chosen differently is written down in `made`.
 * A decision whose point was passed by, or whose thread cannot go on, is a difference.
 * Who waits with a time limit is woken by it when nobody else can go on; or by a decision; or, with
 * RADDLE_STEER_TIMEOUTS, whenever the strategy chooses it.
 *
 * The plan changes while the program stands
 * -----------------------------------------
 * The program stands at a point (RADDLE_STEER_ASK: at each one when all decisions were taken; or where a
 * watch says so; or before its first operation, RADDLE_STEER_ASK_START) when `running` is
 * RADDLE_STEER_ASKING.  It has filled `ask` and counted `asks` up, and nobody runs.  The replayer may then
 * look at everything, append threads, watches and decisions (first the entry, then the count; the
 * tables have room for RADDLE_STEER_ROOM more threads than the plan began with), set `seed`, `flags` (ASK
 * only), `next` (a slot: that one goes on now; NONE: as above) and `past_count` (decisions up to it count as
 * taken), and answers by `answers` = `asks` and a wake of that futex.  A thread of a decision or watch is a
 * position in the table of threads, as ever.
 */
#ifndef RADDLE_STEER_H
#define RADDLE_STEER_H

#include "raddle/crash.h"
#include "raddle/memory.h"
#include "raddle/obstacle.h"

#include <stdatomic.h>
#include <stdint.h>

#define RADDLE_STEER_VERSION 15
#define RADDLE_STEER_NONE UINT32_MAX
#define RADDLE_SLOTS 32768     /* threads by number; later ones have no slot and run free */
#define RADDLE_SLOT_HELD 1008  /* locks a slot lists; `held_count` goes on counting */
#define RADDLE_STEER_FRAMES 64 /* innermost call sites of a stack that is reported */
#define RADDLE_STEER_RACES 256
#define RADDLE_STEER_PAIRS 4096
#define RADDLE_STEER_GOALS 2
#define RADDLE_STEER_ASKING (UINT32_MAX - 1) /* as `running`: the program stands and asks */
#define RADDLE_STEER_WATCHES 4096
#define RADDLE_STEER_DECISIONS 65536
#define RADDLE_STEER_ROOM 1024	     /* threads that may be added to a plan */
#define RADDLE_STEER_STAYS 2000	     /* points that a thread goes on by default */
#define RADDLE_STEER_LOOKS 20000u    /* accesses until a thread that comes to no point spins */
#define RADDLE_STEER_STEADY 1000000u /* accesses that show nothing new, until it is waited for no more */
#define RADDLE_STEER_SPINS 3	     /* spins in a row of each thread that can go on: a livelock */

enum raddle_phase { RADDLE_LEADING, RADDLE_MET, RADDLE_DIVERGED, RADDLE_RUNS_FREE, RADDLE_GOES_ON };

enum raddle_command {
	RADDLE_COMMAND_NONE,
	RADDLE_COMMAND_GO,	/* out of MET: let them go, goal `order` first */
	RADDLE_COMMAND_GIVE_UP, /* out of LEADING: nobody is kept waiting any more */
};

enum raddle_steer_flags {
	RADDLE_STEER_STAY = 1,	 /* stand in MET until the command comes */
	RADDLE_STEER_DETECT = 2, /* look for unordered accesses (rt/detect/detect.c) */
	RADDLE_STEER_ORDER = 4,	 /* nobody is to stand anywhere: MET when the last operation was done */
	RADDLE_STEER_ANYWHERE =
		8, /* no thread is led; whoever comes to a goal's site stands there for a while */
	RADDLE_STEER_TURNS = 16,     /* one thread at a time */
	RADDLE_STEER_ASK = 32,	     /* stand when all decisions were taken */
	RADDLE_STEER_ASK_START = 64, /* stand before the first operation */
	RADDLE_STEER_HEAP = 128,     /* keep freed memory back and end a program that uses it (rt/heap/) */
	RADDLE_STEER_PATIENT = 256,  /* with ANYWHERE: stand longer, for accesses that come seldom */
	RADDLE_STEER_TIMEOUTS = 512, /* the strategy may let time limits run out at any point */
	RADDLE_STEER_NOTE = 1 << 20, /* fatal signals leave a note */
	RADDLE_STEER_SHOW = 1 << 21, /* the same, and wait until `crash.seen` */
	RADDLE_STEER_LOOK = 2048,    /* with ASK: not at accesses, and also while decisions are left */
	RADDLE_STEER_COVER = 1024,   /* note which conflicting places follow on each other (rt/cover/) */
};

/* How `seed` decides (rt/steer/steer-strategy.c). */
enum raddle_strategy {
	RADDLE_STRATEGY_WALK,	  /* whoever can go on, each with the same chance */
	RADDLE_STRATEGY_PCT,	  /* by fixed priorities, which change `depth` - 1 times */
	RADDLE_STRATEGY_POS,	  /* each thing that is about to happen has a priority of its own */
	RADDLE_STRATEGY_WEIGHTED, /* by what the threads have left to do: `expected` */
	RADDLE_STRATEGY_ROUND,	  /* one after the other, each for the same number of points */
	RADDLE_STRATEGY_KINDS,	  /* threads that run the same function have the chance of one together */
	RADDLE_STRATEGIES,
};

/* Why the plan cannot be kept. */
enum raddle_cause {
	RADDLE_CAUSE_NONE,
	RADDLE_CAUSE_KIND,    /* the thread's n-th operation is of another kind */
	RADDLE_CAUSE_PAST,    /* the thread has gone past its goal: the access did not come */
	RADDLE_CAUSE_APART,   /* both came, but touch different memory, or both only read */
	RADDLE_CAUSE_ENDED,   /* the thread ended before it came where it should stand */
	RADDLE_CAUSE_GIVE_UP, /* the replayer said so */
	RADDLE_CAUSE_MISSED,  /* the thread has gone past the point of the next decision */
	RADDLE_CAUSE_CANNOT,  /* at the point of a decision its thread cannot go on */
	RADDLE_CAUSE_SPINS,   /* the thread waits in a loop, and all who could go on stand: see `spin` */
};

/* Where a thread may lose the turn. */
enum raddle_point {
	RADDLE_POINT_OP,     /* before its operation n; count is 1 */
	RADDLE_POINT_WAIT,   /* it has to wait in operation n */
	RADDLE_POINT_ACCESS, /* before a watched access */
	RADDLE_POINT_BACK,   /* it is back from the access at which it met another thread */
	RADDLE_POINT_YIELD,  /* it yields or sleeps */
	RADDLE_POINT_SPIN,
	RADDLE_POINT_AWAY,
	RADDLE_POINT_END,    /* it has ended */
	RADDLE_POINT_OUTPUT, /* it is about to write to a stream or descriptor; in the flavour `led` */
	RADDLE_POINT_EXIT,   /* it is about to end the process */
	RADDLE_POINTS,
};

/* What a thread is doing. */
enum raddle_slot_state {
	RADDLE_SLOT_UNUSED,
	RADDLE_SLOT_RUNS,
	RADDLE_SLOT_GATE,    /* waits for its turn */
	RADDLE_SLOT_LIMIT,   /* stands at its limit */
	RADDLE_SLOT_GOAL,    /* stands at its access */
	RADDLE_SLOT_STOP,    /* stands before the operation it is to stop in */
	RADDLE_SLOT_BLOCKED, /* waits in an operation of the program */
	RADDLE_SLOT_ENDED,
};

/* Who goes on at a point. */
struct raddle_steer_decision {
	uint32_t thread; /* whose point; a position in the table, in `made` a slot */
	uint32_t next;	 /* the same: who goes on */
	uint64_t n;
	uint32_t point; /* enum raddle_point */
	uint32_t count; /* from 1 */
	uint32_t site;	/* in `made`: where the point is, as far as known; 0: it is not */
	uint32_t unused;
};

/* Accesses at which a thread comes to a point.  Each field narrows it down. */
struct raddle_steer_watch {
	uint32_t thread;	/* position in the table; NONE: any */
	uint32_t site;		/* 0: any */
	uint64_t address, size; /* size 0: any */
	uint64_t after;		/* only when the thread has begun so many operations; UINT64_MAX: always */
	uint64_t occurrence;	/* only the so-many-th that fits, from 1; 0: each */
	uint32_t how;		/* bits: 1 reads, 2 writes */
	uint32_t stand; /* 1: the program stands there and asks; 2: only at the first of a thread behind
			   each of its operations, and the others are no points */
	_Atomic uint64_t seen; /* the runtime's: how many fitted */
};

/* A thread that the schedule names.  It is the `index`-th creation of `parent`. */
struct raddle_steer_thread {
	uint32_t parent, index; /* parent: position in this table; NONE for the initial thread (index 0) and
				   those that the program did not create */
	uint32_t first, count;	/* its operations */
	uint64_t limit;		/* no operation past this one until LEADING is over; UINT64_MAX: none */
	uint32_t goal, stop;	/* position in `goals`; 1 if it has a stop; NONE: none */
	uint64_t stop_n;	/* the operation it is to stop in */
	uint32_t stop_kind;	/* enum raddle_event */
	uint32_t expected;	/* points that it comes to, as far as known; 0: nothing is */
};

struct raddle_steer_op {
	uint64_t n;
	uint32_t kind; /* enum raddle_event */
	uint32_t turn; /* position in the whole order, from 0 */
};

/* A goal: the thread is to stand before the `occurrence`-th record of `site` after operation `after`. */
struct raddle_steer_goal {
	uint64_t after, occurrence;
	uint32_t thread; /* position in the table */
	uint32_t site;
	uint32_t write;
	uint32_t front; /* with turns: its thread goes on when it can, until it waits in a loop; that of the
			   other goal when nobody else can */
};

/* A place that a thread was seen at. */
struct raddle_steer_spot {
	uint32_t slot, site;
	uint64_t address, size, n; /* n: operations the thread had done */
	uint32_t write, atomic;
	uint32_t frame_count; /* of the call stack, innermost first */
	uint32_t frames[RADDLE_STEER_FRAMES];
};

/* Two accesses that no operation of the program orders; the later one second. */
struct raddle_steer_race {
	uint32_t slot[2], site[2], write[2], atomic[2];
	uint64_t address, size;
};

struct raddle_steer_difference {
	uint32_t cause; /* enum raddle_cause */
	uint32_t slot;
	uint64_t n;		  /* of the operation */
	uint32_t expected, found; /* kinds; 0: none */
	uint32_t site;		  /* where it was: innermost call site */
	uint32_t turn;		  /* operations of the plan that were done */
};

struct raddle_slot {
	_Atomic uint32_t state;	 /* enum raddle_slot_state */
	uint32_t thread;	 /* position in the table of the plan; NONE */
	uint32_t parent, index;	 /* as in THREAD_START */
	uint32_t tid;		 /* the kernel's */
	_Atomic uint32_t kind;	 /* enum raddle_event: the operation it is in or waits to do */
	_Atomic uint64_t n;	 /* operations begun */
	_Atomic uint64_t object; /* address of what it waits for; of a join: the thread's number */
	_Atomic uint32_t site;	 /* innermost call site of that */
	_Atomic uint32_t held_count;
	_Atomic uint64_t accesses; /* records of accesses and atomics so far: does it move? */
	_Atomic uint32_t timed;	   /* BLOCKED: the wait ends by itself */
	/* Turns, under the runtime's lock. */
	_Atomic uint32_t ready; /* it would go on if it had the turn */
	_Atomic uint32_t away;	/* it was found to wait in the kernel and has not come back */
	uint32_t stays;		/* points since it got the turn */
	uint32_t due;		/* its wait with a time limit is over */
	uint64_t since;	  /* not 0: it waits for others to take their turns; later ones have higher numbers */
	uint64_t point_n; /* the point it is at or was at last */
	uint32_t point, point_count;
	uint32_t spins;		  /* points in a row at which nothing was new to it, */
	uint64_t news;		  /* and how often anything had been new to anybody then */
	uint32_t arrivals;	  /* points so far */
	_Atomic uint32_t touched; /* site of its last access */
	uint32_t point_site;	  /* where its last point is; 0: unknown */
	uint64_t pending;	  /* what it is about to touch: address of an object or access; 0: nothing */
	uint64_t priority, drawn; /* the strategy's; `drawn` is the arrival that it was drawn for */
	/* Addresses of locks it holds; the lowest bit is set for a shared hold.  0: passed over.  Last, so
	 * that a thread that holds few takes one page. */
	_Atomic uint64_t held[RADDLE_SLOT_HELD];
};

/* What the program did to memory that it had freed, or which predicate does not hold. */
enum raddle_misuse {
	RADDLE_MISUSE_NONE,
	RADDLE_MISUSE_AFTER_FREE,
	RADDLE_MISUSE_DOUBLE_FREE,
	RADDLE_MISUSE_PREDICATE, /* it is false */
	RADDLE_MISUSE_UNDEFINED, /* it has no value: there is no memory at `address`, or 0: a division by 0 */
};

struct raddle_steer_misuse {
	_Atomic uint32_t kind; /* enum raddle_misuse; written last */
	uint32_t slot, site;
	uint32_t freed_slot, freed_site; /* who freed it; NONE, 0: unknown */
	uint32_t edit;			 /* of a predicate: its number */
	uint64_t address;
};

/* Where a fatal signal came. */
struct raddle_steer_crash {
	_Atomic uint32_t signal; /* 0: none came */
	_Atomic uint32_t seen;	 /* by somebody who asked to look at the program then */
	uint32_t tid;		 /* the kernel's, of the thread that it came to */
	uint64_t places[RADDLE_CRASH_PLACES];
};

/* What a program that stands asks about. */
struct raddle_steer_ask {
	uint32_t slot;		       /* who came to the point; its place is in the slot */
	uint32_t watch;		       /* position of the watch; NONE: it stands for want of decisions */
	struct raddle_steer_spot spot; /* of an access */
};

/* What a program may not get from the system; what it does then says nothing about its schedules. */
enum raddle_lack {
	RADDLE_LACK_MEMORY = 1,
	RADDLE_LACK_THREADS = 2,
	RADDLE_LACK_DESCRIPTORS = 4,
	RADDLE_LACK_SLOTS = 8, /* it has threads that could not be led */
};

struct raddle_steer {
	uint32_t version, flags;
	uint32_t thread_count, op_count, goal_count, stop_count;
	uint64_t threads_at, ops_at, slots_at; /* offsets from the start of this struct */
	uint32_t order;			       /* which goal goes first */
	_Alignas(64) _Atomic uint32_t turn;    /* operations of the plan done; a futex */
	_Alignas(64) _Atomic uint32_t phase;   /* enum raddle_phase; a futex, also for the replayer */
	_Atomic uint32_t command;	       /* enum raddle_command; a futex */
	_Atomic uint32_t lock;		       /* the runtime's, for what follows */
	_Atomic uint32_t slot_count;	       /* one more than the highest slot in use */
	_Atomic uint32_t stops_reached;
	_Atomic uint32_t race_count; /* may exceed RADDLE_STEER_RACES */
	uint32_t keep[2];      /* sites: who comes to the second waits until one is past the first; 0: none */
	_Atomic uint32_t kept; /* one is */
	_Atomic uint32_t edits;	      /* bits of edits (base/edit.h) that control has come to */
	_Atomic uint32_t assumed;     /* 1: an assumption of the program's did not hold (annotate.h) */
	_Atomic uint32_t lacked;      /* bits of enum raddle_lack: what the system refused the program */
	_Atomic uint32_t detect_over; /* 1: the detector had no memory and looks no more */
	uint64_t detect_memory;	      /* how many bytes it may use; 0: as many as there are */
	struct raddle_steer_goal goals[RADDLE_STEER_GOALS];
	struct raddle_steer_spot spots[RADDLE_STEER_GOALS]; /* who stands at the goals */
	struct raddle_steer_difference difference;
	struct raddle_steer_race races[RADDLE_STEER_RACES];

	/* Turns. */
	uint64_t watches_at, decisions_at, made_at;
	uint64_t memory_at;	       /* struct raddle_memory; 0: memory obeys no model */
	uint64_t seed;		       /* 0: none */
	uint64_t length;	       /* PCT: points at which there is a choice, as far as known */
	uint32_t strategy, depth;      /* enum raddle_strategy; of PCT */
	uint32_t next;		       /* answer: the slot that goes on now; NONE: as the plan says */
	_Atomic uint32_t thread_added; /* threads after the first thread_count */
	_Atomic uint32_t watch_count, decision_count;
	_Atomic uint32_t past_count;	       /* decisions that were taken */
	_Atomic uint32_t made_count;	       /* may exceed RADDLE_STEER_DECISIONS */
	_Alignas(64) _Atomic uint32_t running; /* the slot that has the turn; NONE, ASKING */
	_Atomic uint32_t asks, answers;	       /* `answers` is a futex */
	_Atomic uint32_t met;		       /* phase has been MET */
	_Atomic uint64_t choices;	       /* points at which more than one thread could go on */
	_Atomic uint64_t trail;		       /* a hash of all of them and of what was chosen */
	_Atomic uint32_t unsure;	       /* how often time had a say: AWAY */
	_Atomic uint32_t livelock;	       /* all who can go on spin, and nobody changes anything */
	_Atomic uint32_t ran_on;	       /* the threads have come to `most` points, and stand */
	uint64_t most;			       /* points, by all threads together; 0: any */
	struct raddle_steer_spin spin;
	struct raddle_steer_refusal refusal;
	struct raddle_steer_misuse fault;
	struct raddle_steer_crash crash;
	struct raddle_steer_ask ask;

	/* Pairs of sites: that of an access in the upper half, in the lower half that of the next one that
	 * conflicts with it, by another thread. */
	_Atomic uint32_t pair_count;
	uint64_t pairs[RADDLE_STEER_PAIRS];
};

/* Where the tables are. */
#define RADDLE_STEER_TABLE(type, name)                                                                       \
	static inline struct type *raddle_steer_##name(struct raddle_steer *s)                               \
	{                                                                                                    \
		return (struct type *)((char *)s + s->name##_at);                                            \
	}
RADDLE_STEER_TABLE(raddle_steer_thread, threads)
RADDLE_STEER_TABLE(raddle_steer_op, ops)
RADDLE_STEER_TABLE(raddle_steer_watch, watches)
RADDLE_STEER_TABLE(raddle_steer_decision, decisions)
RADDLE_STEER_TABLE(raddle_steer_decision, made)
RADDLE_STEER_TABLE(raddle_slot, slots)
RADDLE_STEER_TABLE(raddle_memory, memory)
#undef RADDLE_STEER_TABLE

#endif
