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
	/* counterparts of the runs of experiments: each takes the decisions of such a run, but
	 * makes the two accesses in the other order, or one of them earlier */
	VARIANT_COUNTERPART = VARIANT_GROUPS,
	/* runs in which one access comes between accesses of the other thread */
	VARIANT_BETWEEN,
};

/* A schedule to run.  It uses memory of the schedule of the race, which must live at least as
 * long.  It need not be released. */
struct variant {
	struct schedule schedule;
	struct schedule_decision decisions[2];
	struct schedule_goal goals[2];
};

/* Makes variant `number`, counted from 0.  The first three have no seed.  In variant 0, one of the
 * two threads continues after both accesses; in variant 1, the other thread does.  In variant 2,
 * the first thread continues even before the other thread's access.  Later variants have seeds. */
void variant_make(struct variant *v, const struct schedule *race, enum variant_group group, unsigned number);

/* Returns true if the second thread lags in this variant: it stays stopped before its access while
 * the first thread continues.  Then twins differ in more than the order of the two accesses. */
bool variant_lags(size_t number);

/* The maximum number of decisions that a counterpart has in addition to those of its run. */
enum { VARIANT_ROOM = 3 };

/* Makes the counterpart of a run that variant_make() made for one of the first two groups.  `made`
 * is the schedule of the run with all its decisions.  The counterpart takes the same decisions, but
 * the accesses come in the other order, so the two runs differ in one thing.  `decisions` has room
 * for all decisions of `made` and VARIANT_ROOM more, and must live as long as the result. */
struct schedule variant_counterpart(const struct schedule *made, struct schedule_decision *decisions);

/* Makes a run in which one access comes between accesses of the other thread (VARIANT_BETWEEN).
 * The access is that of goal number `moved`.  Its thread comes to the access first, and stops.
 * Then the other thread runs to its own access, and stops there.  The first thread then makes its
 * access, and the other thread follows. */
void variant_make_between(struct variant *v, const struct schedule *race, unsigned moved, unsigned number);

/* Makes the counterpart of a run of variant_make_between().  It takes the same decisions, but the
 * access of goal number `moved` comes before all accesses that the other thread makes after its
 * last operation.  The counterpart counts only if the first thread came to its access before the
 * other thread made any of these accesses.  Otherwise, the two runs would differ in more than one
 * access. */
void variant_counterpart_before(struct variant *v, const struct schedule *made, unsigned moved,
				struct schedule_decision *decisions);

/* Changes such a counterpart so that it counts only if the other thread yields or sleeps after its last
 * operation, and lets it keep the turn then.  In the run, the first thread is stopped when the other
 * one does so before its access.  In the counterpart, the first thread has made its access, and gets
 * the turn and goes on; so the two runs differ in more than the access. */
void variant_keep_turn(struct variant *v, unsigned moved);

#endif
