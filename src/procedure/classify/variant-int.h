/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside classify/: variants of a run, which differ in how the run continues after the race.  A
 * variant and its twin differ in only one thing: which of the two accesses comes first.
 */
#ifndef CLASSIFY_VARIANT_INT_H
#define CLASSIFY_VARIANT_INT_H

#include "finding/schedule.h"

enum variant_group {
	VARIANT_FIRST,	 /* the access of the first goal comes first */
	VARIANT_SECOND,	 /* the access of the second goal comes first */
	VARIANT_CONTROL, /* no thread is stopped at its access; only operations are led */
	VARIANT_GROUPS,
	/* both threads are led to the race, but their accesses are kept apart: one thread makes its
	 * access and runs on to its next operation before the other thread makes its access */
	VARIANT_APART = VARIANT_GROUPS,
};

/* A schedule to run.  It borrows memory from the schedule of the race, which must live at least as
 * long.  It need not be released. */
struct variant {
	struct schedule schedule;
	struct schedule_decision decisions[2];
};

/* Makes variant `number`, counted from 0.  The first three have no seed.  In variant 0, one of the
 * two threads continues after both accesses; in variant 1, the other thread does.  In variant 2,
 * the first thread continues even before the other thread's access.  Later variants have seeds. */
void variant_make(struct variant *v, const struct schedule *race, enum variant_group group, unsigned number);

/* Makes run `number` of the group VARIANT_APART.  Runs 2 * n and 2 * n + 1 both have the seed of
 * variant n and differ in which thread comes first. */
void variant_make_apart(struct variant *v, const struct schedule *race, unsigned number);

#endif
