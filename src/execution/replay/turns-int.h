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
	struct rd_arena *arena; /* of the result */
	int err;		/* the first failure to extend the plan */
};

/* Whether the program waits for an answer.  A board read after that shows all stopped threads. */
bool turns_is_asked(const struct turns *t);

/* Answers a program that is stopped and asks; false: it does not ask.  The board must be read after
 * the question.  After a failure the program is released and `err` is set. */
bool turns_answer(struct turns *t, const struct board *b, pid_t pid);

/* Stores the decisions that were made. */
void turns_result(const struct turns *t, const struct board *b, struct replay_turns *out);

/* Stores the choices of the memory model. */
void turns_memory_result(const struct turns *t, const struct board *b, struct replay_memory *out);

/* Copies a spot that the program reported, and the name of its thread. */
void turns_copy_spot(struct rd_arena *arena, const struct board *b, const struct raddle_steer_spot *from,
		     struct replay_spot *to);

#endif
