/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steering: the memory through which `raddle replay` leads a run of a program to a race or a
 * deadlock and learns what happened.  doc/format/schedule.md defines schedules.  The memory lies
 * after the buffers of the session (session.h: steer_offset, 0 for a run that is only recorded).
 * It controls the first process; forked processes run freely.  The replayer fills the plan before
 * the program starts.  From then on the program writes everything, and the replayer only reads.
 * The exceptions are `command`, `refusal.known` and `crash.seen`, and the time while the program
 * is stopped and asks (below).
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
 * The states of a run (`phase`, a futex):
 *   LEADING   operations wait for their turn, threads stop at limits, goals and stops
 *   MET       race: two threads are stopped at overlapping accesses, one of them a write;
 *             deadlock: all stops are reached, and the threads continue into their operations;
 *             order: all operations were done
 *   DIVERGED  the plan cannot be followed: `difference` has the reason; threads run freely
 *   RUNS_FREE no thread waits any more
 *   GOES_ON   with RADDLE_STEER_TURNS: the threads take turns as the plan decides
 * LEADING -> MET -> RUNS_FREE, or LEADING -> DIVERGED.  MET ends by `command`, or by the runtime
 * itself unless RADDLE_STEER_STAY is set.  The replayer ends LEADING with RADDLE_COMMAND_GIVE_UP
 * when it sees no more progress.  With RADDLE_STEER_TURNS: LEADING -> MET -> GOES_ON, or GOES_ON
 * from the start if the plan has no goal; GOES_ON -> DIVERGED if a decision cannot be followed,
 * GOES_ON -> RUNS_FREE on GIVE_UP.
 *
 * Turns
 * -----
 * With RADDLE_STEER_TURNS one thread runs at a time (`running`), from the start of the program, so
 * the run depends on the plan alone.  A thread keeps the turn from one point to the next.  The
 * points of a thread are: before an operation; when it has to wait in one; before a watched
 * access; when it continues after the racing access that the plan led it to; when it yields or
 * sleeps; before it writes to a stream, in the flavour `led`; when it ends; and before it ends the
 * process.  Two more points keep a program from hanging: SPIN (many accesses without a point, or
 * an iteration of a loop that waits) and AWAY (it computes for long, or waits in the kernel in a
 * call that Raddle does not control).  A point is identified by three things: the number n of
 * operations that the thread has begun, the kind of the point, and the number of points of that
 * kind since operation n.  At each point a thread is chosen among the runnable ones:
 *   1. While decisions are left, the next one chooses if this is its point; else the default.
 *   2. Then `strategy` and `seed` choose, if `seed` is not 0; else the default.
 * The default is the thread itself, if it is runnable, neither yields nor spins at this point,
 * and has not yet kept the turn for RADDLE_STEER_STAYS points.  Otherwise it is the next runnable
 * thread by slot number, cyclically.  Other choices are recorded in `made`.  A decision whose
 * point was passed, or whose thread is not runnable, is a difference.  A wait with a time limit
 * times out when no other thread is runnable, when a decision requires it, or, with
 * RADDLE_STEER_TIMEOUTS, whenever the strategy chooses the thread.
 *
 * The plan changes while the program is stopped
 * ---------------------------------------------
 * The program is stopped at a point while `running` is RADDLE_STEER_ASKING.  It stops at each
 * point after the last decision (RADDLE_STEER_ASK), where a watch requests it, or before the first
 * operation (RADDLE_STEER_ASK_START).  Before it stops, it fills `ask` and increments `asks`; then
 * no thread runs.  The replayer may then read everything and append threads, watches and
 * decisions: first the entry, then the count.  The tables have room for RADDLE_STEER_ROOM more
 * threads than the plan began with.  The replayer may set `seed`, `flags` (ASK only), `next` (the
 * slot that runs next; NONE: as above) and `past_count` (decisions up to it are treated as taken).
 * To answer, it sets `answers` to `asks` and wakes that futex.  The thread of a decision or watch
 * is always a position in the table of threads.
 */
#ifndef RADDLE_STEER_H
#define RADDLE_STEER_H

#include "raddle/crash.h"
#include "raddle/lack.h"
#include "raddle/memory.h"
#include "raddle/obstacle.h"

