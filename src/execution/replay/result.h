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
	/* for a race, both threads were stopped at their accesses; for a deadlock, its threads wait
	 * in it */
	REPLAY_CONFIRMED,
	REPLAY_DIVERGED, /* the program did something that is not in the schedule */
	REPLAY_DEADLOCK, /* a different deadlock happened first */
	REPLAY_LIVELOCK, /* a thread runs without end while another one is stopped */
	REPLAY_CRASHED,	 /* a signal ended the program before the finding happened */
	REPLAY_ENDED,	 /* the program ended before the finding happened */
	REPLAY_STUCK,	 /* the program made no progress, for an unknown reason */
	REPLAY_STOPPED,	 /* the user interrupted the replay */
	REPLAY_OUTCOMES,
};

/* How the program ended, whatever had been observed by then. */
enum replay_end {
	REPLAY_EXITED,	   /* `status` is its exit status */
	REPLAY_SIGNALLED,  /* `status` is the signal, which Raddle did not send */
	REPLAY_DEADLOCKED, /* Raddle killed the program: `waits` are its deadlocked threads */
	/* Raddle killed the program: all runnable threads spun, and none of them changed
	 * anything */
	REPLAY_LIVELOCKED,
	REPLAY_HUNG,   /* Raddle killed the program: it made no progress, for an unknown reason */
	REPLAY_RAN_ON, /* Raddle killed the program at a limit, or because it left a strict schedule */
};

/* The limit at which a run was ended (REPLAY_RAN_ON). */
enum replay_limit {
	REPLAY_LIMIT_NONE,
	REPLAY_LIMIT_TIME,     /* the time that a run may take */
	REPLAY_LIMIT_POINTS,   /* the number of points that all threads may reach */
	REPLAY_LIMIT_SCHEDULE, /* the run left its schedule, which is strict */
	REPLAY_LIMIT_OUTSIDE,  /* the threads waited for a signal from outside that did not come */
};

/* A thread that is stopped at an access. */
struct replay_spot {
	const char *thread; /* T_0_1 */
	uint32_t tid;	    /* the kernel's thread ID */
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
	const char *kind; /* kind of the operation, as in raddle/event.inc */
	uint64_t n;	  /* the number of the operation */
	uint64_t object;  /* address of the object; for a join, the number of the thread */
	const char *name; /* name of the object: a variable, T_0_1, or 0x7f... */
	/* the thread that owns the object, or NULL if it has no single owner */
	const char *waits_on;
	uint32_t site;
	bool planned; /* the thread is stopped where the schedule stops it */
	bool core;    /* the thread is part of the cause; if false, it only waits for the others */
	struct replay_held *held;
	size_t held_count;
};

/* Two accesses between which the detector saw no order. */
struct replay_race {
	const char *thread[2];
	uint32_t site[2];
	bool write[2], atomic[2];
	bool planned; /* they are the accesses of the schedule */
	uint64_t address, size;
};

/* What kept a thread from its goal, which is the access at which the replay wants to stop it.  The
 * thread waits for a value in a loop, for a lock that another thread holds, or for a notification
 * that another thread must give. */
struct replay_obstacle {
	/* the thread that did not reach its goal, or NULL if no obstacle is known */
	const char *thread;
	const char *kind;	/* kind of the operation in which it waits, or NULL if it spins */
	const char *name;	/* name of the variable or lock, or NULL if unknown */
	const char *owner;	/* the thread that holds the lock, or NULL if no single thread does */
	uint32_t site;		/* the site at which the thread waits */
	uint64_t address, size; /* location of the variable */
	/* the thread continued when the value changed, or when stopped threads were released */
	bool lifted;
	/* for a spin: the goal whose thread is stopped before an access to that memory, or -1 */
	int goal;
};

/* an access beyond the end of a block of the heap, or before its beginning */
#define REPLAY_OVERRUN "heap overrun"

/* an access beyond the end of a variable or array, or before its beginning */
#define REPLAY_OUTSIDE "access out of bounds"

/* A misuse of memory, or a failed predicate, that ended the program. */
struct replay_fault {
	/* "use after free", "double free", REPLAY_OVERRUN, REPLAY_OUTSIDE, or how a predicate failed;
	 * NULL if there was no fault */
	const char *what;
	const char *thread;		 /* the thread that caused the fault */
	const char *freed;		 /* the thread that had freed the memory, or NULL if unknown */
	const char *place, *freed_place; /* "a.c:12", "an unknown place" */
	const char *predicate;		 /* text of the predicate that failed; NULL for the heap */
};

/* A moment of a run: the number of decisions taken so far, and the last choice of a thread, which
 * may have been the default choice. */
struct replay_mark {
	size_t made;
	struct schedule_decision last;
};

/* A run whose threads took turns. */
struct replay_turns {
	/* The decisions that differ from the default, in the form in which the program wrote them.
	 * There may be tens of thousands, and few runs are exported, so only replay_export()
	 * converts them. */
	const struct raddle_steer_decision *made;
	size_t made_count;
	const char **names; /* names of the threads, by slot */
	uint32_t name_count;
	const struct trace_sites *sites;
	bool complete; /* `made` contains all such decisions */
	/* accesses that matched a watch with `note`, in the order of the run */
	const struct raddle_steer_seen *seen;
	size_t seen_count;
	struct replay_mark *marks;     /* by pair of conflicting sites: when the pair was first seen */
	struct replay_weight *threads; /* how many points each thread reached */
	size_t thread_count;
	const char *runner;	 /* the thread that had the turn at the end, or NULL */
	uint32_t runner_site;	 /* site of the runner's last access, or 0 if unknown */
	uint64_t extent;	 /* how much the threads did (replay/board-int.h) */
	uint64_t choices;	 /* number of points with more than one runnable thread */
	uint64_t trail;		 /* a hash of all choices: equal trails are equal schedules */
	uint64_t taken, planned; /* number of decisions of the schedule: taken, and in total */
	/* how often real time influenced the run, because the thread that had the turn did not
	 * reach a point */
	uint64_t unsure;
	/* a sentence that states how the run left the schedule, or NULL if it did not */
	const char *strayed;
	bool early; /* the run ended before all decisions were reached */
};

