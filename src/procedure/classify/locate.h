/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Races that a user or another tool's report describes by two places in the source.  Only the
 * places are known.  A run shows which threads reach them; from then on such a race is treated like
 * one that Raddle found.
 */
#ifndef CLASSIFY_LOCATE_H
#define CLASSIFY_LOCATE_H

#include "classify/classify.h"

struct classify_place {
	const char *file; /* a path, or the end of one */
	uint32_t line;
	/* the library function that is called at this place and makes the access, or NULL if the
	 * access is at the place itself */
	const char *within;
};

struct classify_pair {
	struct classify_place places[2];
};

struct classify_pairs {
	struct classify_pair *items;
	size_t count, capacity;
	struct rd_arena *arena; /* owns the names */
};

void classify_pairs_init(struct classify_pairs *p);
void classify_pairs_release(struct classify_pairs *p);

/* Parses FILE:LINE,FILE:LINE. */
int classify_pairs_parse(struct classify_pairs *p, const char *text);

/* Reads the data races of a ThreadSanitizer report.  For each access, uses the innermost place on
 * its stack that belongs to the program.  Skips races in which one of these places has no line
 * number, with a warning.  Fails if no race is left. */
int classify_pairs_from_tsan(struct classify_pairs *p, const char *text, const char *name);

/* Keeps every count-th pair, beginning with pair `number`, counted from 0. */
void classify_pairs_part(struct classify_pairs *p, unsigned number, unsigned count);

/* Runs the program.  Adds a finding for each pair of places at which two threads access the same
 * memory and at least one of them writes.  Stores the number of the remaining pairs in *missing. */
int classify_locate(const struct classify *how, const struct classify_pairs *pairs, struct finding_set *set,
		    size_t *missing);

#endif
