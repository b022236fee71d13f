/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside replay/: the slots of a steered program at one moment.  Each slot describes the state of
 * a thread.  The slots are copied, since the program keeps writing them.  They are also checked,
 * since the program may write anything.
 */
#ifndef REPLAY_BOARD_INT_H
#define REPLAY_BOARD_INT_H

#include "base/buf.h"
#include "raddle/steer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A thread.  Its index on the board is the thread's number. */
struct board_row {
	uint32_t state;		/* enum raddle_slot_state; UNUSED if there is no such thread */
	uint32_t thread;	/* index in the plan, or RADDLE_STEER_NONE */
	uint32_t parent, index; /* `parent` of thread 0 is RADDLE_STEER_NONE */
	uint32_t tid, kind, site;
	uint64_t n, object, accesses, yields, slept;
	bool timed; /* in BLOCKED: the wait has a time limit */
	/* the thread waits for something that only a thread of its own process can do */
	bool own;
	bool futex;	       /* `own` is set, and the thread waits for a futex of a library */
	uint64_t ran;	       /* in RUNS: a counter that grows while the thread computes */
	uint64_t user, system; /* in RUNS: processor time in user and kernel mode, in ticks */
	/* addresses of held locks, with the lowest bit set if shared; 0 in a free entry */
	uint64_t *held;
	uint32_t held_count;
	bool ready; /* with turns: the thread is runnable */
	uint64_t point_n;
	uint32_t point, point_count; /* `point` is an enum raddle_point */
	uint32_t arrivals, touched;  /* number of points so far, and site of the thread's last access */
};

struct board {
	struct board_row *rows;
	size_t count, capacity;
	uint32_t phase, turn, stops_reached;
	/* the number of the thread that has the turn, or RADDLE_STEER_NONE or _ASKING */
	uint32_t running;
	bool strangers; /* the process has threads without a row */
	bool others;	/* processes that the program forked are alive */
	/* some threads of the program release locks that other threads took */
	bool handed;
	bool catches;	 /* the program has signal handlers, which may post semaphores */
	bool livelocked; /* all runnable threads spin, according to the runtime */
	/* the limit at which the runtime stopped all threads for good, or NONE */
	enum raddle_limit ran_on;
	bool idle; /* threads take turns, and no thread is runnable */
	/* `idle` is set, and according to the runtime no thread can become runnable by itself */
	bool stuck;
	bool one;     /* all threads of the program run on one kernel thread */
	bool held_up; /* `one` is set, and according to /proc the kernel thread waits in the kernel */
	long held_in; /* 1 plus the number of the system call in which the kernel thread waits, or 0 */
	bool left;    /* a thread has diverged from the plan, and no thread is stopped any more */
};

/* Copies the slots from the memory that the steered program shares with the tool.  The program may
 * have changed anything in this memory, even the offset of the slots, so the caller passes their
 * address. */
void board_read(struct board *b, struct raddle_steer *steer, struct raddle_slot *slots);
void board_release(struct board *b);

/* Fills in `ran`, `user`, `system`, `strangers`, `catches` and `held_up` from /proc. */
void board_ask_kernel(struct board *b, pid_t pid);

/* Returns true if a thread of the process is running or runnable. */
bool board_is_on_cpu(pid_t pid, uint32_t tid);

/* Appends the name of a thread, such as T_0_1. */
void board_name(const struct board *b, uint32_t number, struct rd_buf *out);

/* Returns the thread that has this index in the plan, or NULL if it does not exist yet. */
const struct board_row *board_of_plan(const struct board *b, uint32_t position);

static inline bool board_is_alive(const struct board_row *r)
{
	return r->state != RADDLE_SLOT_UNUSED && r->state != RADDLE_SLOT_ENDED;
}

/* Returns the extent of a run: how much all threads together have done, in points.
 * BOARD_EXTENT_ACCESSES accesses count as one point, and a thread counts as BOARD_EXTENT_THREAD
 * points.  The same schedule always has the same extent, however fast it runs.  The values were
 * chosen by hand: an access is much cheaper than a point, and starting a thread is more
 * expensive. */
#define BOARD_EXTENT_ACCESSES 1000
#define BOARD_EXTENT_THREAD 20
uint64_t board_extent(const struct board *b);

/* Returns true if a thread has done an operation, or the plan has advanced, since the board
 * `before`. */
bool board_has_moved(const struct board *b, const struct board *before);

#endif
