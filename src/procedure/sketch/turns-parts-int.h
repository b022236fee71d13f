/* SPDX-License-Identifier: Apache-2.0 */
/* Inside sketch/: a run in progress whose threads take turns.  turns.c starts it; the functions
 * below decide what its stops mean and which thread runs next.  They start no program, so tests
 * call them with made-up stops.
 */
#ifndef SKETCH_TURNS_PARTS_INT_H
#define SKETCH_TURNS_PARTS_INT_H

#include "sketch/turns-int.h"
#include "sketch/stack-int.h"

#define TURNS_THREADS 256 /* threads that are followed, the first ones; a judgement: bounds memory */
#define TURNS_NONE UINT32_MAX

/* What a thread is about to do; statement TURNS_NONE: nothing that is tracked. */
struct turns_pending {
	uint32_t statement, second; /* second: the write of an atomic update */
	uint64_t address, value;
	uint8_t size;
	uint64_t length;   /* of a range of memory that is freed or accessed as a whole; 0: not a range */
	uint64_t n;	   /* of an operation: its number, so that it becomes only one event */
	uint32_t arrivals; /* points that the thread had reached when it was stopped there */
	bool inside;	   /* it has done the first of three statements and not the last */
	bool did_first, did_second;
};

/* Event number `at` is about this range of memory. */
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
	uint32_t last; /* the thread that was stopped last; in the end, the one that had the turn */
	const char *names[TURNS_THREADS];
	struct stack_code code;
	struct turns_range *ranges;
	size_t range_count, range_capacity;
};

/* At the beginning no thread is about to do anything.  The caller sets the other members. */
void turns_init(struct turns_now *now);

/* The program is stopped.  Records what the stopped thread has done since its last stop, and what
 * it is about to do.  *next becomes the thread that runs next, chosen by turns_choose(). */
void turns_stopped(struct turns_now *now, const struct replay_stand *stand, const char **next);

/* The run has ended.  `failed`: the thread `last` did what it was about to do.  `deadlocked`: all
 * threads wait in what they were about to do. */
void turns_finish(struct turns_now *now, bool failed, bool deadlocked);

/* Sets now->failure, unless the run passed or does not count. */
void turns_describe(struct turns_now *now, const struct replay_result *r);

/* The number of the thread with that name; if there is none, the thread that was stopped last. */
uint32_t turns_thread(const struct turns_now *now, const char *name);

/* The thread that has to run next so that the order happens, or does not happen; NULL: the schedule
 * decides. */
const char *turns_choose(struct turns_now *now, const struct replay_stand *stand);

/* Call this when the thread has executed the statement. */
void turns_did(struct turns_now *now, uint32_t thread, uint32_t statement);

#endif
