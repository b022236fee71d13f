/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A schedule: the order of synchronisation operations that leads to a race or a
 * deadlock, and where the threads stand then (doc/format/schedule.md).  What it
 * names survives from run to run: threads and objects by their canonical names,
 * operations by their number within the thread.
 *
 * A schedule owns its strings; they may be shared between its records.
 */
#ifndef FINDING_SCHEDULE_H
#define FINDING_SCHEDULE_H

#include "base/alloc.h"
#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SCHEDULE_VERSION 1
#define SCHEDULE_VERSION_TURNS 2  /* of schedules that go on */
#define SCHEDULE_VERSION_MEMORY 3 /* of those under a memory model */

/* For people; file NULL: unknown. */
struct schedule_place {
	const char *file, *function;
	uint32_t line, column;
};

/* An operation, in the order to enforce. */
struct schedule_op {
	const char *thread;
	uint64_t n;	    /* the n-th operation of the thread, from 1 */
	const char *kind;   /* as in event.inc: mutex-lock, thread-create */
	const char *object; /* canonical name; that of the thread created or joined; NULL: none */
	uint64_t seen;	    /* which operation of the recorded run, from 1; 0: unknown */
	struct schedule_place place;
};

/* A thread that must stay behind: it does no operation past its n-th. */
struct schedule_limit {
	const char *thread;
	uint64_t n;
};

/* A goal: a thread is to stand before an access: the `occurrence`-th (from 1) at `site` after the
 * `after`-th operation of the thread. */
struct schedule_goal {
	const char *thread;
	uint64_t after, occurrence;
	uint32_t site; /* of the site table; 0: find it by place */
	bool write;
	const char *object;
	struct schedule_place place;
};

/* A thread that waits for ever in its n-th operation. */
struct schedule_stop {
	const char *thread;
	uint64_t n;
	const char *kind, *object;
	struct schedule_place place;
};

/* Accesses at which a thread may lose the turn. */
struct schedule_watch {
	const char *thread;  /* NULL: any */
	uint64_t after;	     /* only behind so many operations of the thread; SCHEDULE_ALWAYS */
	uint64_t occurrence; /* only that one of those that fit, from 1; 0: each */
	uint32_t site;	     /* of the site table; 0: find it by place, or any if there is none */
	bool reads, writes;
	const char *object; /* the variable; NULL: any */
	struct schedule_place place;

	/* Of a program that stands; not in files. */
	uint64_t address, bytes; /* in its memory; 0 bytes: anywhere */
	bool stand;		 /* the program stands there, */
	bool once;		 /* but only at the first of a thread behind each of its operations */
};
#define SCHEDULE_ALWAYS UINT64_MAX

/* Who goes on at a point of a thread. */
struct schedule_decision {
	const char *thread;
	uint64_t n;	   /* operations that it has begun */
	const char *point; /* a name of schedule_point() */
	uint32_t count;	   /* among the points of that name behind operation n, from 1 */
	const char *next;  /* the thread that goes on */
	struct schedule_place place;
};

/* An access whose bytes obey the memory model, from then on. */
struct schedule_track {
	uint32_t site; /* of the site table; 0: find it by place */
	bool write;
	struct schedule_place place;
};

/* A choice that the memory model left open, which is not the one of sequential consistency. */
struct schedule_choice {
	uint64_t at;	    /* which of all choices, from 1 */
	uint32_t from;	    /* so many alternatives there are */
	uint32_t taken;	    /* from 0 */
	const char *thread; /* for people: who asked, where; NULL: unknown */
	struct schedule_place place;
};

struct schedule {
	const char *finding; /* id */
	const char *program;
	const char *trace; /* the recorded run it was predicted from */
	bool speculative;  /* predicted without regard to values */
	bool anywhere;	   /* nobody is led: threads are to meet at the goals, whoever they are */
	bool nowhere;	   /* with turns: they come to the goals one after the other, without an order */
	bool handed;	   /* threads of the program give back locks that others took */
	const char
		*front; /* with turns: of the threads that are led, the one that goes on first; NULL: any */
	const char *input; /* that it is for, as lines (base/override.h); NULL: that of the recorded run */
	const char *edits; /* of the program it is for, as lines (base/edit.h); NULL: none */
	uint32_t keep[2]; /* sites: who comes to the second waits until somebody is past the first; 0: none */
	struct schedule_op *ops;
	struct schedule_limit *limits;
	struct schedule_goal *goals; /* two for a race */
	struct schedule_stop *stops; /* for a deadlock, one for each thread of the cycle */

	/* Going on. */
	bool turns; /* one thread runs at a time, and what follows decides which */
	bool notes; /* a fatal signal leaves a note where it came; not in the file */
	bool looks; /* the program stands at operations and where a watch says so, also while decisions are
		       left; not in files */
	const char *first;   /* the thread of a goal that goes first; NULL: that of the first goal */
	uint64_t seed;	     /* 0: none */
	const char *flavour; /* that it was made with, whose points it names; NULL: any will do */
	struct schedule_watch *watches;
	struct schedule_decision *decisions;
	const char *memory;   /* the model that memory obeys (schedule_memory()); NULL: none */
	uint64_t memory_seed; /* for choices behind the last one; 0: none */
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

/* New records at the end, zeroed; valid until the next one of their kind. */
struct schedule_op *schedule_add_op(struct schedule *s);
struct schedule_limit *schedule_add_limit(struct schedule *s);
struct schedule_goal *schedule_add_goal(struct schedule *s);
struct schedule_stop *schedule_add_stop(struct schedule *s);
struct schedule_watch *schedule_add_watch(struct schedule *s);
struct schedule_decision *schedule_add_decision(struct schedule *s);
struct schedule_track *schedule_add_track(struct schedule *s);
struct schedule_choice *schedule_add_choice(struct schedule *s);

/* The memory models, in the order of enum raddle_memory_model: "sc", "tso", "pso", "weak", "coherent".  The
 * name of a number, NULL: there is none; the number of a name, -1: there is none. */
const char *schedule_memory_name(unsigned number);
int schedule_memory(const char *name);

/* The kinds of points, in the order of enum raddle_point: "op", "wait", ...  The name of a number, NULL:
 * there is none; the number of a name, -1: there is none. */
const char *schedule_point_name(unsigned number);
int schedule_point(const char *name);

int schedule_version(const struct schedule *s); /* of the file that says it */

/* Appends the file's text to `out`. */
void schedule_format(const struct schedule *s, struct rd_buf *out);
int schedule_write(const struct schedule *s, const char *path);

/* Into a released or fresh schedule, which is to be released also after a
 * failure.  `name` is for messages. */
int schedule_parse(struct schedule *s, const void *data, size_t length, const char *name);
int schedule_read(struct schedule *s, const char *path);

/* Whether the numbers make sense: operations of a thread ascend, limits, goals
 * and stops lie after them.  NULL, or what is wrong. */
const char *schedule_check(const struct schedule *s);

#endif
