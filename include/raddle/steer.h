/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steering: the memory through which `raddle replay` leads a run of a program to
 * a race or a deadlock and learns what happened (doc/format/schedule.md says what
 * a schedule means).
 *
 * It lies behind the buffers of the session (session.h: steer_offset, 0 for a run
 * that is only recorded) and belongs to the first process; what that forks runs
 * free.  The replayer fills the plan before the program starts.  From then on the
 * program writes everything but `command`, and the replayer only looks.
 *
 *   struct raddle_steer
 *   struct raddle_steer_thread   thread_count of them, thread 0 first
 *   struct raddle_steer_op       op_count of them, those of a thread together, n ascending
 *   struct raddle_slot           RADDLE_SLOTS of them, by thread number; sparse
 *
 * The life of a run (`phase`, a futex):
 *   LEADING   operations wait for their turn, threads stop at limits, holds and stops
 *   MET       race: two threads stand at overlapping accesses, one of them a write;
 *             deadlock: all stops are reached and let go into their operations;
 *             order: all operations were done
 *   DIVERGED  the plan cannot be kept: `difference` says why; nobody is held any more
 *   RUNS_FREE nobody is held any more
 * LEADING -> MET -> RUNS_FREE, or LEADING -> DIVERGED.  Out of MET leads `command`, or the
 * runtime itself unless RADDLE_STEER_STAY is set.  The replayer ends LEADING from
 * outside with RADDLE_COMMAND_GIVE_UP when it sees that nothing moves any more.
 */
#ifndef RADDLE_STEER_H
#define RADDLE_STEER_H

#include <stdatomic.h>
#include <stdint.h>

#define RADDLE_STEER_VERSION 2
#define RADDLE_STEER_NONE UINT32_MAX
#define RADDLE_SLOTS 4096      /* threads by number; later ones have no slot and run free */
#define RADDLE_SLOT_HELD 1008  /* locks a slot lists; `held_count` goes on counting */
#define RADDLE_STEER_FRAMES 64 /* innermost call sites of a stack that is reported */
#define RADDLE_STEER_RACES 256
#define RADDLE_STEER_HOLDS 2

enum raddle_phase { RADDLE_LEADING, RADDLE_MET, RADDLE_DIVERGED, RADDLE_RUNS_FREE };

enum raddle_command {
	RADDLE_COMMAND_NONE,
	RADDLE_COMMAND_GO,	/* out of MET: let them go, hold `order` first */
	RADDLE_COMMAND_GIVE_UP, /* out of LEADING: nobody is held any more */
};

enum raddle_steer_flags {
	RADDLE_STEER_STAY = 1,	 /* stand in MET until the command comes */
	RADDLE_STEER_DETECT = 2, /* look for unordered accesses (rt/detect/detect.c) */
	RADDLE_STEER_ORDER = 4,	 /* nobody is to stand anywhere: MET when the last operation was done */
	RADDLE_STEER_ANYWHERE =
		8, /* no thread is led; whoever comes to a hold's site stands there for a while */
};

/* Why the plan cannot be kept. */
enum raddle_cause {
	RADDLE_CAUSE_NONE,
	RADDLE_CAUSE_KIND,   /* the thread's n-th operation is of another kind */
	RADDLE_CAUSE_PAST,   /* the thread has gone past its hold: the access did not come */
	RADDLE_CAUSE_APART,  /* both came, but touch different memory, or both only read */
	RADDLE_CAUSE_ENDED,  /* the thread ended before it came where it should stand */
	RADDLE_CAUSE_GIVE_UP /* the replayer said so */
};

/* What a thread is doing. */
enum raddle_slot_state {
	RADDLE_SLOT_UNUSED,
	RADDLE_SLOT_RUNS,
	RADDLE_SLOT_GATE,    /* waits for its turn */
	RADDLE_SLOT_LIMIT,   /* stands at its limit */
	RADDLE_SLOT_HOLD,    /* stands at its access */
	RADDLE_SLOT_STOP,    /* stands before the operation it is to stop in */
	RADDLE_SLOT_BLOCKED, /* waits in an operation of the program */
	RADDLE_SLOT_ENDED,
};

/* A thread that the schedule names.  It is the `index`-th creation of `parent`. */
struct raddle_steer_thread {
	uint32_t parent, index; /* parent: position in this table; NONE for the initial thread */
	uint32_t first, count;	/* its operations */
	uint64_t limit;		/* no operation past this one until LEADING is over; UINT64_MAX: none */
	uint32_t hold, stop;	/* position in `holds`; 1 if it has a stop; NONE: none */
	uint64_t stop_n;	/* the operation it is to stop in */
	uint32_t stop_kind;	/* enum raddle_event */
	uint32_t unused;
};

struct raddle_steer_op {
	uint64_t n;
	uint32_t kind; /* enum raddle_event */
	uint32_t turn; /* position in the whole order, from 0 */
};

/* A thread to hold at the `occurrence`-th record of `site` after operation `after`. */
struct raddle_steer_hold {
	uint64_t after, occurrence;
	uint32_t thread; /* position in the table */
	uint32_t site;
	uint32_t write;
	uint32_t unused;
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
	/* Addresses of locks it holds; the lowest bit is set for a shared hold.  0: passed over. */
	_Atomic uint64_t held[RADDLE_SLOT_HELD];
	_Atomic uint32_t timed; /* BLOCKED: the wait ends by itself */
	uint32_t unused[15];
};

struct raddle_steer {
	uint32_t version, flags;
	uint32_t thread_count, op_count, hold_count, stop_count;
	uint64_t threads_at, ops_at, slots_at; /* offsets from the start of this struct */
	uint32_t order;			       /* which hold goes first */
	_Alignas(64) _Atomic uint32_t turn;    /* operations of the plan done; a futex */
	_Alignas(64) _Atomic uint32_t phase;   /* enum raddle_phase; a futex, also for the replayer */
	_Atomic uint32_t command;	       /* enum raddle_command; a futex */
	_Atomic uint32_t lock;		       /* the runtime's, for what follows */
	_Atomic uint32_t slot_count;	       /* one more than the highest slot in use */
	_Atomic uint32_t stops_reached;
	_Atomic uint32_t race_count;  /* may exceed RADDLE_STEER_RACES */
	_Atomic uint32_t detect_over; /* 1: the detector had no memory and looks no more */
	uint64_t detect_memory;	      /* how many bytes it may use; 0: as many as there are */
	struct raddle_steer_hold holds[RADDLE_STEER_HOLDS];
	struct raddle_steer_spot spots[RADDLE_STEER_HOLDS]; /* who stands at the holds */
	struct raddle_steer_difference difference;
	struct raddle_steer_race races[RADDLE_STEER_RACES];
};

static inline struct raddle_steer_thread *raddle_steer_threads(struct raddle_steer *s)
{
	return (struct raddle_steer_thread *)((char *)s + s->threads_at);
}

static inline struct raddle_steer_op *raddle_steer_ops(struct raddle_steer *s)
{
	return (struct raddle_steer_op *)((char *)s + s->ops_at);
}

static inline struct raddle_slot *raddle_steer_slots(struct raddle_steer *s)
{
	return (struct raddle_slot *)((char *)s + s->slots_at);
}

#endif
