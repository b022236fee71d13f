/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside replay/: the state of one replay, which run.c, result.c and obstacle.c share.
 */
#ifndef REPLAY_RUN_INT_H
#define REPLAY_RUN_INT_H

#include "replay/replay.h"
#include "replay/turns-int.h"
#include "replay/watch-int.h"
#include "run/clock.h"
#include "run/session.h"

#include <stdbool.h>
#include <stdint.h>

struct replay {
	const struct replay_request *request;
	struct replay_result *result;
	struct plan plan;
	struct run_session session;
	struct replay_world *world; /* replayed input from outside, or NULL */
	struct record_collector *collector;
	struct raddle_steer *steer;
	struct raddle_slot *slots;
	struct watch watch;
	struct turns turns;
	struct board board;	/* memory for the next board */
	struct run_clock clock; /* the clock of the program */
	/* `started_ns` is the real time at which the program was started; `met_ns` is the real time
	 * from then until the threads met or, if they have not met, until the last look */
	int64_t started_ns, met_ns;
	bool gave_up, stays, killed; /* `killed`: the replayer ended the run */
	bool gone;		     /* the replayer killed the process */
	bool looked;		     /* the board was read at least once */
	size_t threads;		     /* number of threads of the plan when it was written */
	/* the ID of the process, if it is frozen so that copies can be made; else 0 */
	pid_t frozen;
	bool copied;	     /* the run is a copy of a frozen program */
	bool lives;	     /* the run has ended, but the copy may make further runs */
	const char *refused; /* name of the lock that a thread failed to take, or NULL if unknown */
	/* The slot of the thread that must do the next step of the plan, if that thread is blocked
	 * and only stopped threads can end its wait.  Otherwise NONE. */
	uint32_t waiter;
	uint64_t waiter_n; /* the number of that thread's operation */
	unsigned first;
	uint32_t reported; /* number of operations reported to `progress` */
};

/* Moves the text to the result, which owns the copy. */
const char *replay_keep(struct replay *r, struct rd_buf *text);
const char *replay_thread_name(struct replay *r, const struct board *b, uint32_t number);

void replay_report_progress(struct replay *r, uint32_t done);

/* Copies the threads that met.  Call this while the program is alive. */
void replay_copy_spots(struct replay *r, const struct board *b);

/* written.c */
struct raddle_written;
void replay_copy_written(const struct raddle_written *w, struct replay_result *result);

/* Copies the threads that can never continue.  Call this while the program is alive. */
void replay_copy_waits(struct replay *r, const struct board *b);

/* Fills the result.  Call this after the program has ended.  `status` is its wait status. */
int replay_fill_result(struct replay *r, int status);

/* These functions find what kept a thread from its goal (obstacle.c).  The first two need a program
 * that is alive. */
void obstacle_note_block(struct replay *r, const struct board *b);
void obstacle_name_refused(struct replay *r, const struct board *b);
void obstacle_note_lifted(struct replay *r, const struct board *b);
void obstacle_note_refusal(struct replay *r, const struct board *b);
void obstacle_note_spin(struct replay *r, const struct board *b);
void obstacle_note_passed(struct replay *r, const struct board *b);

#endif