/* The program's use of replayed input from outside (replay/world-int.h). */
struct replay_outside {
	bool given;		    /* input was replayed */
	uint64_t arrived, arrivals; /* number of inputs delivered, and recorded */
	/* number of inputs delivered before the program had sent as much as in the recorded run */
	uint64_t hurried;
	/* number of connections that were made or accepted, and number of those on which the
	 * program sent the same bytes as in the recorded run */
	uint64_t connections, same;
	const char *lack; /* a sentence about input that was missing and may matter, or NULL */
	const char *sent; /* everything sent, connection by connection */
	size_t sent_length;
	uint64_t digest; /* a digest of `sent` */
	bool cut;	 /* `sent` is truncated */
	/* after all input, the runtime raised the signal that ended the recorded run */
	bool ended;
};

/* Output that the program sends neither to a standard stream nor over a connection: a file that it
 * opened for writing, or a datagram. */
struct replay_written {
	bool file;
	const char *name; /* the path of the file, or the address of the receiver */
	uint64_t from;	  /* the bytes of the file before this offset do not come from the run */
	const char *sent; /* the content of the datagram */
	size_t sent_length;
};

/* The effects of a memory model. */
struct replay_memory {
	const struct raddle_choice *made; /* the recorded choices; all of them in an exploration */
	size_t made_count;
	struct schedule_choice *chosen; /* choices that are not sequentially consistent */
	size_t chosen_count;
	bool complete;	  /* `chosen` contains all such choices */
	uint64_t choices; /* total number of choices of the model */
	/* a sentence that states how the run left the choices of the schedule, or NULL */
	const char *strayed;
	const char *over; /* a sentence that states why the model was abandoned, or NULL */
	/* untracked stores that other threads may see late */
	const struct raddle_published *published;
	size_t published_count;
};

/* Returns the name of the thread that holds the lock for which this thread waits.  Returns NULL if
 * no single thread holds it, or if this thread waits in a join. */
const char *replay_wait_holder(const struct replay_wait *w);

struct replay_result {
	enum replay_outcome outcome;
	enum replay_end end;
	int status;
	/* a sentence that states why the finding was not confirmed, or which threads were where */
	const char *explanation;
	uint64_t done, planned; /* number of operations of the schedule: done, and in total */
	struct replay_spot spots[RADDLE_STEER_GOALS];
	size_t spot_count;	   /* 2 once the threads of a race met */
	struct replay_wait *waits; /* an observed deadlock, planned or not */
	size_t wait_count;
	/* for a race: the name of a thread that passed its goal without making the access, while
	 * the other thread had not yet made its own access; otherwise NULL */
	const char *passed;
	/* for a race: the threads did not meet, and no system call was the cause */
	bool observable;
	bool assumed;	/* an assumption of the program was false, so the run is ignored */
	bool in_memory; /* for a race: a spin on memory kept the threads apart */
	/* the first RADDLE_STEER_RACES races, including that of the schedule */
	struct replay_race *races;
	size_t race_count;
	uint64_t races_seen;
	/* pairs of conflicting sites that followed each other, encoded as in steer.h, if
	 * requested */
	const uint64_t *pairs;
	size_t pair_count;
	bool unordered; /* one of `races` is planned */
	/* a sentence about a racy read that may make the next run differ, or NULL */
	const char *chance;
	/* the sites of the racy read and of the write with which it races */
	uint32_t chance_read, chance_write;
	/* enum raddle_unfit: why the program needs kernel threads; 0 if it does not */
	unsigned unfit;
	/* If the run was ended because the only kernel thread was blocked in a system call, 1 plus
	 * the number of this call; otherwise 0. */
	long held_in;
	bool called_off;	 /* set by the caller: the companion has ended, so the program got SIGTERM */
	enum replay_limit limit; /* the limit at which the run was ended, or NONE */
	unsigned lacked;	 /* bits of enum raddle_lack: what the system refused the program */
	bool detect_over;	 /* the detector ran out of memory and saw only a part of the run */
	uint32_t edits;		 /* one bit for each edit of the schedule that was reached */
	struct replay_obstacle obstacle;
	struct replay_fault fault;
	uint64_t crash_places[RADDLE_CRASH_PLACES]; /* where a fatal signal occurred (raddle/crash.h) */
	int crash_signal; /* the fatal signal, while a debugger inspects the program; else 0 */
	uint32_t crash_tid;
	const char *crash_thread;
	struct replay_turns turns;
	struct replay_outside outside;
	struct replay_written *written; /* in the order in which it happened */
	size_t written_count;
	bool written_lost; /* `written` is incomplete */
	struct replay_memory memory;
	/* addresses of `order` and `command` (raddle/steer.h) in the program, for a debugger that
	 * releases the threads; 0 if unknown */
	uint64_t order_at, command_at;
	/* `met_seconds` is the time from the start until the threads met */
	double wall_seconds, met_seconds, cpu_seconds;
	struct rd_arena *arena; /* owns everything above */
};

#endif
