/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside classify/: finds synchronisation that fixes the order of a race's two accesses: a loop
 * that waits for a value, or a lock that the tool that reported the race did not see.
 */
#ifndef CLASSIFY_ADHOC_INT_H
#define CLASSIFY_ADHOC_INT_H

#include "classify/classify.h"
#include "trial/trial.h"

/* What keeps the order, and the schedule that shows it. */
struct adhoc {
	bool found;
	struct trial_obstacle obstacle;
	unsigned goal; /* the goal whose thread is stopped: its access comes first */
	struct schedule schedule;
	struct schedule_goal goals[2];
};

/* Whether the thread of one access cannot reach it while the other thread is stopped before its
 * own.  `tried` is a run in which both threads were led to their accesses. */
int adhoc_apart(struct trial_bench *b, const struct schedule *race, const struct trial *tried,
		struct adhoc *a);

/* For a race whose threads can both be stopped at their accesses: whether one access is the loop
 * that waits for the other. */
int adhoc_flag(struct trial_bench *b, const struct schedule *race, struct adhoc *a);

#endif
