/* SPDX-License-Identifier: Apache-2.0 */
/* Inside sketch/: what decides about stories.  story.c makes the runs. */
#ifndef SKETCH_STORY_INT_H
#define SKETCH_STORY_INT_H

#include "finding/finding.h"
#include "sketch/run.h"
#include "sketch/turns-int.h"

/* Words of memory that a story is about.  Chosen by hand: each one is a watch. */
#define STORY_ADDRESSES 6

struct story_memory {
	uint64_t addresses[STORY_ADDRESSES];
	size_t count;
};

/* Returns true if the line is one at which the finding has an access, waits or fails. */
bool story_is_place(const struct finding *f, const char *file, uint32_t line);

/* Adds the addresses of the last events at the places of the finding. */
void story_learn(struct story_memory *m, const struct finding *f, const struct sketch_runs *runs,
		 const struct sketch_run *run);

/* Stores the last events about this memory as steps of the finding, and then the steps at which the
 * program fails or waits forever.  `names` has the names of the threads by number. */
void story_steps(const struct story_memory *memory, const struct sketch_runs *runs,
		 const struct sketch_run *run, const char *const *names, struct finding_set *set,
		 struct finding *f);

#endif
