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

/* Makes a copy of the frozen program.  Returns its process ID, or -1 if the frozen program is
 * gone. */
pid_t snapshot_copy(void *snapshot);

#endif
