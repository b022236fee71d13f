/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steering: the memory through which `raddle replay` leads a run of a program to a race or a
 * deadlock and learns what happened.  doc/format/schedule.md defines schedules.  The memory lies
 * after the buffers of the session, at `steer_offset` (session.h); a recording has no such memory.
 * Only the first process is controlled; forked processes run freely.  The replayer fills the plan
 * before the program starts.  From then on it writes only `command`, `refusal.known` and
 * `crash.seen`, and changes the plan while the program is stopped and asks (below).
 *
 *   struct raddle_steer
 *   struct raddle_steer_thread     thread_count entries, thread 0 first
 *   struct raddle_steer_op         op_count entries, grouped by thread, n ascending
 *   struct raddle_steer_watch      room for RADDLE_STEER_WATCHES
 *   struct raddle_steer_decision   2 x RADDLE_STEER_DECISIONS: of the plan, then made in the run
 *   struct raddle_memory           memory.h, if the plan has a memory model
 *   struct raddle_written          written.h: files that were written, datagrams that were sent
 *   struct raddle_slot             RADDLE_SLOTS entries, by thread number; sparse
 *
 * The states of a run (`phase`, a futex):
 *   LEADING   operations wait for their turn, threads stop at limits, goals and stops
 *   MET       race: two threads are stopped at overlapping accesses, one of them a write;
 *             order: all operations were done; deadlock: all stops are reached, and the threads
 *             continue into their operations
 *   DIVERGED  the plan cannot be followed: `difference` has the reason; threads run freely
 *   RUNS_FREE no thread waits any more
 *   GOES_ON   with RADDLE_STEER_TURNS: the threads take turns as the plan decides
 * LEADING -> MET -> RUNS_FREE, or LEADING -> DIVERGED.  MET ends by `command`, or by the runtime
 * itself unless RADDLE_STEER_STAY is set.  The replayer ends LEADING with RADDLE_COMMAND_GIVE_UP
 * when it sees no more progress.  With RADDLE_STEER_TURNS: LEADING -> MET -> GOES_ON, or GOES_ON at
 * once if the plan has no goal; GOES_ON -> DIVERGED if a decision cannot be followed, GOES_ON ->
 * RUNS_FREE on GIVE_UP.
 *
 * Turns
 * -----
 * With RADDLE_STEER_TURNS one thread runs at a time (`running`), from the start of the program, so
 * the run depends on the plan alone.  A thread keeps the turn from one point to the next.  The
 * points of a thread are: before an operation; when it has to wait in one; before a watched
 * access; when it continues after the racing access that the plan led it to; when it yields or
 * sleeps; before it writes to a stream, in the flavour `led`; when it ends; and before it ends the
 * process.  Two more points keep a program from hanging: SPIN (many accesses without a point, or
 * an iteration of a loop that waits) and AWAY (it computes for long, or waits in a call that Raddle
 * does not control).  A point is identified by the number n of operations that the thread has
 * begun, its kind, and the number of such points since n.  At each point a thread is chosen:
 *   1. While decisions are left, the next one chooses if this is its point; else the default.
 *   2. Then `strategy` and `seed` choose, if `seed` is not 0; else the default.
 * The default is the thread itself, if it is runnable, neither yields nor spins at this point,
 * and has not yet kept the turn for RADDLE_STEER_STAYS points.  Otherwise it is the next runnable
 * thread by slot number, cyclically.  Other choices are recorded in `made`.  A decision whose
 * point was passed, or whose thread is not runnable, is a difference.  A wait with a time limit
 * times out when no other thread is runnable, if a decision requires it, or, with
 * RADDLE_STEER_TIMEOUTS, if the strategy chooses the thread.
 *
 * The plan changes while the program is stopped
 * ---------------------------------------------
 * The program is stopped at a point while `running` is RADDLE_STEER_ASKING.  It stops at each
 * point after the last decision (RADDLE_STEER_ASK), where a watch requests it, or before the first
 * operation (RADDLE_STEER_ASK_START).  Before it stops, it fills `ask` and increments `asks`; then
 * no thread runs.  The replayer may then read everything and append threads, watches and
 * decisions: first the entry, then the count.  The tables have room for RADDLE_STEER_ROOM more
 * threads than the plan began with.  The replayer may set `seed`, `flags` (ASK only), `next` (the
 * slot that runs next, or NONE to choose as above) and `past_count` (earlier decisions count as
 * taken).  To answer, it sets `answers` to `asks` and wakes that futex.  The thread of a decision
 * or watch is always a position in the table of threads. */
