/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside explore/: a note is what a worker reports about a run to the main process.  Both processes
 * run the same program, so numbers are sent in their memory representation.  Lengths are checked
 * nevertheless.
 */
#ifndef EXPLORE_NOTE_H
#define EXPLORE_NOTE_H

#include "base/alloc.h"
#include "base/buf.h"
#include "explore/prefix.h"
#include "trial/failure.h"

/* A race: two sites whose accesses to the same memory are unordered. */
struct note_race {
	uint64_t address, size;
	uint32_t site[2];
	/* for the main process: number of schedules with this race that are kept to be recorded */
	uint32_t kept;
};

struct note_thread {
	char name[64];
	uint64_t points;
};

struct note {
	uint64_t number; /* the number of the schedule, from 0 */
	int64_t run_ns;	 /* processor time of the run */
	uint64_t trail, choices;
	/* number of choices, and number of threads, that the strategy expected */
	uint64_t length, known;
	uint64_t extent;	 /* as in struct replay_turns */
	uint64_t most;		 /* the extent at which the run was to be ended, or 0 for no limit */
	struct prefix_part from; /* the part of a prefix that the run extended */
	bool counts, unsure, cut;
	int status;	 /* exit status, or -1 if the program did not exit */
	const char *why; /* why the run does not count, or NULL if it counts */
	struct failure failure;
	/* the schedule with all decisions, as text, or NULL if unknown or not needed */
	const char *made;
	uint32_t marks[PREFIX_MARKS]; /* as in struct prefix */
	uint32_t mark_count;
	struct note_race *races;
	struct note_thread *threads;
	uint64_t *pairs; /* pairs of conflicting places that were new to the worker */
	uint32_t race_count, thread_count, pair_count;
};

void note_put(const struct note *n, struct rd_buf *out);

/* Reads the note at *at and advances *at; strings and arrays are copied to the arena.  Returns
 * false if no complete note is left. */
bool note_get(struct note *n, const char **at, const char *end, struct rd_arena *arena);

#endif
