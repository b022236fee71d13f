/* SPDX-License-Identifier: Apache-2.0 */
/* Inside replay/: schedules that go on, seen from the replayer (raddle/steer.h, "Turns"). */
#ifndef REPLAY_TURNS_H
#define REPLAY_TURNS_H

#include "replay/board.h"
#include "replay/plan.h"
#include "replay/replay.h"

struct turns {
	const struct replay_request *request;
	struct plan *plan;
	struct raddle_steer *steer;
	struct rd_arena *arena; /* of the result */
	int err;		/* the plan could not be extended: the first failure */
};

/* Whether the program waits for an answer.  Who then reads the board sees all that stand. */
bool turns_is_asked(const struct turns *t);

/* Answers a program that stands and asks; false: it does not.  The board was read behind the question.  After
 * a failure the program is let go and `err` says so. */
bool turns_answer(struct turns *t, const struct board *b, pid_t pid);

/* What was decided. */
void turns_draw_up(const struct turns *t, const struct board *b, struct replay_turns *out);

/* What was chosen where memory obeyed a model. */
void turns_draw_memory(const struct turns *t, const struct board *b, struct replay_memory *out);

/* Copies what the program says of a spot, and the name of its thread. */
void turns_copy_spot(struct rd_arena *arena, const struct board *b, const struct raddle_steer_spot *from,
		     struct replay_spot *to);

#endif
