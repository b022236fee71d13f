/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside classify/: finds synchronisation that fixes the order of a race's two accesses.  For
 * instance, a thread may wait in a loop for a value that the other thread writes.  Or a lock may
 * order the accesses, although the tool that reported the race did not see the lock.
 */
#ifndef CLASSIFY_ADHOC_INT_H
#define CLASSIFY_ADHOC_INT_H

#include "classify/classify.h"
#include "trial/trial.h"

/* The synchronisation that fixes the order, and a schedule that shows it. */
struct adhoc {
	bool found;
	/* The other thread does not wait: as long as this thread has not made its access, the other
	 * one goes on without its own.  Then `obstacle` is empty. */
	bool passes;
	struct trial_obstacle obstacle;
	unsigned goal; /* the goal whose thread is stopped; its access comes first */
	struct schedule schedule;
	struct schedule_goal goals[2];
};

/* Finds out whether one thread is unable to reach its access as long as the other thread is stopped
 * before its own access.  `tried` is a run in which both threads were led to their accesses. */
int adhoc_apart(struct trial_bench *b, const struct schedule *race, const struct trial *tried,
		struct adhoc *a);

/* Finds out whether one of the two accesses is in a loop that waits for the other access.  Used for
 * races whose threads can both be stopped at their accesses. */
int adhoc_flag(struct trial_bench *b, const struct schedule *race, struct adhoc *a);

/* Number of schedules of which each must show that the thread goes on without its access: with the
 * operations of the prediction and without them, each with no thread preferred and with either
 * thread preferred. */
enum { ADHOC_WAYS = 6 };

/* Finds out whether one thread goes on without its access as long as the other thread has not made
 * its own.  Used for races whose threads cannot be stopped at their accesses at the same time. */
int adhoc_passes(struct trial_bench *b, const struct schedule *race, struct adhoc *a);

#endif
