/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The recorded input from outside, for replays.  In: the file `world` of a trace (trace/world.h).
 * Out: the memory from which the runtime replays the input (raddle/world.h); after the program has
 * ended, what it sent.  Nothing in the file is trusted: whatever bytes it contains, all offsets
 * stay within the memory.
 */
#ifndef REPLAY_WORLD_INT_H
#define REPLAY_WORLD_INT_H

#include "base/buf.h"
#include "raddle/world.h"
#include "replay/replay.h"

struct replay_world;

/* Reads the file of a trace directory.  *world is NULL if there is no file.  Close it only after
 * success, even if it is NULL. */
int replay_world_open(struct replay_world **world, const char *trace);
void replay_world_close(struct replay_world *world);

/* The size of the memory, and filling it; the memory must be zeroed before.  Without `input` the
 * program has its own standard input. */
size_t replay_world_size(const struct replay_world *world);
void replay_world_write(const struct replay_world *world, struct raddle_world *memory, bool input);

/* If a recorded run used the input of another trace, its own trace has the same input: copies the
 * file. */
int replay_world_copy(const char *from, const char *to);

/* Whether there are peers outside that the replay replaces. */
bool replay_world_has_peers(const struct replay_world *world);

/* Reads what the program did with it.  The program can write to the memory, so nothing in it is
 * trusted. */
void replay_world_result(const struct replay_world *world, struct raddle_world *memory,
			 struct rd_arena *arena, struct replay_outside *result);

#endif
