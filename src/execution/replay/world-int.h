/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Provides the recorded external input for replays.  Reads the file `world` of a trace
 * (trace/world.h), and fills the memory from which the runtime replays the input (raddle/world.h).
 * After the program has ended, also returns what the program sent.  The file is not trusted:
 * whatever bytes it contains, all offsets stay within the memory.
 */
#ifndef REPLAY_WORLD_INT_H
#define REPLAY_WORLD_INT_H

#include "base/buf.h"
#include "raddle/world.h"
#include "replay/replay.h"

struct replay_world;

/* Reads the file `world` of a trace directory.  Sets *world to NULL if there is no such file.
 * After success, the caller must close *world, which may be NULL. */
int replay_world_open(struct replay_world **world, const char *trace);
void replay_world_close(struct replay_world *world);

/* replay_world_size() returns the size of the memory that the runtime reads, and
 * replay_world_write() fills this memory.  The caller must zero the memory first.  If `input` is
 * false, the recorded standard input is not replayed, because the program gets another one. */
size_t replay_world_size(const struct replay_world *world);
void replay_world_write(const struct replay_world *world, struct raddle_world *memory, bool input);

/* Copies the file `world` from one trace to another.  This is needed if a run replayed the input
 * of the first trace while it was recorded, because the new trace then has the same input. */
int replay_world_copy(const char *from, const char *to);

/* Returns true if the program had peers outside, which the replay replaces. */
bool replay_world_has_peers(const struct replay_world *world);

/* Reads from `memory` what the program did with the input.  The program can write to this memory,
 * so its contents are not trusted. */
void replay_world_result(const struct replay_world *world, struct raddle_world *memory,
			 struct rd_arena *arena, struct replay_outside *result);

#endif
