/* SPDX-License-Identifier: Apache-2.0 */
/* Inside replay/: the replayer's side of schedules with turns (raddle/steer.h, "Turns"). */
#ifndef REPLAY_TURNS_INT_H
#define REPLAY_TURNS_INT_H

#include "replay/board-int.h"
#include "replay/plan.h"
#include "replay/replay.h"

struct turns {
	const struct replay_request *request;
	struct plan *plan;
	struct raddle_steer *steer;
	struct rd_arena *arena; /* the arena of the result */
	uint64_t memory_at;	/* offset of struct raddle_memory in the steering memory */
	int err;		/* the error of the first failure to extend the plan, or 0 */
};

/* Returns true if the program has stopped and waits for an answer.  If the board, which describes
 * the threads, is read after this call, it shows all stopped threads. */
bool turns_is_asked(const struct turns *t);

/* Answers a program that is stopped and asks how to continue.  Returns false if the program does
 * not ask.  The board must be read after turns_is_asked().  After a failure the program is released
 * and `err` is set. */
bool turns_answer(struct turns *t, const struct board *b, pid_t pid);

/* Stores the decisions that were made in the run. */
void turns_result(const struct turns *t, const struct board *b, struct replay_turns *out);

/* Stores the choices of the memory model. */
void turns_memory_result(const struct turns *t, const struct board *b, struct replay_memory *out);

/* Copies a spot that the program reported, and the name of its thread. */
void turns_copy_spot(struct rd_arena *arena, const struct board *b, const struct raddle_steer_spot *from,
		     struct replay_spot *to);

#endif
