/* SPDX-License-Identifier: Apache-2.0 */
/* Inside replay/: making copies of a frozen program. */
#ifndef REPLAY_SNAPSHOT_INT_H
#define REPLAY_SNAPSHOT_INT_H

#include "replay/run-int.h"
#include "replay/snapshot.h"

/* Takes over the frozen program of a replay, with its session and its world.  If that fails, the
 * snapshot is closed and `off` is set. */
int snapshot_take(struct replay_snapshot *s, struct replay *r, pid_t pid);

/* Called after a run in which the program was not frozen.  Notes why it was not. */
void snapshot_note_unfrozen(struct replay_snapshot *s, const struct raddle_steer *steer);

/* Restores the session for the next run. */
void snapshot_restore(struct replay_snapshot *s);

/* Restores the streams.  Call this after the request's `begin`, which empties them. */
int snapshot_restore_streams(const struct replay_snapshot *s, const int *streams);

/* Makes a copy of the frozen program, or lets the last copy make another run.  Returns its process
 * ID, or -1 if the frozen program is gone. */
pid_t snapshot_copy(void *snapshot);

/* Returns true if the run of the last copy has ended, but the process of the copy has not.  Stores
 * the wait status of the run. */
bool snapshot_has_ended(const struct replay_snapshot *s, int *status);

/* Asks a copy in which no thread can continue to end its run, but not its process.  Returns false
 * if the copy makes only one run, or if the function was already called in this run. */
bool snapshot_quit(const struct replay_snapshot *s);

/* Called when the run of the copy has ended.  `lives` is true if the process of the copy still
 * exists.  Returns the CPU time that the process had used before the run.  If `lives` is true,
 * stores the CPU time of the run. */
uint64_t snapshot_end_run(struct replay_snapshot *s, pid_t pid, bool lives, uint64_t *cpu_ns);

#endif
