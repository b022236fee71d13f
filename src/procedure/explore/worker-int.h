/* SPDX-License-Identifier: Apache-2.0 */
/* Inside explore/: a process that makes runs for an exploration and writes a note about each. */
#ifndef EXPLORE_WORKER_INT_H
#define EXPLORE_WORKER_INT_H

#include "explore/state-int.h"
#include "trial/judge.h"

struct explore_worker {
	/* what the exploration knows, as far as this process was told */
	struct explore_state *state;
	struct rd_arena *arena;
	struct trial trial;
	struct note note; /* the note of the last run */
	struct judge judge;
	enum draw_points points;
	struct cover cover, recordable; /* pairs that this process has put into notes already */
	/* when the last run showed the pairs of its note */
	struct replay_mark *marks;
	uint32_t mark_count;
	int err; /* the error of the judge, or 0 */
};

/* Runs a schedule and fills worker->note; `made` may be NULL. */
int worker_run(struct explore_worker *w, struct trial_bench *b, const struct schedule *s,
	       struct schedule *made);

/* Plans and runs schedule `number`, and appends its note to the answer. */
int worker_run_number(struct explore_worker *w, struct trial_bench *b, uint64_t number,
		      struct rd_buf *answer);

void worker_release(struct explore_worker *w);

#endif
