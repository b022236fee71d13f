/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a program that does not move stands still for good, and who waits for whom. */
#ifndef PREDICT_HANG_H
#define PREDICT_HANG_H

#include "finding/finding.h"
#include "model/model.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* What the kernel says about its threads. */
struct predict_sleepers {
	const pid_t *tids; /* those that wait for another one, without a time limit */
	size_t count;
	bool forever; /* there are no others, no signal has a handler, and it has no processes beside it */
	bool apart;   /* no other process can wake one of them */
};

/* The model is that of its trace so far, with histories.  Puts the deadlocks in which the program stands
 * into the set, which is empty before and finished then; or, if the kernel alone shows that it stands, where
 * its threads are.  True if there is anything. */
bool predict_hang(const struct model *model, const struct predict_sleepers *sleepers,
		  struct finding_set *set);

#endif
