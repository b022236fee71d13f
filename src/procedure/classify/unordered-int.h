/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside classify/: finds other accesses that are unordered in only one order of a race.  For
 * example, the race decides which lock a thread takes.  In one order of the race, both threads
 * take the same lock.  In the other order they take different locks, so their critical sections
 * may overlap.
 *
 * Runs that switch threads only at synchronisation operations do not show this effect, because no
 * switch happens inside a critical section.  So in further runs, a thread stops at one of these
 * accesses (switched.c).  The code of this header runs no program.
 */
#ifndef CLASSIFY_UNORDERED_INT_H
#define CLASSIFY_UNORDERED_INT_H

#include "finding/schedule.h"
#include "replay/result.h"

#include <stdbool.h>

/* The orders of a race: the access of the first goal comes first, or that of the second goal. */
enum { UNORDERED_ORDERS = 2 };

/* What the detector found in runs of both orders.  It is all zero at first. */
struct unordered {
	uint64_t *pairs[UNORDERED_ORDERS]; /* pairs of sites; the upper half is the lower site */
	size_t count[UNORDERED_ORDERS], capacity[UNORDERED_ORDERS];
};

/* Notes the races of a run, except the one that the run was led to. */
void unordered_note(struct unordered *u, unsigned order, const struct replay_result *run);
void unordered_clear(struct unordered *u);
void unordered_release(struct unordered *u);

/* Replaces the watches of the schedule by the sites of races that were found in only one order. */
void unordered_watch(const struct unordered *u, struct schedule *watches);

#endif
