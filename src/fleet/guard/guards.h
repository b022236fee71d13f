/* SPDX-License-Identifier: Apache-2.0 */
/* The guards of a program, which test race candidates in production.  This file writes the
 * candidates to the file that raddle-instr reads (instr/guard/guards.h).  It also reads the table
 * of guards that a guarded program contains. */
#ifndef GUARD_GUARDS_H
#define GUARD_GUARDS_H

#include "base/buf.h"
#include "bitcode/build-id.h"
#include "bitcode/flavour.h"
#include "candidates/candidates.h"
#include "raddle/guard.h"

/* Makes the guard flavour of a program that `raddle cc` built. */
int guard_build(const char *program, bool verbose, struct rd_flavour *out);

/* Copies the flavour to `to`.  Refuses to overwrite a program without guards. */
int guard_ship(const char *executable, const char *to);

/* A candidate in the table of a guarded program. */
struct guard_candidate {
	char id[CANDIDATE_ID_SIZE];
	uint32_t guard[2];
};

struct guard_table {
	char build[RD_BUILD_ID_SIZE];
	uint32_t guards;
	/* The regions of all guards, one guard after another.  Each number is less than
	 * RADDLE_GUARDS. */
	uint32_t *regions;
	/* For each guard, the index of its first region in `regions`.  The extra last entry is the
	 * total number of regions. */
	uint32_t *first;
	struct guard_candidate *candidates; /* the candidates, by rank */
	size_t count, capacity;
};

/* Returns true if the file at `path` contains a table. */
bool guard_table_is_in(const char *path);
int guard_table_read(struct guard_table *t, const char *path);
struct guard_text {
	const char *table, *regions; /* the texts of the two sections; `regions` may be NULL */
	size_t table_length, regions_length;
};
/* Reads the table from text, which is not trusted. */
int guard_table_parse(struct guard_table *t, const struct guard_text *text, const char *name);
void guard_table_release(struct guard_table *t);

#endif
