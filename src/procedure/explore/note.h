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
	uint32_t kept; /* for the main process: how many schedules of it are kept to be recorded */
};

struct note_thread {
	char name[64];
	uint64_t points;
};

struct note {
	uint64_t number; /* of the schedule */
	int64_t run_ns;	 /* processor time */
	uint64_t trail, choices;
	uint64_t length, known;	 /* how many choices and threads the strategy expected */
	uint64_t extent;	 /* as in struct replay_turns */
	uint64_t most;		 /* the extent at which the run was to be ended; 0: no limit */
	struct prefix_part from; /* the prefix that it extended */
	bool counts, unsure, cut;
	int status;	 /* as in struct trial; -1: it did not exit */
	const char *why; /* why it does not count; NULL: it counts */
	struct failure failure;
	const char *made; /* the schedule with all decisions, as text; NULL: unknown, or not needed */
	struct note_race *races;
	struct note_thread *threads;
	uint64_t *pairs; /* pairs of conflicting places that were new to the worker */
	uint32_t race_count, thread_count, pair_count;
};

void note_put(const struct note *n, struct rd_buf *out);

/* Reads the note at *at and advances *at; strings and arrays are copies in the arena.  False:
 * there is no complete note. */
bool note_get(struct note *n, const char **at, const char *end, struct rd_arena *arena);

#endif
