/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pool of processes that do tasks.
 * The process that opens the pool leads it.  It hands out tasks and receives their results one by
 * one.  A task is a number whose meaning the leader chooses.  Workers are forked, so they have a
 * copy of the leader's memory as it was at the fork.  They are killed when the leader ends, however
 * it ends.  If a worker dies, its task is lost, and the leader gets an event for the task.  A new
 * worker is started for the next task.
 * A pool belongs to the thread that opened it.
 */
#ifndef BASE_POOL_H
#define BASE_POOL_H

#include "base/buf.h"
#include "base/interrupt.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rd_pool;

struct rd_pool_opts {
	unsigned workers; /* the maximum number of workers at a time */

	/* If true, each task runs in a process of its own, forked when the task is submitted, and
	 * with its own process group.  If false, each worker does one task after another. */
	bool fresh;
	/* If true, each worker has its own process group, which is killed when the worker ends.  If
	 * this and `fresh` are false, workers are in the leader's process group. */
	bool group;

	/* enter(), work() and leave() run in the worker.  `slot` is the worker's number, less than
	 * `workers`.  work() does a task and appends its answer.  If it returns nonzero, the worker
	 * exits with that status and the task is lost.  enter() runs before the first task and
	 * leave() after the last; both may be NULL.  A worker that is killed does not call
	 * leave(). */
	void (*enter)(void *context, unsigned slot);
	int (*work)(void *context, uint64_t task, struct rd_buf *answer);
	void (*leave)(void *context);
	void *context;

	/* A worker knows what the leader knew when the worker was forked.  `brief` runs in the
	 * leader and appends what the worker in this slot has missed since its last task.  `learn`
	 * runs in the worker, before `work`, and receives that text.  If `started` is true, the
	 * worker was forked just now and has missed nothing.  Both may be NULL. */
	void (*brief)(void *context, unsigned slot, bool started, struct rd_buf *text);
	void (*learn)(void *context, const char *text, size_t length);

	/* Signals that the leader has blocked; workers restore the previous signal mask.  NULL if
	 * there are none. */
	const struct rd_interrupt *signals;
};

enum rd_pool_what {
	RD_POOL_IDLE, /* no task ended within the timeout */
	RD_POOL_DONE,
	/* The worker ended without an answer; `status` is its status as from waitpid() */
	RD_POOL_LOST,
};

struct rd_pool_event {
	enum rd_pool_what what;
	uint64_t task;
	const char *answer; /* valid until the next call */
	size_t length;
	int status;
};

/* The functions of the leader's loop. */
struct rd_pool_loop {
	/* Submits tasks as long as the pool has room. */
	int (*give)(void *context);

	/* Handles a task that has ended: RD_POOL_DONE or RD_POOL_LOST. */
	int (*take)(void *context, const struct rd_pool_event *event);

	/* The loop calls is_over() and look() several times a second; both may be NULL.  is_over()
	 * returns true if the loop must stop waiting for tasks.  look() may do other work. */
	bool (*is_over)(void *context);
	void (*look)(void *context);

	/* Signals that end the loop; NULL if there are none.  They must already be blocked. */
	const struct rd_interrupt *signals;
	void *context;
};

void rd_pool_open(struct rd_pool **pool, const struct rd_pool_opts *opts);

/* rd_pool_busy() returns the number of tasks in progress.  rd_pool_has_room() returns true if there
 * is a worker for one more. */
unsigned rd_pool_busy(const struct rd_pool *pool);
bool rd_pool_has_room(const struct rd_pool *pool);

/* Submits a task. rd_pool_has_room() must be true. */
int rd_pool_submit(struct rd_pool *pool, uint64_t task);

/* Waits until a task is over.  With a timeout of -1, waits without limit. */
void rd_pool_next(struct rd_pool *pool, int timeout_ms, struct rd_pool_event *event);

/* Submits tasks and takes results until no task is left, `is_over` returns true, a function fails
 * or a signal arrives. */
int rd_pool_run(struct rd_pool *pool, const struct rd_pool_loop *loop, bool *interrupted);

/* Ends the workers.  Those that do a task are killed; their tasks yield no events. */
void rd_pool_stop(struct rd_pool *pool);

/* Lets idle workers end by themselves, and kills busy ones. */
void rd_pool_close(struct rd_pool *pool);

#endif