#ifndef RADDLE_STEER_H
#define RADDLE_STEER_H

#include "raddle/crash.h"
#include "raddle/freeze.h"
#include "raddle/lack.h"
#include "raddle/memory.h"
#include "raddle/obstacle.h"
#include "raddle/watch.h"

#include <stdatomic.h>
#include <stdint.h>

#define RADDLE_STEER_VERSION 25 /* the version of this layout */
#define RADDLE_STEER_NONE UINT32_MAX
#define RADDLE_STEER_ANY_SITE 0 /* any access reaches the goal, whether it conflicts or not */

/* All values were chosen by hand: sizes bound the shared memory, counts bound the time of a run. */
#define RADDLE_SLOTS 32768	/* the number of slots; threads beyond them are not controlled */
#define RADDLE_SLOT_HELD 1008	/* maximum number of locks in a slot; `held_count` may exceed it */
#define RADDLE_STEER_FRAMES 64	/* the maximum number of call sites of a stack, innermost first */
#define RADDLE_STEER_RACES 256	/* the maximum number of races of a run that are reported */
#define RADDLE_STEER_PAIRS 4096 /* the maximum number of pairs of conflicting sites of a run */
#define RADDLE_STEER_GOALS 2	/* a race has two accesses, so a plan has at most two goals */
#define RADDLE_STEER_ASKING (UINT32_MAX - 1) /* `running` while the program is stopped and asks */
#define RADDLE_STEER_DECISIONS 65536	     /* the maximum number of decisions that are kept */
#define RADDLE_STEER_ROOM 1024		     /* the maximum number of threads added to a plan */
#define RADDLE_STEER_STAYS 2000		     /* points in a row at which a thread keeps the turn by default */
#define RADDLE_STEER_LOOKS 20000u /* accesses without a point after which a thread counts as spinning */
/* after this many accesses that read nothing new, other threads stop waiting for the thread */
#define RADDLE_STEER_STEADY 1000000u
#define RADDLE_STEER_SPINS 3 /* if each runnable thread spins this often, it is a livelock */

enum raddle_phase { RADDLE_LEADING, RADDLE_MET, RADDLE_DIVERGED, RADDLE_RUNS_FREE, RADDLE_GOES_ON };

enum raddle_command {
	RADDLE_COMMAND_NONE,
	RADDLE_COMMAND_GO,	/* ends MET: release the threads, the one of goal `order` first */
	RADDLE_COMMAND_GIVE_UP, /* ends LEADING or GOES_ON: release all threads */
};

enum raddle_steer_flags {
	RADDLE_STEER_STAY = 1,	     /* threads stay stopped in MET until the replayer's command */
	RADDLE_STEER_DETECT = 2,     /* detect unordered accesses (rt/detect/detect.c) */
	RADDLE_STEER_ORDER = 4,	     /* no goals: the phase is MET after the last operation */
	RADDLE_STEER_ANYWHERE = 8,   /* no thread is led; a thread at a goal's site stops for a while */
	RADDLE_STEER_TURNS = 16,     /* one thread runs at a time */
	RADDLE_STEER_ASK = 32,	     /* stop and ask when all decisions were taken */
	RADDLE_STEER_ASK_START = 64, /* stop and ask before the first operation */
	RADDLE_STEER_HEAP = 128,     /* quarantine freed memory and end a program that uses it (rt/heap/) */
	RADDLE_STEER_PATIENT = 256,  /* with ANYWHERE: stop threads longer, for rare accesses */
	RADDLE_STEER_TIMEOUTS = 512, /* the strategy may let time limits expire at any point */
	RADDLE_STEER_NOTE = 1 << 20, /* fatal signals are recorded in `crash` */
	RADDLE_STEER_SHOW = 1 << 21, /* like NOTE, and the thread waits until `crash.seen` is set */
	RADDLE_STEER_ONE = 4096,     /* with TURNS: all threads run on one kernel thread */
	RADDLE_STEER_TRAP = 8192,    /* with TURNS: futex calls of libraries are trapped (rt/steer/trap.c) */
	RADDLE_STEER_LOOK = 2048,    /* with ASK: ask at every point except accesses */
	RADDLE_STEER_COVER = 1024,   /* record which conflicting sites follow each other (rt/cover/) */
	RADDLE_STEER_ACCOMPANIED = 1 << 22, /* another process runs beside the program, for its sake */
};

