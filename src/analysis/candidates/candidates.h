/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds static race candidates, which are pairs of memory accesses that nothing in the program's
 * code prevents from racing.  The analysis reads facts of a whole program (facts/facts.h).  It
 * returns the candidates, the most promising first, and a list of what it does not cover.
 *
 * The analysis is meant to miss few races, so many candidates are false.  doc/design/candidates.md
 * lists what excludes a pair.
 */
#ifndef CANDIDATES_CANDIDATES_H
#define CANDIDATES_CANDIDATES_H

#include "facts/facts.h"

#include <stdio.h>

enum { CANDIDATE_ID_SIZE = 17 }; /* 16 hex digits and NUL */

/* One of the two accesses of a candidate. */
struct candidate_access {
	uint32_t value;	  /* number of the instruction in the facts */
	uint32_t site;	  /* its site in the flavour `record`, mode quick; 0 if it has no site */
	const char *op;	  /* "read" or "write" */
	const char *what; /* the expression in the source, or what the call does; may be "" */
	bool atomic;
	bool locked; /* the thread holds locks, but none that excludes the other access */
};

struct candidate {
	/* The id stays the same as long as the two functions and accesses do not change. */
	char id[CANDIDATE_ID_SIZE];
	uint32_t object; /* number, in the facts, of an object that both accesses may touch */
	char *name;	 /* name of that object, with the accessed member */
	/* True if one of the two pointers may point to many objects.  Then both accesses are hardly
	 * more likely to touch `object` than any other of these objects. */
	bool wide;
	uint32_t rank; /* 1 for the most promising candidate */
	/* The number of its group.  All candidates of a group concern the same variable or
	 * allocation.  Groups are numbered from 0, in the order of their best candidates. */
	uint32_t group;
	int score;
	const char *reason; /* why the candidate has this rank */
	struct candidate_access accesses[2];
};

struct candidates {
	struct candidate *items; /* sorted by rank */
	size_t count, capacity;
	size_t groups;
	/* The number of further pairs that belong to the listed groups but are not listed
	 * themselves. */
	size_t left_out;
	char **unsound; /* descriptions of what the analysis does not cover */
	size_t unsound_count, unsound_capacity;
	/* The following members are statistics of the program and the analysis. */
	uint32_t threads;  /* number of kinds of threads, including main */
	uint32_t accesses; /* number of analysed accesses */
	uint32_t contexts; /* number of contexts in which functions were analysed */
	const struct facts *facts;
};

void candidates_find(struct candidates *c, const struct facts *f);
void candidates_release(struct candidates *c);

/* Returns the reason why one of the accesses cannot have a guard (raddle/guard.h), or NULL if both
 * can. */
const char *candidate_unguarded(const struct candidates *c, const struct candidate *it);

/* Writes the document of doc/format/candidates.md. */
int candidates_json(const struct candidates *c, FILE *out);
/* Writes a text with at most `limit` groups, or with all of them if `limit` is 0. */
int candidates_text(const struct candidates *c, FILE *out, size_t limit);

#endif
