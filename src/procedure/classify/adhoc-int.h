/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside classify/: finds synchronisation that fixes the order of a race's two accesses.  For
 * instance, a thread may wait in a loop for a value that the other thread writes.  In other cases
 * a lock orders the accesses, but the tool that reported the race did not see the lock.
 */
#ifndef CLASSIFY_ADHOC_INT_H
#define CLASSIFY_ADHOC_INT_H

#include "classify/classify.h"
#include "trial/trial.h"

/* The synchronisation that fixes the order, and a schedule that shows it. */
struct adhoc {
	bool found;
	/* True if the other thread skips its access, instead of waiting, as long as this thread
	 * has not made its own access.  In that case `obstacle` is empty. */
	bool passes;
	struct trial_obstacle obstacle;
	unsigned goal; /* the goal whose thread is stopped; its access comes first */
	struct schedule schedule;
	struct schedule_goal goals[2];
};

/* Finds out whether one thread cannot reach its access while the other thread is stopped before
 * its own access.  `tried` is a run in which both threads were led to their accesses. */
int adhoc_apart(struct trial_bench *b, const struct schedule *race, const struct trial *tried,
		struct adhoc *a);

/* Finds out whether one of the two accesses is in a loop that waits for the other access.  Used for
 * races whose threads can both be stopped at their accesses. */
int adhoc_flag(struct trial_bench *b, const struct schedule *race, struct adhoc *a);

/* The number of schedules that are tried.  Each of them must show that the thread goes on without
 * its access.  There are three schedules with the operations of the prediction, and three without.
 * In each group of three, one schedule prefers no thread, one prefers the first thread, and one
 * prefers the second. */
enum { ADHOC_WAYS = 6 };

/* Finds out whether one thread skips its access as long as the other thread has not made its own.
 * Used for races whose threads cannot be stopped at their accesses at the same time. */
int adhoc_passes(struct trial_bench *b, const struct schedule *race, struct adhoc *a);

#endif