/* How `seed` chooses the next thread (rt/steer/strategy.c). */
enum raddle_strategy {
	RADDLE_STRATEGY_WALK,	  /* any runnable thread, with equal probability */
	RADDLE_STRATEGY_PCT,	  /* by random priorities, which change `depth` - 1 times */
	RADDLE_STRATEGY_POS,	  /* each pending operation has a random priority */
	RADDLE_STRATEGY_WEIGHTED, /* by the number of points that threads have left */
	RADDLE_STRATEGY_ROUND,	  /* round robin; a turn lasts a fixed number of points */
	RADDLE_STRATEGY_KINDS,	  /* threads that run the same function share the probability of one */
	RADDLE_STRATEGIES,
};

/* Why the plan cannot be followed. */
enum raddle_cause {
	RADDLE_CAUSE_NONE,
	RADDLE_CAUSE_KIND,    /* the thread's n-th operation is of another kind than planned */
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
	RADDLE_POINT_OP,     /* before its operation n; there is one such point */
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
	uint32_t thread; /* the thread at the point: a position in the table; in `made`, a slot */
	uint32_t next;	 /* the thread that runs next, identified in the same way */
	uint64_t n;
	uint32_t point; /* enum raddle_point */
	uint32_t count; /* number of this point among those of its kind after operation n, from 1 */
	uint32_t site;	/* in `made`: the site of the point, or 0 if it is unknown */
	uint32_t made;	/* in `marks`: how many decisions of `made` had been taken */
};

/* A thread that the schedule names.  It is the `index`-th thread that `parent` creates. */
struct raddle_steer_thread {
	/* `parent` is a position in this table, or NONE for the initial thread (index 0) and
	 * threads that the program did not create */
	uint32_t parent, index;
	uint32_t first, count; /* the position of its first operation, and their number */
	uint64_t limit;	       /* the last operation that it may do in LEADING, or UINT64_MAX */
	uint32_t goal, stop;   /* the position in `goals`, or NONE; 1 if the thread has a stop */
	uint64_t stop_n;       /* the number of the operation at which it stops */
	uint32_t stop_kind;    /* enum raddle_event */
	uint32_t expected;     /* the expected number of points, or 0 if it is unknown */
};

struct raddle_steer_op {
	uint64_t n;
	uint32_t kind; /* enum raddle_event */
	uint32_t turn; /* the position in the order of all operations of the plan, from 0 */
};

/* A goal: the thread stops before the `occurrence`-th record of `site` after operation `after`. */
struct raddle_steer_goal {
	uint64_t after, occurrence; /* occurrence 0: the first access there, even to bytes accessed before */
	uint32_t thread;	    /* position in the table of threads */
	uint32_t site;		    /* or RADDLE_STEER_ANY_SITE */
	uint32_t write;
	/* If this is 1 and threads take turns, the thread of this goal runs whenever it can, until
	 * it waits in a loop.  The other goal's thread runs only when no other thread can. */
	uint32_t front;
};

/* A place at which a thread was observed. */
struct raddle_steer_spot {
	uint32_t slot, site;
	uint64_t address, size, n; /* n: number of operations that it had begun */
	uint32_t write, atomic;
	uint32_t frame_count; /* entries of `frames`: call sites, innermost first */
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
	uint64_t n;		  /* the number of operations that the thread had begun */
	uint32_t expected, found; /* kinds of events, or 0; for MISSED and CANNOT, a thread and a point */
	uint32_t site;		  /* the innermost call site of the thread */
	uint32_t turn;		  /* operations of the plan that were done; in GOES_ON: decisions */
};