#include <stdatomic.h>
#include <stdint.h>

#define RADDLE_STEER_VERSION 17 /* of this layout */
#define RADDLE_STEER_NONE UINT32_MAX

/* All values are judgements: sizes bound the shared memory, counts bound the time of a run. */
#define RADDLE_SLOTS 32768	/* slots, by thread number; threads beyond these are not controlled */
#define RADDLE_SLOT_HELD 1008	/* locks that a slot lists; `held_count` may exceed it */
#define RADDLE_STEER_FRAMES 64	/* innermost call sites of a stack that is reported */
#define RADDLE_STEER_RACES 256	/* races of a run that are reported */
#define RADDLE_STEER_PAIRS 4096 /* pairs of conflicting sites of a run; further ones are dropped */
#define RADDLE_STEER_GOALS 2	/* a race has two accesses */
#define RADDLE_STEER_ASKING (UINT32_MAX - 1) /* as `running`: the program is stopped and asks */
#define RADDLE_STEER_WATCHES 4096	     /* struct raddle_steer_watch of a plan */
#define RADDLE_STEER_DECISIONS 65536	     /* of a run that are kept */
#define RADDLE_STEER_ROOM 1024		     /* threads that may be added to a plan */
#define RADDLE_STEER_STAYS 2000		     /* points at which a thread keeps the turn by default */
/* accesses without a point, after which a thread is considered spinning */
#define RADDLE_STEER_LOOKS 20000u
/* accesses that read nothing new, after which other threads stop waiting for the thread */
#define RADDLE_STEER_STEADY 1000000u
#define RADDLE_STEER_SPINS 3 /* consecutive spins of each runnable thread that make a livelock */

enum raddle_phase { RADDLE_LEADING, RADDLE_MET, RADDLE_DIVERGED, RADDLE_RUNS_FREE, RADDLE_GOES_ON };

enum raddle_command {
	RADDLE_COMMAND_NONE,
	RADDLE_COMMAND_GO,	/* out of MET: release the threads, goal `order` first */
	RADDLE_COMMAND_GIVE_UP, /* out of LEADING: release all threads */
};

enum raddle_steer_flags {
	RADDLE_STEER_STAY = 1,	 /* threads stay stopped in MET until the replayer's command */
	RADDLE_STEER_DETECT = 2, /* detect unordered accesses (rt/detect/detect.c) */
	RADDLE_STEER_ORDER = 4,	 /* no thread stops at a goal: MET when the last operation was done */
	RADDLE_STEER_ANYWHERE =
		8, /* no thread is led; a thread that reaches a goal's site is stopped for a while */
	RADDLE_STEER_TURNS = 16,     /* one thread at a time */
	RADDLE_STEER_ASK = 32,	     /* stop and ask when all decisions were taken */
	RADDLE_STEER_ASK_START = 64, /* stop and ask before the first operation */
	RADDLE_STEER_HEAP = 128,     /* quarantine freed memory and end a program that uses it (rt/heap/) */
	RADDLE_STEER_PATIENT = 256,  /* with ANYWHERE: stop longer, for rare accesses */
	RADDLE_STEER_TIMEOUTS = 512, /* the strategy may let time limits expire at any point */
	RADDLE_STEER_NOTE = 1 << 20, /* fatal signals are recorded in `crash` */
	RADDLE_STEER_SHOW = 1 << 21, /* the same, and wait until `crash.seen` */
	RADDLE_STEER_ONE = 4096,     /* with TURNS: all threads run on one kernel thread */
	RADDLE_STEER_LOOK = 2048,    /* with ASK: not at accesses, and also while decisions are left */
	RADDLE_STEER_COVER = 1024,   /* record which conflicting sites follow each other (rt/cover/) */
};

/* How `seed` decides (rt/steer/strategy.c). */
enum raddle_strategy {
	RADDLE_STRATEGY_WALK,	  /* any runnable thread, with equal probability */
	RADDLE_STRATEGY_PCT,	  /* by fixed priorities, which change `depth` - 1 times */
	RADDLE_STRATEGY_POS,	  /* each pending operation has a random priority */
	RADDLE_STRATEGY_WEIGHTED, /* weighted by the points that each thread has left: `expected` */
	RADDLE_STRATEGY_ROUND,	  /* round robin, with the same number of points for each thread */
	RADDLE_STRATEGY_KINDS,	  /* threads that run the same function share the probability of one */
	RADDLE_STRATEGIES,
};

