/* SPDX-License-Identifier: Apache-2.0 */
/* Inside sketch/: a run in progress whose threads take turns. turns.c starts the run.  The
 * functions below interpret its stops and choose the thread that runs next.  They start no program,
 * so tests can call them with made-up stops. */
#ifndef SKETCH_TURNS_PARTS_INT_H
#define SKETCH_TURNS_PARTS_INT_H

#include "sketch/turns-int.h"
#include "sketch/stack-int.h"

#define TURNS_NONE UINT32_MAX

/* What a thread is about to do.  `statement` is TURNS_NONE if the thread is not about to do
 * anything that is tracked. */
struct turns_pending {
	uint32_t statement, second; /* `second` is the write of an atomic update */
	uint64_t address, value;
	uint8_t size;
	/* For freed memory, or a range that is accessed as a whole: its size in bytes.  0 for an
	 * ordinary access. */
	uint64_t length;
	uint64_t n; /* for an operation: its number, by which it is made only one event */
	/* Number of points that the thread had reached when it was stopped before this
	 * statement. */
	uint32_t arrivals;
	bool inside; /* the thread has executed the first of three statements and not the last */
	bool did_first, did_second;
};

/* The range of memory of event number `at`. */
struct turns_range {
	size_t at;
	uint64_t address, length;
};

struct turns_now {
	struct sketch_turns *turns;
	struct turns_order order;
	struct sketch_run *run;
	struct trial *trial;
	struct sketch_failure *failure;
	struct turns_pending threads[TURNS_THREADS];
	uint64_t seed;
	/* The thread that was stopped last; at the end of the run, the thread that had the turn. */
	uint32_t last;
	const char *names[TURNS_THREADS];
	struct stack_code code;
	struct turns_range *ranges;
	size_t range_count, range_capacity;
};

/* Initialises a run in which no thread is about to do anything.  The caller sets the other
 * members. */
void turns_init(struct turns_now *now);

/* Call this whenever the program is stopped.  Records what the stopped thread has done since it
 * was last stopped, and what it is about to do.  Stores in *next the thread that runs next, as
 * chosen by turns_choose(). */
void turns_stopped(struct turns_now *now, const struct replay_stand *stand, const char **next);

/* Call this at the end of the run.  If `failed` is set, the thread `last` has done what it was
 * about to do.  If `deadlocked` is set, each thread waits in the operation that it was about to
 * do. */
void turns_finish(struct turns_now *now, bool failed, bool deadlocked);

/* Sets now->failure, unless the run passed or does not count. */
void turns_describe(struct turns_now *now, const struct replay_result *r);

/* Returns the number of the thread with that name.  If there is none, returns the thread that was
 * stopped last. */
uint32_t turns_thread(const struct turns_now *now, const char *name);

/* Returns the name of the thread that has to run next so that the order is forced or prevented.
 * Returns NULL if the schedule decides which thread runs next. */
const char *turns_choose(struct turns_now *now, const struct replay_stand *stand);

/* Records that the thread has executed the statement.  The next choices of turns_choose() may
 * depend on that. */
void turns_did(struct turns_now *now, uint32_t thread, uint32_t statement);

#endif
