// SPDX-License-Identifier: Apache-2.0
/*
 * Converts any bytes, taken as the file `world`, to the memory that a re-execution gets, and reads
 * any bytes as what the program leaves there.  All offsets in the memory must lie inside it.
 */
#include "base/alloc.h"
#include "base/error.h"
#include "replay/world-int.h"
#include "test/fuzz/scratch.h"

#include <stdlib.h>
#include <string.h>

static void inside(size_t size, uint64_t at, uint64_t count, uint64_t each)
{
	if (at > size || count > (size - at) / each)
		abort();
}

static void check_threads(struct raddle_world *w, size_t size)
{
	for (uint32_t i = 0; i < w->thread_count; i++) {
		const struct raddle_world_thread *t = &raddle_world_threads(w)[i];

		if (i ? t->parent >= i : t->parent != RADDLE_WORLD_NONE)
			abort();
		for (unsigned s = 0; s < RADDLE_SOURCES; s++)
			inside(size, w->values_at + t->values[s].first * sizeof(uint64_t), t->values[s].count,
			       sizeof(uint64_t));
		inside(size, t->random.first, t->random.count, 1);
	}
}

static void check_sockets(struct raddle_world *w, size_t size)
{
	for (uint32_t i = 0; i < w->listener_count; i++)
		if (raddle_world_listeners(w)[i].address.size > RADDLE_WORLD_ADDRESS)
			abort();
	for (uint32_t i = 0; i < w->connection_count; i++) {
		const struct raddle_world_connection *c = &raddle_world_connections(w)[i];

		if ((c->listener != RADDLE_WORLD_NONE && c->listener >= w->listener_count) ||
		    c->address.size > RADDLE_WORLD_ADDRESS || c->descriptor > 2)
			abort();
		inside(size, c->kept_at, c->kept_size, 1);
	}
	for (uint32_t i = 0; i < w->arrival_count; i++) {
		const struct raddle_world_arrival *a = &raddle_world_arrivals(w)[i];

		if (a->connection >= w->connection_count)
			abort();
		inside(size, a->bytes_at, a->length, 1);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct replay_world *world;
	struct replay_outside result;
	struct rd_arena *arena;
	struct raddle_world *memory;
	size_t length;

	rd_log_set(rd_log_discard, NULL);
	scratch_make();
	RD_ASSERT(!rd_file_write(SCRATCH "/world", data, size));
	if (replay_world_open(&world, SCRATCH) || !world)
		return 0;
	length = replay_world_size(world);
	memory = aligned_alloc(64, (length + 63) / 64 * 64);
	if (!memory)
		abort();
	memset(memory, 0, length);
	replay_world_write(world, memory, size & 1);
	inside(length, memory->threads_at, memory->thread_count, sizeof(struct raddle_world_thread));
	inside(length, memory->listeners_at, memory->listener_count, sizeof(struct raddle_world_listener));
	inside(length, memory->connections_at, memory->connection_count,
	       sizeof(struct raddle_world_connection));
	inside(length, memory->arrivals_at, memory->arrival_count, sizeof(struct raddle_world_arrival));
	check_threads(memory, length);
	check_sockets(memory, length);
	/* The program may have written anything. */
	memset(memory, size & 2 ? 0xff : 0, length < 65536 ? length : 65536);
	arena = rd_arena_new();
	replay_world_result(world, memory, arena, &result);
	if (result.arrived > result.arrivals || result.same > result.connections)
		abort();
	rd_arena_free(arena);
	free(memory);
	replay_world_close(world);
	return 0;
}
