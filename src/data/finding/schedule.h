/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A schedule is an order of synchronisation operations that leads to a race or a deadlock.  It also
 * states where each thread is stopped when the schedule ends (doc/format/schedule.md).  Threads and
 * objects have canonical names, and operations are numbered within their thread, so a schedule is
 * valid in every run.
 *
 * A schedule owns its strings, which its records may share.
 */
#ifndef FINDING_SCHEDULE_H
#define FINDING_SCHEDULE_H

#include "base/alloc.h"
#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SCHEDULE_VERSION 1	  /* version of the format */
#define SCHEDULE_VERSION_TURNS 2  /* version of schedules with turns */
#define SCHEDULE_VERSION_MEMORY 3 /* version of schedules with a memory model */
#define SCHEDULE_VERSION_AGAIN 4  /* version of schedules with goals whose occurrence is 0 */

/* A place in the source, for messages.  `file` is NULL if it is unknown. */
struct schedule_place {
	const char *file, *function;
	uint32_t line, column;
};

/* An operation.  The operations of a schedule are listed in the order in which they must happen. */
struct schedule_op {
	const char *thread;
	uint64_t n;	  /* number of the operation in its thread, from 1 */
	const char *kind; /* as in event.inc, such as mutex-lock or thread-create */
	/* The canonical name of the object, or of the created or joined thread.  NULL if there is
	 * none. */
	const char *object;
	/* The operation's number among all operations of the recorded run, from 1; 0 if unknown. */
	uint64_t seen;
	struct schedule_place place;
};

/* A thread that is stopped before its operation n + 1. */
struct schedule_limit {
	const char *thread;
	uint64_t n;
};

/* A goal is an access before which a thread is to be stopped.  It is the thread's access number
 * `occurrence`, from 1, at `site` after the thread's operation number `after`. */
struct schedule_goal {
	const char *thread;
	uint64_t after, occurrence;
	/* A number of the site table.  If it is 0, the site is found by place.  Without a place,
	 * every access of the thread counts, even one that does not conflict with the access of
	 * the other goal (schedule_is_any()). */
	uint32_t site;
	bool write;
	const char *object;
	struct schedule_place place;
};

/* A thread that waits forever in its n-th operation. */
struct schedule_stop {
	const char *thread;
	uint64_t n;
	const char *kind, *object;
	struct schedule_place place;
};

/* A watch selects accesses at which a thread may lose the turn. */
struct schedule_watch {
	const char *thread; /* NULL for any thread */
	/* The watch is active after this number of operations, or always if it is
	 * SCHEDULE_ALWAYS. */
	uint64_t after;
	uint64_t occurrence; /* the number of the matching access, from 1; 0 for all */
	/* A number of the site table.  If it is 0, the site is found by place.  Without a place,
	 * any site matches. */
	uint32_t site;
	bool reads, writes;
	const char *object; /* name of the variable; NULL for any */
	struct schedule_place place;

	/* The following members are for a stopped program.  They are not written to files. */
	uint64_t address, bytes; /* range in its memory; 0 bytes for any memory */
	bool stand;		 /* true if the program is to be stopped at such an access */
	/* True if, after each operation of a thread, the program is stopped only at the thread's
	 * first access that the watch selects. */
	bool once;
	/* with `stand`: such an access is noted for the results of the run instead of stopping the program */
	bool note;
};
#define SCHEDULE_ALWAYS UINT64_MAX

/* A decision about which thread runs after a thread has reached a point. */
struct schedule_decision {
	const char *thread;
	uint64_t n;	   /* number of operations that the thread has begun */
	const char *point; /* kind of the point (schedule_point_name()) */
	uint32_t count;	   /* its number among the points of that kind after operation n, from 1 */
	const char *next;  /* the thread that runs next */
	struct schedule_place place;
};

/* An access.  From this access on, the bytes that it touches obey the memory model. */
struct schedule_track {
	uint32_t site; /* a number of the site table; 0 to find it by place */
	bool write;
	struct schedule_place place;
};

/* A choice that the memory model left open, and in which this run differs from sequential
 * consistency. */
struct schedule_choice {
	uint64_t at;	    /* number of the choice among all choices, from 1 */
	uint32_t from;	    /* number of alternatives */
	uint32_t taken;	    /* the alternative that was taken, from 0 */
	const char *thread; /* the thread that made the choice, for messages; NULL if unknown */
	struct schedule_place place;
};