struct raddle_slot {
	_Atomic uint32_t state;	 /* enum raddle_slot_state */
	uint32_t thread;	 /* the position in the plan's table of threads, or NONE */
	uint32_t parent, index;	 /* as in the event THREAD_START */
	uint32_t tid;		 /* the kernel's thread ID */
	_Atomic uint32_t kind;	 /* its current or next operation: enum raddle_event */
	_Atomic uint64_t n;	 /* the number of operations begun */
	_Atomic uint64_t object; /* the operation's object: address, or thread number for a join */
	_Atomic uint32_t site;	 /* the innermost call site of that operation */
	_Atomic uint32_t held_count;
	_Atomic uint64_t accesses;	/* number of accesses recorded so far: its progress */
	_Atomic uint64_t yields, slept; /* how often it yielded or slept; how many ns it slept */
	_Atomic uint32_t timed;		/* in BLOCKED: 1 if the wait has a time limit */
	_Atomic uint32_t inside;	/* in BLOCKED: enum raddle_inside */
	/* The members up to `drawn` are for turns.  `lock` of struct raddle_steer protects them. */
	_Atomic uint32_t ready; /* 1 if it needs only the turn to continue */
	_Atomic uint32_t away;	/* 1 if it lost the turn while it slept in the kernel or computed */
	uint32_t stays;		/* the number of points in a row at which it kept the turn */
	uint32_t due;		/* 1 if the time limit of its wait has expired */
	uint64_t since;		/* 0 if it does not wait; later waits have higher numbers */
	uint64_t point_n;	/* its current or last point, as in struct raddle_steer_decision */
	uint32_t point, point_count;
	uint32_t spins;		  /* how often in a row it was found spinning */
	uint64_t news;		  /* the count of news (rt/steer/spin.c) when `spins` changed */
	uint32_t arrivals;	  /* the number of points it has reached */
	_Atomic uint32_t touched; /* the site of its last access */
	uint32_t point_site;	  /* the site of its last point, or 0 if it is unknown */
	uint64_t pending;	  /* address of what it accesses next, or 0 if that is unknown */
	uint64_t priority, drawn; /* for the strategy; `drawn` is `arrivals` + 1 at the last draw */
	/* Addresses of held locks, with the lowest bit set if held by a reader; 0 for a free
	 * entry.  This is the last member, so a thread with few locks takes one page. */
	_Atomic uint64_t held[RADDLE_SLOT_HELD];
};

/* How the program misused memory, or how a predicate failed. */
enum raddle_misuse {
	RADDLE_MISUSE_NONE,
	RADDLE_MISUSE_AFTER_FREE,
	RADDLE_MISUSE_DOUBLE_FREE,
	RADDLE_MISUSE_OVERRUN,	 /* an access outside the blocks of the heap */
	RADDLE_MISUSE_OUTSIDE,	 /* an access outside its variable or array */
	RADDLE_MISUSE_PREDICATE, /* the predicate is false */
	RADDLE_MISUSE_UNDEFINED, /* no value: `address` is unmapped, or 0 after a division by 0 */
};

struct raddle_steer_misuse {
	_Atomic uint32_t kind; /* enum raddle_misuse; written last */
	uint32_t slot, site;
	uint32_t freed_slot, freed_site; /* the thread and site that freed it; NONE, 0 if unknown */
	uint32_t edit;			 /* for a predicate: the number of the edit */
	uint64_t address;
};

/* Where a fatal signal occurred. */
struct raddle_steer_crash {
	_Atomic uint32_t signal; /* the number of the signal, or 0 before it occurs */
	_Atomic uint32_t seen;	 /* a debugger sets it to 1 after inspecting the program */
	uint32_t tid;		 /* the kernel's ID of the thread that got the signal */
	uint64_t places[RADDLE_CRASH_PLACES];
};

/* What a stopped program asks about. */
struct raddle_steer_ask {
	uint32_t slot;		       /* the thread at the point; its slot describes the point */
	uint32_t watch;		       /* position of the watch that requested the stop, or NONE */
	struct raddle_steer_spot spot; /* the watched access, if a watch requested the stop */
};

