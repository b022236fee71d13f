/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pool of processes that do tasks.
 *
 * The process that opens the pool leads it: it gives out tasks, which are numbers that mean something to it,
 * and hears about their ends one by one.  Workers are forked, so they know what the leader knew then.  They
 * die with the leader, however that comes about.  A worker that dies costs the task it had, which the leader
 * hears about; the next task gets a new worker.
 *
 * A pool belongs to the thread that opened it.
 */
#ifndef BASE_POOL_H
#define BASE_POOL_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rd_pool;

struct rd_pool_opts {
	unsigned workers; /* at a time */

	/* Each task has a process of its own, which knows what the leader knows when it gives the task, in a
	 * process group of its own, which is killed as a whole when the task is over.  Otherwise a process
	 * does one task after the other, in our group. */
	bool fresh;

	/* All in the worker, whose number is `slot`, below `workers`.  `work` does a task and adds its
	 * answer; if it does not return 0 the worker ends with that exit status, and the task is lost.
	 * `enter` and `leave` come before the first and after the last one, and may be NULL; a worker that
	 * is killed does not leave. */
	void (*enter)(void *context, unsigned slot);
	int (*work)(void *context, uint64_t task, struct rd_buf *answer);
	void (*leave)(void *context);
	void *context;
};

enum rd_pool_what {
	RD_POOL_IDLE, /* nothing has ended in the time given */
	RD_POOL_DONE,
	RD_POOL_LOST, /* its worker ended without an answer; `status` is that of waitpid() */
};

struct rd_pool_event {
	enum rd_pool_what what;
	uint64_t task;
	const char *answer; /* valid until the next call */
	size_t length;
	int status;
};

void rd_pool_open(struct rd_pool **pool, const struct rd_pool_opts *opts);

/* How many tasks are under way, and whether there is a worker for one more. */
unsigned rd_pool_busy(const struct rd_pool *pool);
bool rd_pool_has_room(const struct rd_pool *pool);

/* There must be room. */
int rd_pool_give(struct rd_pool *pool, uint64_t task);

/* Waits until a task is over; -1: as long as that takes. */
void rd_pool_next(struct rd_pool *pool, int timeout_ms, struct rd_pool_event *event);

/* Kills the workers; nothing is heard of their tasks. */
void rd_pool_stop(struct rd_pool *pool);

/* Lets idle workers leave, and kills those that are busy. */
void rd_pool_close(struct rd_pool *pool);

#endif