struct schedule {
	const char *finding; /* id of the finding */
	const char *program;
	const char *trace; /* path of the trace from which it was predicted */
	bool speculative;  /* some read may return another value than in the recorded run */
	bool anywhere;	   /* no thread is led: any threads may meet at the goals */
	/* With turns, the threads reach the goals one after the other, in either order. */
	bool nowhere;
	bool handed; /* threads of the program release locks that other threads acquired */
	/* The thread to prefer if threads take turns: one of the two threads with goals, which
	 * then runs whenever it can.  NULL if neither is preferred. */
	const char *front;
	/* The input of the program, as lines (base/override.h), or NULL for the input of the
	 * recorded run. */
	const char *input;
	/* Edits of the program, one per line (base/edit.h); NULL if there are none. */
	const char *edits;
	/* Two sites, or zeros if there are none.  A thread that reaches the second site waits
	 * until some thread has been at the first one. */
	uint32_t keep[2];
	struct schedule_op *ops;
	struct schedule_limit *limits;
	struct schedule_goal *goals; /* a race has two */
	struct schedule_stop *stops; /* for a deadlock, one for each thread of the cycle */

	/* The following members are for schedules with turns. */
	bool turns; /* one thread runs at a time; the following members decide which */
	/* True if the place of a fatal signal is to be recorded; not written to files. */
	bool notes;
	/* True if the program is to be stopped at operations, and at watches that request it, even
	 * while decisions remain.  Not written to files. */
	bool looks;
	/* The thread that continues first when both threads have reached their goals, or NULL if
	 * the schedule leaves this open. */
	const char *first;
	uint64_t seed;	     /* seed of random choices; 0 if the default rule chooses */
	const char *flavour; /* the flavour whose points it names; NULL for any */
	struct schedule_watch *watches;
	struct schedule_decision *decisions;
	const char *memory; /* the memory model (schedule_memory()); NULL if none is enforced */
	/* The seed for the memory model's choices after the last choice that is listed.  If it is
	 * 0, these choices are those of sequential consistency. */
	uint64_t memory_seed;
	struct schedule_track *tracks;
	struct schedule_choice *choices;
	size_t track_count, track_capacity;
	size_t choice_count, choice_capacity;
	size_t watch_count, watch_capacity;
	size_t decision_count, decision_capacity;

	size_t op_count, op_capacity;
	size_t limit_count, limit_capacity;
	size_t goal_count, goal_capacity;
	size_t stop_count, stop_capacity;
	struct rd_arena *arena;
};

void schedule_init(struct schedule *s);
void schedule_release(struct schedule *s);
const char *schedule_text(struct schedule *s, const char *text); /* returns a copy; NULL for NULL */

/* Makes a copy that owns its strings, as if `from` had been written to a file and read again.
 * Members that are not written to files are not copied.  `to` must be new or released. */
void schedule_copy(struct schedule *to, const struct schedule *from);

/* Returns true if the text can be the name of a thread or a kind, that is, if it consists of
 * letters, digits, - and _. */
bool schedule_is_word(const char *text);

/* Each of these functions appends a record and returns it.  The record is zeroed, except that `after`
 * of a watch is SCHEDULE_ALWAYS.  It is valid until the next record of its kind is added. */
struct schedule_op *schedule_add_op(struct schedule *s);
struct schedule_limit *schedule_add_limit(struct schedule *s);
struct schedule_goal *schedule_add_goal(struct schedule *s);
struct schedule_stop *schedule_add_stop(struct schedule *s);
struct schedule_watch *schedule_add_watch(struct schedule *s);
struct schedule_decision *schedule_add_decision(struct schedule *s);
struct schedule_track *schedule_add_track(struct schedule *s);
struct schedule_choice *schedule_add_choice(struct schedule *s);

/* Returns the number of a memory model in enum raddle_memory_model, or -1 if there is no such name.
 * The names are "sc", "tso", "pso", "weak" and "coherent". */
int schedule_memory(const char *name);

/* Returns the name of a kind of point, such as "op" or "wait".  `number` is its number in enum
 * raddle_point.  Returns NULL if there is no such kind. */
const char *schedule_point_name(unsigned number);
/* Returns the number of the kind of point with that name, or -1 if there is no such kind. */
int schedule_point(const char *name);

/* Returns the oldest version of the format that can contain the schedule. */
int schedule_version(const struct schedule *s);

void schedule_format(const struct schedule *s, struct rd_buf *out);
int schedule_write(const struct schedule *s, const char *path);

/* Parses a text into a released or new schedule.  The caller must release it even after a failure.
 * `name` is used in messages. */
int schedule_parse(struct schedule *s, const void *data, size_t length, const char *name);
int schedule_read(struct schedule *s, const char *path);

/* Checks that the records are consistent.  For example, the operations of a thread must ascend, and
 * limits, goals and stops must come after them.  Returns NULL if they are, or else a text that
 * states what is wrong. */
const char *schedule_check(const struct schedule *s);

/* Returns true if every access of the thread counts for the goal, whatever its site is. */
bool schedule_is_any(const struct schedule_goal *g);

#endif
