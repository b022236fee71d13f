/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside explore/: what a worker reports about a run to the main process.  Both are the same
 * program, so numbers are sent in their memory representation; lengths are checked nevertheless.
 */
#ifndef EXPLORE_NOTE_H
#define EXPLORE_NOTE_H

#include "base/alloc.h"
#include "base/buf.h"
#include "explore/prefix.h"
#include "trial/failure.h"

/* Memory that two accesses touch without order. */
struct note_race {
	uint64_t address, size;
	uint32_t site[2];
	uint32_t kept; /* what the leader knows: schedules of it that can be recorded */
};

struct note_thread {
	char name[64];
	uint64_t points;
};

struct note {
	uint64_t number; /* of the schedule */
	int64_t run_ns;	 /* of the processor */
	uint64_t trail, choices;
	uint64_t length, known;	 /* how many choices and threads the strategy expected */
	uint64_t extent;	 /* as struct replay_turns has it */
	uint64_t most;		 /* at which it was to be ended; 0: any */
	struct prefix_part from; /* what it began like */
	bool counts, unsure, cut;
	int status;	 /* as struct trial has it */
	const char *why; /* it does not count; NULL */
	struct failure failure;
	const char
		*made; /* the schedule with all decisions, as a file has it; NULL: unknown, or not needed */
	struct note_race *races;
	struct note_thread *threads;
	uint64_t *pairs; /* of conflicting places, that were new to the worker */
	uint32_t race_count, thread_count, pair_count;
};

void note_put(const struct note *n, struct rd_buf *out);

/* Takes a note off *at; strings and arrays are copies in the arena.  False: there is no whole one. */
bool note_get(struct note *n, const char **at, const char *end, struct rd_arena *arena);

#endif
