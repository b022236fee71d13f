/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A snapshot is a program that is frozen at a point of its run (rt/steer/freeze.c), so that runs
 * can be copied from it.  The program is frozen in the first run of a request with a snapshot
 * (replay/replay.h).  This run and all later ones are copies.
 */
#ifndef REPLAY_SNAPSHOT_H
#define REPLAY_SNAPSHOT_H

#include "base/buf.h"
#include "raddle/steer.h"
#include "run/image.h"

#include <stdbool.h>

struct replay_world;

struct replay_snapshot {	   /* zeroed, except `freeze` and `after`, before the first run */
	enum raddle_freeze freeze; /* where the program is frozen */
	/* for RADDLE_FREEZE_DECISION: number of decisions before that point */
	uint32_t after;
	uint32_t ahead;	 /* number of threads that the program is expected to create */
	uint64_t points; /* number of points that the frozen program has reached */
	/* the program cannot be frozen there, so each run is started anew */
	bool off;
	/* if `off` is set: the reason, or NULL if the program never reached the point */
	const char *why;
	/* copies of the program were compared with a run from the start (trial/trial.c) */
	bool compared;
	pid_t pid; /* the frozen process, or 0 if there is none */
	/* A copy that has made at least one run and may make another, or 0 if there is none.
	 * `runs` is how many runs the copy has made after its first one.  `single` is how many
	 * copies in a row could make only one run. */
	pid_t copy;
	unsigned runs, single;
	unsigned repeated;	/* how many runs had to be repeated in a copy that makes only one */
	bool resets;		/* copies try to make several runs (rt/steer/reset.c) */
	const char *why_single; /* why copies make only one run each, or NULL */
	struct run_session session;
	struct run_image image;
	struct replay_world *world; /* replayed input from outside, or NULL */
	/* Facts about the plan of the frozen program: the offsets of the slots and of the memory
	 * model in the memory that the program shares with the tool, and the number of threads. */
	uint64_t slots_at, memory_at;
	size_t threads;
	struct rd_buf written[2]; /* what the program had written to stdout and stderr */
	/* the program's position in its standard input; -1 if there is no position */
	off_t input;
};

void replay_snapshot_close(struct replay_snapshot *snapshot);

/* From now on, each copy makes one run. */
void replay_snapshot_single(struct replay_snapshot *snapshot, const char *why);

#endif