/* Why the plan cannot be kept. */
enum raddle_cause {
	RADDLE_CAUSE_NONE,
	RADDLE_CAUSE_KIND,    /* the thread's n-th operation is of another kind */
	RADDLE_CAUSE_PAST,    /* the thread passed its goal without the access */
	RADDLE_CAUSE_APART,   /* both goals were reached, but the accesses do not conflict */
	RADDLE_CAUSE_ENDED,   /* the thread ended before it reached its goal */
	RADDLE_CAUSE_GIVE_UP, /* the replayer gave up */
	RADDLE_CAUSE_MISSED,  /* the thread passed the point of the next decision */
	RADDLE_CAUSE_CANNOT,  /* the thread of a decision is not runnable at its point */
	RADDLE_CAUSE_SPINS,   /* the thread waits in a loop, and all threads that could end the loop are
			       * stopped: see `spin` */
};

/* Where a thread may lose the turn. */
enum raddle_point {
	RADDLE_POINT_OP,     /* before its operation n; count is 1 */
	RADDLE_POINT_WAIT,   /* it has to wait in operation n */
	RADDLE_POINT_ACCESS, /* before a watched access */
	RADDLE_POINT_BACK,   /* it continues after the access at which it met another thread */
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
	RADDLE_SLOT_LIMIT,   /* is stopped at its limit */
	RADDLE_SLOT_GOAL,    /* is stopped before its access */
	RADDLE_SLOT_STOP,    /* is stopped before the operation of its stop */
	RADDLE_SLOT_BLOCKED, /* waits in an operation of the program */
	RADDLE_SLOT_ENDED,
};

/* Which thread runs next at a point. */
struct raddle_steer_decision {
	uint32_t thread; /* whose point; a position in the table, in `made` a slot */
	uint32_t next;	 /* the thread that runs next, likewise */
	uint64_t n;
	uint32_t point; /* enum raddle_point */
	uint32_t count; /* from 1 */
	uint32_t site;	/* in `made`: the place of the point; 0: unknown */
	uint32_t unused;
};

/* Accesses that are points.  Each field restricts the set. */
struct raddle_steer_watch {
	uint32_t thread;	/* position in the table; NONE: any */
	uint32_t site;		/* 0: any */
	uint64_t address, size; /* size 0: any */
	uint64_t after;		/* only while the thread has begun exactly this many operations;
				 * UINT64_MAX: always */
	uint64_t occurrence;	/* only this matching access, counted from 1; 0: all */
	uint32_t how;		/* bits: 1 reads, 2 writes */
	uint32_t stand; /* 1: the program stops there and asks; 2: only at a thread's first such access after
			   each of its operations, and the others are not points */
	_Atomic uint64_t seen; /* written by the runtime: how many accesses matched */
};

/* A thread that the schedule names.  It is the `index`-th creation of `parent`. */
struct raddle_steer_thread {
	uint32_t parent, index; /* parent: position in this table; NONE for the initial thread (index 0) and
				   those that the program did not create */
	uint32_t first, count;	/* its operations */
	uint64_t limit;	     /* the thread stops after this operation and stays stopped until LEADING is over;
			      * UINT64_MAX: no limit */
	uint32_t goal, stop; /* goal: position in `goals`, or NONE; stop: 1 if it has a stop */
	uint64_t stop_n;     /* the operation that it stops in */
	uint32_t stop_kind;  /* enum raddle_event */
	uint32_t expected;   /* expected number of points; 0: unknown */
};

struct raddle_steer_op {
	uint64_t n;
	uint32_t kind; /* enum raddle_event */
	uint32_t turn; /* position in the whole order, from 0 */
};

/* A goal: the thread stops before the `occurrence`-th record of `site` after operation `after`. */
struct raddle_steer_goal {
	uint64_t after, occurrence;
	uint32_t thread; /* position in the table */
	uint32_t site;
	uint32_t write;
	uint32_t front; /* with turns: this goal's thread runs whenever it can, until it waits in a
			 * loop; the other goal's thread runs only when no other thread can */
};

