/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The recorded world of a run, for its re-executions: the file `world` of a trace goes in (trace/world.h),
 * the memory that the runtime gives it back from comes out (raddle/world.h); and, when the program
 * has ended, what it sent.
 *
 * Nothing in the file is trusted: whatever bytes it has, all offsets in the memory lie within it.
 */
#ifndef REPLAY_WORLD_H
#define REPLAY_WORLD_H

#include "base/buf.h"
#include "raddle/world.h"
#include "replay/replay.h"

struct replay_world;

/* Reads the file of a trace directory.  *world becomes NULL where there is none.  To be closed after success
 * only, also if it is NULL. */
int replay_world_open(struct replay_world **world, const char *trace);
int replay_world_open_bytes(struct replay_world **world, const void *data, size_t length);
void replay_world_close(struct replay_world *world);

/* How many bytes of memory it takes; and that memory, which is zero before.  Without `input` the program has
 * an input of its own. */
size_t replay_world_size(const struct replay_world *world);
void replay_world_write(const struct replay_world *world, struct raddle_world *memory, bool input);

/* A run that got the world of one trace and was recorded has the same one. */
int replay_world_copy(const char *from, const char *to);

/* Whether somebody outside takes part whom the program must not need any more. */
bool replay_world_has_peers(const struct replay_world *world);

/* What the program did with it.  The memory is the program's, so nothing in it is trusted either. */
void replay_world_draw_up(const struct replay_world *world, struct raddle_world *memory,
			  struct rd_arena *arena, struct replay_outside *result);

#endif
