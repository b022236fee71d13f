/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A schedule: the order of synchronisation operations that leads to a race or a deadlock, and where
 * the threads are stopped at its end (doc/format/schedule.md).  Its names are the same in every
 * run: canonical names of threads and objects, and operations numbered within their thread.
 *
 * A schedule owns its strings; its records may share them.
 */
#ifndef FINDING_SCHEDULE_H
#define FINDING_SCHEDULE_H

#include "base/alloc.h"
#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SCHEDULE_VERSION 1	  /* of the format */
#define SCHEDULE_VERSION_TURNS 2  /* of schedules with turns */
#define SCHEDULE_VERSION_MEMORY 3 /* of those under a memory model */

/* For messages; file NULL: unknown. */
struct schedule_place {
	const char *file, *function;
	uint32_t line, column;
};

/* An operation, in the order to enforce. */
struct schedule_op {
	const char *thread;
	uint64_t n;	    /* the n-th operation of the thread, from 1 */
	const char *kind;   /* as in event.inc: mutex-lock, thread-create */
	const char *object; /* canonical name; that of the created or joined thread; NULL: no object */
	uint64_t seen;	    /* its number among the operations of the recorded run, from 1; 0: unknown */
	struct schedule_place place;
};

/* A thread that is stopped before its operation n + 1. */
struct schedule_limit {
	const char *thread;
	uint64_t n;
};

/* A goal: the thread is to be stopped before an access.  It is the `occurrence`-th access (from 1)
 * at `site` after the `after`-th operation of the thread. */
struct schedule_goal {
	const char *thread;
	uint64_t after, occurrence;
	uint32_t site; /* of the site table; 0: find it by place */
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

/* Accesses at which a thread may lose the turn. */
struct schedule_watch {
	const char *thread;  /* NULL: any */
	uint64_t after;	     /* only after this many operations of the thread; SCHEDULE_ALWAYS: always */
	uint64_t occurrence; /* only this one of the matching accesses, from 1; 0: each */
	uint32_t site;	     /* of the site table; 0: find it by place, or any if there is no place */
	bool reads, writes;
	const char *object; /* the variable; NULL: any */
	struct schedule_place place;

	/* For a stopped program; not in files. */
	uint64_t address, bytes; /* in its memory; 0 bytes: any */
	bool stand;		 /* the program stops there, */
	bool once;		 /* but only at a thread's first access after each of its operations */
};
#define SCHEDULE_ALWAYS UINT64_MAX

/* Which thread runs after a point of a thread. */
struct schedule_decision {
	const char *thread;
	uint64_t n;	   /* operations that it has begun */
	const char *point; /* a name of schedule_point() */
	uint32_t count;	   /* its number among the points of that name after operation n, from 1 */
	const char *next;  /* the thread that runs next */
	struct schedule_place place;
};

/* An access whose bytes obey the memory model from this access on. */
struct schedule_track {
	uint32_t site; /* of the site table; 0: find it by place */
	bool write;
	struct schedule_place place;
};

/* A choice that the memory model left open and that differs from sequential consistency. */
struct schedule_choice {
	uint64_t at;	    /* its number among all choices, from 1 */
	uint32_t from;	    /* number of alternatives */
	uint32_t taken;	    /* from 0 */
	const char *thread; /* for messages: the thread and place of the choice; NULL: unknown */
	struct schedule_place place;
};

struct schedule {
	const char *finding; /* id */
	const char *program;
	const char *trace; /* the recorded run it was predicted from */
	bool speculative;  /* predicted without regard to values */
	bool anywhere;	   /* no thread is led: any threads may meet at the goals */
	bool nowhere;	   /* with turns: the threads reach the goals one after another, in any order */
	bool handed;	   /* threads of the program release locks that other threads acquired */
	const char *front; /* with turns: the led thread that runs whenever it can; NULL: either */
	const char *input; /* its input, as lines (base/override.h); NULL: that of the recorded run */
	const char *edits; /* of the program, as lines (base/edit.h); NULL: no edits */
	uint32_t keep[2];  /* sites: a thread at the second waits for one at the first; 0: none
			    */
	struct schedule_op *ops;
	struct schedule_limit *limits;
	struct schedule_goal *goals; /* two for a race */
	struct schedule_stop *stops; /* for a deadlock, one for each thread of the cycle */

	/* Turns. */
	bool turns;	     /* one thread runs at a time, and the following members decide which */
	bool notes;	     /* a fatal signal records its position; not in the file */
	bool looks;	     /* the program stops at operations and at watches that ask for it, even while
				decisions remain; not in files */
	const char *first;   /* the thread of a goal that runs first; NULL: that of the first goal */
	uint64_t seed;	     /* 0: no seed */
	const char *flavour; /* the flavour whose points it names; NULL: any */
	struct schedule_watch *watches;
	struct schedule_decision *decisions;
	const char *memory;   /* the memory model (schedule_memory()); NULL: no model is enforced */
	uint64_t memory_seed; /* for choices after the last one; 0: no seed */
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
const char *schedule_text(struct schedule *s, const char *text); /* a copy; NULL stays NULL */

/* Whether the text can name a thread or a kind: letters, digits, - and _. */
bool schedule_is_word(const char *text);

/* New records at the end, zeroed except that `after` of a watch is SCHEDULE_ALWAYS.  Valid until
 * the next one of their kind. */
struct schedule_op *schedule_add_op(struct schedule *s);
struct schedule_limit *schedule_add_limit(struct schedule *s);
struct schedule_goal *schedule_add_goal(struct schedule *s);
struct schedule_stop *schedule_add_stop(struct schedule *s);
struct schedule_watch *schedule_add_watch(struct schedule *s);
struct schedule_decision *schedule_add_decision(struct schedule *s);
struct schedule_track *schedule_add_track(struct schedule *s);
struct schedule_choice *schedule_add_choice(struct schedule *s);

/* The memory models, in the order of enum raddle_memory_model: "sc", "tso", "pso", "weak",
 * "coherent".  Returns the number of a name, or -1. */
int schedule_memory(const char *name);

/* The kinds of points, in the order of enum raddle_point: "op", "wait", ...  The first function
 * returns the name of a number, or NULL; the second the number of a name, or -1. */
const char *schedule_point_name(unsigned number);
int schedule_point(const char *name);

int schedule_version(const struct schedule *s); /* of the file that can contain it */

/* Appends the file's text to `out`. */
void schedule_format(const struct schedule *s, struct rd_buf *out);
int schedule_write(const struct schedule *s, const char *path);

/* Parses into a released or fresh schedule.  Release it even after a failure.  `name` is for
 * messages. */
int schedule_parse(struct schedule *s, const void *data, size_t length, const char *name);
int schedule_read(struct schedule *s, const char *path);

/* Whether the records are consistent: for example, the operations of a thread ascend, and limits,
 * goals and stops come after them.  Returns NULL, or what is wrong. */
const char *schedule_check(const struct schedule *s);

#endif
