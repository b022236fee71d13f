/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Static race candidates: pairs of memory accesses of which nothing in the program's code says that they
 * cannot race.  In: facts of a whole program (facts/facts.h).  Out: candidates in the order in which they
 * deserve attention, and a list of what the analysis did not look into.
 *
 * Few races are to be missed; many candidates are none.  doc/design/candidates.md says what rules a pair out.
 */
#ifndef CANDIDATES_CANDIDATES_H
#define CANDIDATES_CANDIDATES_H

#include "facts/facts.h"

#include <stdio.h>

enum { CANDIDATE_ID_SIZE = 17 };

/* One of the two accesses. */
struct candidate_access {
	uint32_t value;	  /* the instruction */
	uint32_t site;	  /* of the flavour `record`, quick; 0: it has none */
	const char *op;	  /* "read", "write" */
	const char *what; /* the expression in the source, or what the call does; may be "" */
	bool atomic;
	bool locked; /* some lock is held, if not the right one */
};

struct candidate {
	char id[CANDIDATE_ID_SIZE]; /* the same as long as the two functions and accesses are */
	uint32_t object;	    /* in the facts: one that both may access */
	char *name;		    /* of it, with the member that is meant */
	bool wide;		    /* the pointers may point to so many objects that it says little */
	uint32_t rank;		    /* 1 is the best */
	uint32_t group;		    /* from 0, by their best: candidates of the same variable or allocation */
	int score;
	const char *reason; /* why it has that rank */
	struct candidate_access accesses[2];
};

struct candidates {
	struct candidate *items; /* by rank */
	size_t count, capacity;
	size_t groups;
	size_t left_out; /* pairs of a group beyond those that are listed */
	char **unsound;	 /* what was not looked into */
	size_t unsound_count, unsound_capacity;
	/* What the program is like. */
	uint32_t threads;  /* with main */
	uint32_t accesses; /* that were looked at */
	uint32_t contexts; /* of functions */
	const struct facts *facts;
};

void candidates_find(struct candidates *c, const struct facts *f);
void candidates_release(struct candidates *c);

/* Why no guard can be put at its accesses (raddle/guard.h); NULL: some can. */
const char *candidate_unguarded(const struct candidates *c, const struct candidate *it);

/* The document of doc/format/candidates.md; a text for people that describes at most `limit` groups, 0: all.
 */
int candidates_json(const struct candidates *c, FILE *out);
int candidates_text(const struct candidates *c, FILE *out, size_t limit);

#endif