/* A place at which a thread was observed. */
struct raddle_steer_spot {
	uint32_t slot, site;
	uint64_t address, size, n; /* n: operations the thread had done */
	uint32_t write, atomic;
	uint32_t frame_count; /* of the call stack, innermost first */
	uint32_t frames[RADDLE_STEER_FRAMES];
};

/* Two accesses that no operation of the program orders.  Index 1 is the later one. */
struct raddle_steer_race {
	uint32_t slot[2], site[2], write[2], atomic[2];
	uint64_t address, size;
};

struct raddle_steer_difference {
	uint32_t cause; /* enum raddle_cause */
	uint32_t slot;
	uint64_t n;		  /* of the operation */
	uint32_t expected, found; /* kinds, 0: none; of a decision: a thread's position, and the point */
	uint32_t site;		  /* where it was: innermost call site */
	uint32_t turn;		  /* operations of the plan that were done; in GOES_ON: decisions */
};

struct raddle_slot {
	_Atomic uint32_t state;	 /* enum raddle_slot_state */
	uint32_t thread;	 /* position in the table of the plan; NONE */
	uint32_t parent, index;	 /* as in THREAD_START */
	uint32_t tid;		 /* the kernel's */
	_Atomic uint32_t kind;	 /* enum raddle_event: the operation it is in or waits to do */
	_Atomic uint64_t n;	 /* operations begun */
	_Atomic uint64_t object; /* address of what it waits for; for a join: the thread's number */
	_Atomic uint32_t site;	 /* innermost call site of that */
	_Atomic uint32_t held_count;
	_Atomic uint64_t
		accesses;	/* records of accesses and atomics so far; shows whether it makes progress */
	_Atomic uint32_t timed; /* BLOCKED: the wait has a time limit */
	/* Turns, under the runtime's lock. */
	_Atomic uint32_t ready; /* it is runnable, apart from the turn */
	_Atomic uint32_t away;	/* it sleeps in the kernel or computes for long, without the turn */
	uint32_t stays;		/* points since it got the turn */
	uint32_t due;		/* the time limit of its wait has expired */
	uint64_t since;		/* not 0: it waits; later waits have higher numbers */
	uint64_t point_n;	/* its current or last point */
	uint32_t point, point_count;
	uint32_t spins;		  /* consecutive points at which it read nothing new, */
	uint64_t news;		  /* and the count of new values of all threads at that time */
	uint32_t arrivals;	  /* points so far */
	_Atomic uint32_t touched; /* site of its last access */
	uint32_t point_site;	  /* place of its last point; 0: unknown */
	uint64_t pending;	  /* what it accesses next: address of an object or access; 0: nothing */
	uint64_t priority, drawn; /* of the strategy; `drawn` is the arrival for which it was drawn */
	/* Addresses of held locks; the lowest bit marks a shared hold.  0: free entry.  This is
	 * the last member, so a thread with few locks takes one page. */
	_Atomic uint64_t held[RADDLE_SLOT_HELD];
};

/* How the program misused freed memory, or how a predicate failed. */
enum raddle_misuse {
	RADDLE_MISUSE_NONE,
	RADDLE_MISUSE_AFTER_FREE,
	RADDLE_MISUSE_DOUBLE_FREE,
	RADDLE_MISUSE_PREDICATE, /* the predicate is false */
	RADDLE_MISUSE_UNDEFINED, /* it is undefined: no memory at `address`, or 0: a division by 0 */
};

struct raddle_steer_misuse {
	_Atomic uint32_t kind; /* enum raddle_misuse; written last */
	uint32_t slot, site;
	uint32_t freed_slot, freed_site; /* the thread and place that freed it; NONE, 0: unknown */
	uint32_t edit;			 /* of a predicate: its number */
	uint64_t address;
};

/* Where a fatal signal occurred. */
struct raddle_steer_crash {
	_Atomic uint32_t signal; /* 0: no signal */
	_Atomic uint32_t seen;	 /* set by a debugger that inspected the program */
	uint32_t tid;		 /* kernel id of the thread that got the signal */
	uint64_t places[RADDLE_CRASH_PLACES];
};

