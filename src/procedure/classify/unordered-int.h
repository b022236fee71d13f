/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside classify/: other accesses that only one order of a race leaves unordered.  For example, a
 * race decides which lock a thread takes.  In one order both threads take the same lock, in the other
 * order different ones, so that their critical sections may overlap.  Runs whose points are operations
 * do not show what happens then, because a thread keeps the turn inside its critical section.  So in
 * further runs a thread stops at one of these accesses (switched.c).  This part runs no program.
 */
#ifndef CLASSIFY_UNORDERED_INT_H
#define CLASSIFY_UNORDERED_INT_H

#include "finding/schedule.h"
#include "replay/result.h"

#include <stdbool.h>

/* The orders of a race: the access of the first goal comes first, or that of the second. */
enum { UNORDERED_ORDERS = 2 };

/* What the detector found in runs of both orders.  It is all zero at first. */
struct unordered {
	uint64_t *pairs[UNORDERED_ORDERS]; /* pairs of sites, the lower one in the upper half */
	size_t count[UNORDERED_ORDERS], capacity[UNORDERED_ORDERS];
};

/* Notes the races of a run, except the one that the run was led to. */
void unordered_note(struct unordered *u, unsigned order, const struct replay_result *run);
void unordered_clear(struct unordered *u);
void unordered_release(struct unordered *u);

/* Replaces the watches of the schedule by the sites of the races that were found in one order only. */
void unordered_watch(const struct unordered *u, struct schedule *watches);

#endif
