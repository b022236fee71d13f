/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads races that a user or another tool reports as two places in the source, and finds them in a
 * run.  The run shows which threads reach the places.  Classification then treats such a race like
 * one that Raddle found.
 */
#ifndef CLASSIFY_LOCATE_H
#define CLASSIFY_LOCATE_H

#include "classify/classify.h"

struct classify_place {
	const char *file; /* a path, or the end of one */
	uint32_t line;
	/* the library function that is called at this place and makes the access; NULL if the code
	 * at the place makes the access itself */
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

/* Reads the data races of a ThreadSanitizer report.  The place of an access is the innermost place
 * on its stack that belongs to the program.  If a place has no line number, skips the race with a
 * warning.  Fails if no race is left. */
int classify_pairs_from_tsan(struct classify_pairs *p, const char *text, const char *name);

/* Keeps every count-th pair, beginning with pair `number`, counted from 0. */
void classify_pairs_part(struct classify_pairs *p, unsigned number, unsigned count);

/* Runs the program.  If two threads access the same memory at the places of a pair, and at least
 * one of them writes, adds a finding for the pair.  Stores the number of the other pairs in
 * *missing. */
int classify_locate(const struct classify *how, const struct classify_pairs *pairs, struct finding_set *set,
		    size_t *missing);

#endif
