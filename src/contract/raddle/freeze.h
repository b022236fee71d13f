/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Snapshots (rt/steer/freeze.c).  A steered program (raddle/steer.h) whose threads run on one
 * kernel thread can be frozen, so that several runs continue from there.
 *
 * The replayer sets `where` to the point at which the program should be frozen.  At that point, the
 * runtime sets `state` to FROZEN and sleeps on `copying`.  If the program cannot be copied, the
 * runtime sets `state` to the reason instead, and the run continues.  For each run, the replayer
 * restores the session as it was when the program was frozen, and writes the plan of the run.  Then
 * it sets `copying` to WANTED.  The runtime forks, stores the ID of the new process in `copy` and
 * sets `copying` to MADE.  The new process uses the same session, so there can be only one run at a
 * time.
 *
 * If the replayer sets `resets` before it sets `copying`, the copy may make further runs
 * (rt/steer/reset.c).  When a run of such a copy has ended, the process does not end.  It restores its
 * own memory, and stores 1 + the wait status of the run in `ended`.  The replayer prepares the session
 * for the next run and sets `again` to 1; then the copy continues as a new copy would.  If a run has
 * changed something that a copy cannot restore, the process ends with it.  If no thread can continue,
 * or a limit is reached, the replayer sets `quits`, and the run ends as if it had been killed.
 */
#ifndef RADDLE_FREEZE_H
#define RADDLE_FREEZE_H

#include <stdatomic.h>
#include <stdint.h>

/* Where the program is frozen for copies. */
enum raddle_freeze {
	RADDLE_FREEZE_NOWHERE,
	RADDLE_FREEZE_CREATION, /* before its second thread is created */
	RADDLE_FREEZE_MET,	/* where the two threads of the plan met */
	RADDLE_FREEZE_DECISION, /* at the point of the plan's decision `after`, before it is taken */
};

/* States whether the program is frozen, or why it cannot be. */
enum raddle_frozen {
	RADDLE_FROZEN_NOT, /* the program has not reached the point */
	RADDLE_FROZEN,
	RADDLE_UNFROZEN_CHILDREN, /* it has child processes */
	RADDLE_UNFROZEN_CHANGES,  /* it has changed the file system, or started a process */
	RADDLE_UNFROZEN_TIMERS,	  /* it has timers */
	RADDLE_UNFROZEN_FILES,	  /* it has open files that copies would share */
	RADDLE_UNFROZEN_MEMORY,	  /* it shares memory with other processes */
	RADDLE_UNFROZEN_THREADS,  /* a kernel thread besides the first one exists */
	RADDLE_UNFROZEN_CHOICES,  /* its memory model has already made choices */
	RADDLE_FROZENS,
};

enum raddle_copying { RADDLE_COPY_NONE, RADDLE_COPY_WANTED, RADDLE_COPY_MADE };

struct raddle_freezing {
	uint32_t where;		  /* enum raddle_freeze; the runtime clears it at that point */
	uint32_t threads;	  /* the number of threads that the program is expected to create */
	uint32_t after;		  /* for RADDLE_FREEZE_DECISION: the number of decisions before it */
	uint64_t points;	  /* how many points threads had reached when the program was frozen */
	_Atomic uint32_t state;	  /* enum raddle_frozen */
	_Atomic uint32_t copying; /* enum raddle_copying; a futex */
	_Atomic int32_t copy;	  /* the process ID of the last copy; negative if the fork failed */
	uint32_t resets;	  /* 1 if the next copy is to make several runs; it stores 0 if it cannot */
	_Atomic uint32_t ended;	  /* 1 + the wait status of a run whose process has not ended, or 0 */
	_Atomic uint32_t again;	  /* 1 if the copy may begin its next run; a futex */
	_Atomic uint32_t quits;	  /* 1 if the replayer requests the end of the run; a futex */
	uint32_t lasting;	  /* 1 if the process ends because its run changed something for good */
	uint64_t began_ns;	  /* the CPU time that the copy had used when its run began */
	uint64_t ended_ns;	  /* the same, when its run ended */
};

#endif
