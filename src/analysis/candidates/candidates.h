/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Static race candidates: pairs of memory accesses that nothing in the program's code prevents from
 * racing.  In: facts of a whole program (facts/facts.h).  Out: candidates, the most promising
 * first, and a list of what the analysis does not cover.
 *
 * The analysis is meant to miss few races, so many candidates are false.  doc/design/candidates.md
 * lists what excludes a pair.
 */
#ifndef CANDIDATES_CANDIDATES_H
#define CANDIDATES_CANDIDATES_H

#include "facts/facts.h"

#include <stdio.h>

enum { CANDIDATE_ID_SIZE = 17 }; /* 16 hex digits and NUL */

/* One of the two accesses. */
struct candidate_access {
	uint32_t value;	  /* the instruction */
	uint32_t site;	  /* of the flavour `record`, quick; 0: it has no site */
	const char *op;	  /* "read", "write" */
	const char *what; /* the expression in the source, or what the call does; may be "" */
	bool atomic;
	bool locked; /* some lock is held, but not the right one */
};

struct candidate {
	char id[CANDIDATE_ID_SIZE]; /* stays the same as long as the two functions and accesses do */
	uint32_t object;	    /* in the facts: one that both may access */
	char *name;		    /* of it, with the accessed member */
	bool wide;		    /* the pointers may point to so many objects that this one means little */
	uint32_t rank;		    /* 1 is the best */
	uint32_t group; /* from 0, by their best candidate; a group has one variable or allocation */
	int score;
	const char *reason; /* why it has that rank */
	struct candidate_access accesses[2];
};

struct candidates {
	struct candidate *items; /* by rank */
	size_t count, capacity;
	size_t groups;
	size_t left_out; /* further pairs of these groups, which are not listed */
	char **unsound;	 /* what the analysis does not cover */
	size_t unsound_count, unsound_capacity;
	/* Properties of the program. */
	uint32_t threads;  /* including main */
	uint32_t accesses; /* analysed accesses */
	uint32_t contexts; /* of functions */
	const struct facts *facts;
};

void candidates_find(struct candidates *c, const struct facts *f);
void candidates_release(struct candidates *c);

/* Why one of its accesses cannot have a guard (raddle/guard.h); NULL: both can. */
const char *candidate_unguarded(const struct candidates *c, const struct candidate *it);

/* Writes the document of doc/format/candidates.md, or a text with at most `limit` groups, 0: all.
 */
int candidates_json(const struct candidates *c, FILE *out);
int candidates_text(const struct candidates *c, FILE *out, size_t limit);

#endif
