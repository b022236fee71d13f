/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside replay/: the slots of a steered program at one moment.  The slots are copied, since the
 * program keeps writing them, and checked, since it may write anything.
 */
#ifndef REPLAY_BOARD_INT_H
#define REPLAY_BOARD_INT_H

#include "base/buf.h"
#include "raddle/steer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A thread; its position on the board is its number. */
struct board_row {
	uint32_t state;		/* enum raddle_slot_state; UNUSED: no such thread */
	uint32_t thread;	/* of the plan, or RADDLE_STEER_NONE */
	uint32_t parent, index; /* parent of thread 0: RADDLE_STEER_NONE */
	uint32_t tid, kind, site;
	uint64_t n, object, accesses;
	bool timed;	       /* BLOCKED: the wait has a time limit */
	bool own;	       /* blocked in the kernel on descriptors where only this process can wake it */
	uint64_t ran;	       /* RUNS: grows while it is on a processor */
	uint64_t user, system; /* RUNS: ticks in user and kernel mode */
	uint64_t *held;	       /* addresses, lowest bit set for a shared hold; 0: free entry */
	uint32_t held_count;
	bool ready; /* turns: it is runnable */
	uint64_t point_n;
	uint32_t point, point_count; /* point: enum raddle_point */
	uint32_t arrivals, touched;  /* points so far; site of its last access */
};

struct board {
	struct board_row *rows;
	size_t count, capacity;
	uint32_t phase, turn, stops_reached;
	uint32_t running; /* the number of the thread that has the turn; RADDLE_STEER_NONE, ASKING */
	bool strangers;	  /* the process has threads without a row */
	bool others;	  /* forked processes of it are alive */
	bool handed;	  /* its threads release locks that others took */
	bool catches;	  /* it has signal handlers, which may post semaphores */
	bool livelocked;  /* all runnable threads spin, according to the runtime */
	bool ran_on;	  /* they have reached the limit of points, and are stopped */
	bool idle;	  /* threads take turns, and none is runnable, */
	bool stuck;	  /* nor can any become runnable by itself, according to the runtime */
	bool one;	  /* all its threads run on one kernel thread, */
	bool held_up;	  /* which waits in the kernel, so that no thread can run; /proc reports that */
	bool left;	  /* a thread deviated from the plan, and no thread is stopped any more */
};

/* Copies the slots of a steering memory.  Nothing in it is trusted, not even where its slots
 * are. */
void board_read(struct board *b, struct raddle_steer *steer, struct raddle_slot *slots);
void board_release(struct board *b);

/* Fills in `ran`, `user`, `system`, `strangers`, `catches` and `held_up` from /proc. */
void board_ask_kernel(struct board *b, pid_t pid);

/* Whether a thread of the process is running or runnable. */
bool board_is_on_cpu(pid_t pid, uint32_t tid);

/* Appends T_0_1. */
void board_name(const struct board *b, uint32_t number, struct rd_buf *out);

/* The thread of the plan at that position, or NULL if it does not exist yet. */
const struct board_row *board_of_plan(const struct board *b, uint32_t position);

static inline bool board_is_alive(const struct board_row *r)
{
	return r->state != RADDLE_SLOT_UNUSED && r->state != RADDLE_SLOT_ENDED;
}

/* How far all threads together have come, in points.  BOARD_EXTENT_ACCESSES accesses are worth one
 * point; the other constant is the number of points that a thread is worth.  The same schedule
 * always gives the same extent, however fast it runs.  Judgements: an access is much cheaper than a
 * point, and starting a thread is more expensive. */
#define BOARD_EXTENT_ACCESSES 1000
#define BOARD_EXTENT_THREAD 20
uint64_t board_extent(const struct board *b);

/* Whether any operation, or any step of the plan, has happened since. */
bool board_has_moved(const struct board *b, const struct board *before);

#endif