struct raddle_steer {
	uint32_t version, flags;
	uint32_t thread_count, op_count, goal_count, stop_count;
	uint64_t threads_at, ops_at, slots_at, written_at; /* offsets from the start of this struct */
	uint32_t order; /* the goal (0 or 1) whose thread continues first */
	/* number of operations of the plan that were done; a futex */
	_Alignas(64) _Atomic uint32_t turn;
	_Alignas(64) _Atomic uint32_t phase; /* enum raddle_phase; a futex, also for the replayer */
	_Atomic uint32_t command;	     /* enum raddle_command; a futex */
	_Atomic uint32_t lock;		     /* the runtime's lock for the members below */
	_Atomic uint32_t slot_count;	     /* one more than the highest slot in use */
	_Atomic uint32_t stops_reached;
	_Atomic uint32_t race_count;  /* the number of races found; may exceed RADDLE_STEER_RACES */
	uint32_t keep[2];	      /* threads wait at the second site until one has passed the first */
	_Atomic uint32_t kept;	      /* 1 if a thread has passed the first site of `keep` */
	_Atomic uint32_t edits;	      /* one bit for each edit (base/edit.h) that was reached */
	_Atomic uint32_t assumed;     /* 1 if an assumption of the program was false (annotate.h) */
	_Atomic uint32_t lacked;      /* bits of enum raddle_lack: what the system refused the program */
	_Atomic uint32_t unfit;	      /* enum raddle_unfit: why the runtime ended the run */
	_Atomic uint32_t detect_over; /* 1 if the detector ran out of memory and stopped */
	uint64_t detect_memory;	      /* memory limit of the detector in bytes, or 0 for no limit */
	struct raddle_steer_goal goals[RADDLE_STEER_GOALS];
	struct raddle_steer_spot spots[RADDLE_STEER_GOALS]; /* the accesses at which threads are stopped */
	struct raddle_steer_difference difference;
	struct raddle_steer_race races[RADDLE_STEER_RACES];

	/* Turns. */
	uint64_t watches_at, decisions_at, made_at;
	uint64_t memory_at;	       /* offset of struct raddle_memory, or 0 for no memory model */
	uint64_t seed;		       /* 0 if choices are not random */
	uint64_t length;	       /* for PCT: expected number of choices, or 0 if it is unknown */
	uint32_t strategy, depth;      /* enum raddle_strategy, and the depth of PCT */
	uint32_t passed, next;	       /* the slot that passed the turn on; the replayer's answer, or NONE */
	_Atomic uint32_t thread_added; /* number of threads appended to the table */
	_Atomic uint32_t watch_count, decision_count;
	_Atomic uint32_t past_count;	       /* decisions of the plan that were taken or passed */
	_Atomic uint32_t made_count;	       /* decisions of the run; may exceed RADDLE_STEER_DECISIONS */
	_Alignas(64) _Atomic uint32_t running; /* the slot that has the turn, or NONE, or ASKING */
	_Atomic uint32_t asks, answers;	       /* futexes */
	_Atomic uint32_t met;		       /* 1 if two threads met at their goals */
	_Atomic uint64_t choices;	       /* points at which more than one thread could continue */
	_Atomic uint64_t trail;		       /* a hash of all choices and their outcomes */
	_Atomic uint32_t unsure;	       /* how often real time influenced the run: AWAY points */
	_Atomic uint32_t livelock;	       /* 1 if all runnable threads spin and change nothing */
	_Atomic uint32_t ran_on;	       /* enum raddle_limit: the limit that the run has reached */
	_Atomic uint32_t stuck;		       /* 1 if `running` is NONE, and nothing can change that */
	uint64_t most;	      /* maximum number of points of all threads together; 0 for no limit */
	uint64_t most_yields; /* after so many yields, a lone thread is waiting in vain; 0: never */
	struct raddle_steer_spin spin;
	struct raddle_steer_refusal refusal;
	struct raddle_steer_misuse fault;
	struct raddle_steer_crash crash;
	struct raddle_steer_ask ask;
	struct raddle_freezing freezing;

	/* Pairs of sites.  The upper half of an entry is the site of an access, and the lower half
	 * is that of the next conflicting access by another thread. */
	_Atomic uint32_t pair_count;
	uint64_t pairs[RADDLE_STEER_PAIRS];
	struct raddle_steer_decision marks[RADDLE_STEER_PAIRS]; /* by pair: the last choice before it */

	/* Accesses that matched a watch with `note`, in the order of the run. */
	_Atomic uint32_t seen_count;
	struct raddle_steer_seen seen[RADDLE_STEER_SEEN];
};

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
