/* SPDX-License-Identifier: Apache-2.0 */
/* Decides whether a program that makes no progress is stuck forever, and finds which thread waits
 * for which. */
#ifndef PREDICT_HANG_H
#define PREDICT_HANG_H

#include "finding/finding.h"
#include "model/model.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* The state of the program's threads in the kernel. */
struct predict_sleepers {
	const pid_t *tids; /* the threads that wait for another thread without a time limit */
	size_t count;
	/* True if there are no threads except those in `tids`, no signal handlers and no child
	 * processes. */
	bool forever;
	bool apart; /* no other process can wake one of these threads */
};

/* Decides whether the program hangs.  `model` is the model of what was recorded, with histories.
 * Adds the deadlocks of the program to `set`, which must be empty, and finishes the set.  If only
 * the state of the threads in the kernel shows that the program hangs, adds the positions of the
 * threads.  Returns true if anything was added. */
bool predict_hang(const struct model *model, const struct predict_sleepers *sleepers,
		  struct finding_set *set);

#endif