/* What a stopped program asks about. */
struct raddle_steer_ask {
	uint32_t slot;		       /* the thread at the point; the slot has the place */
	uint32_t watch;		       /* position of the watch; NONE: no decisions are left */
	struct raddle_steer_spot spot; /* of an access */
};

struct raddle_steer {
	uint32_t version, flags;
	uint32_t thread_count, op_count, goal_count, stop_count;
	uint64_t threads_at, ops_at, slots_at; /* offsets from the start of this struct */
	uint32_t order;			       /* the goal whose thread continues first */
	_Alignas(64) _Atomic uint32_t turn;    /* operations of the plan done; a futex */
	_Alignas(64) _Atomic uint32_t phase;   /* enum raddle_phase; a futex, also for the replayer */
	_Atomic uint32_t command;	       /* enum raddle_command; a futex */
	_Atomic uint32_t lock;		       /* the runtime's, for what follows */
	_Atomic uint32_t slot_count;	       /* one more than the highest slot in use */
	_Atomic uint32_t stops_reached;
	_Atomic uint32_t race_count; /* may exceed RADDLE_STEER_RACES */
	uint32_t
		keep[2]; /* sites: a thread at the second waits until one has passed the first; 0: not used */
	_Atomic uint32_t kept;	      /* a thread has passed the first */
	_Atomic uint32_t edits;	      /* bits of edits (base/edit.h) that were reached */
	_Atomic uint32_t assumed;     /* 1: an assumption of the program was false (annotate.h) */
	_Atomic uint32_t lacked;      /* bits of enum raddle_lack: what the system refused the program */
	_Atomic uint32_t unfit;	      /* enum raddle_unfit: why the runtime ended the run */
	_Atomic uint32_t detect_over; /* 1: the detector ran out of memory and stopped */
	uint64_t detect_memory;	      /* memory limit of the detector in bytes; 0: no limit */
	struct raddle_steer_goal goals[RADDLE_STEER_GOALS];
	struct raddle_steer_spot spots[RADDLE_STEER_GOALS]; /* the accesses at which threads are stopped */
	struct raddle_steer_difference difference;
	struct raddle_steer_race races[RADDLE_STEER_RACES];

	/* Turns. */
	uint64_t watches_at, decisions_at, made_at;
	uint64_t memory_at;	       /* struct raddle_memory; 0: no memory model */
	uint64_t seed;		       /* 0: not random */
	uint64_t length;	       /* PCT: points at which there is a choice, as far as known */
	uint32_t strategy, depth;      /* enum raddle_strategy; of PCT */
	uint32_t next;		       /* answer: the slot that runs next; NONE: as the plan decides */
	_Atomic uint32_t thread_added; /* threads after the first thread_count */
	_Atomic uint32_t watch_count, decision_count;
	_Atomic uint32_t past_count;	       /* decisions that were taken */
	_Atomic uint32_t made_count;	       /* may exceed RADDLE_STEER_DECISIONS */
	_Alignas(64) _Atomic uint32_t running; /* the slot that has the turn; NONE, ASKING */
	_Atomic uint32_t asks, answers;	       /* futexes */
	_Atomic uint32_t met;		       /* 1: the phase is or was MET */
	_Atomic uint64_t choices;	       /* points at which more than one thread could continue */
	_Atomic uint64_t trail;		       /* a hash of all choices and their outcomes */
	_Atomic uint32_t unsure;	       /* how often real time influenced the run: AWAY points */
	_Atomic uint32_t livelock;	       /* all runnable threads spin, and none changes anything */
	_Atomic uint32_t ran_on;	       /* the threads have reached `most` points, and are stopped */
	_Atomic uint32_t stuck; /* `running` is NONE, and no time limit, input, signal handler or
				 * thread in the kernel can change that */
	uint64_t most;		/* maximum of points of all threads together; 0: no limit */
	struct raddle_steer_spin spin;
	struct raddle_steer_refusal refusal;
	struct raddle_steer_misuse fault;
	struct raddle_steer_crash crash;
	struct raddle_steer_ask ask;

	/* Pairs of sites: the upper half of an entry is the site of an access, the lower half that
	 * of the next conflicting access by another thread. */
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
