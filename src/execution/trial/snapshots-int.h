/* SPDX-License-Identifier: Apache-2.0 */
/* Inside trial/: chooses the snapshot (replay/snapshot.h) from which a run continues. */
#ifndef TRIAL_SNAPSHOTS_INT_H
#define TRIAL_SNAPSHOTS_INT_H

#include "trial/trial.h"

/* The point at which runs of a schedule can be frozen, and a key of the schedule.  Schedules that
 * are equal up to that point have the same key.  If runs of a schedule cannot be frozen, the key
 * is 0. */
struct snapshot_place {
	enum raddle_freeze freeze;
	uint32_t after; /* for RADDLE_FREEZE_DECISION: the number of decisions before that point */
	uint64_t key;
};

/* Conditions of the runs, which have to be the same for runs that continue from one snapshot. */
struct snapshot_shared {
	bool detect, cover; /* the detector runs; conflicting sites are recorded */
	bool explores;	    /* the runs are an exploration of a memory model */
	size_t branch;	    /* the decision at which other schedules branch off, counted from 1, or 0 */
};
struct snapshot_place snapshot_place_of(const struct schedule *s, const struct snapshot_shared *shared);

/* Returns the snapshot from which a run of this schedule continues, or NULL if the run has to
 * start from the beginning.  `traps` is true if system calls of libraries are trapped, and
 * `explores` if the run is part of an exploration of a memory model. */
struct replay_snapshot *snapshots_find(struct trial_bench *b, const struct schedule *s, bool traps,
				       bool explores);

/* Called after a run.  Tells the user why runs cannot be copied, unless that was reported
 * before. */
void snapshots_report(struct trial_bench *b);

/* Ends all programs that are frozen. */
void snapshots_close(struct trial_bench *b);

#endif
