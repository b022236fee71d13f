/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Inside classify/: finds the branches of a run's path that depend on input.  If another input
 * makes one of them take the other direction, the program takes another path to the race or after
 * it.
 */
#ifndef CLASSIFY_BRANCHES_INT_H
#define CLASSIFY_BRANCHES_INT_H

#include "base/buf.h"
#include "symbolic/solve.h"
#include "symbolic/trace.h"

/* maximum number of conditions in one question to the solver; chosen by hand */
#define BRANCHES_MOST 20000

/* A step, in one of the two paths, whose direction another input may change. */
struct path_branch {
	uint32_t step;
	uint32_t rank; /* branches with the smallest rank are flipped first */
	uint8_t trace; /* the path: 0 for the first order, 1 for the second */
};

/* Returns the branches of both paths that depend on a chosen input, in the order in which they are
 * flipped.  The caller must free the array.  `chosen` contains a bit mask of inputs for each path.
 * The order is:
 *
 * - branches after the race that both the race and the input can flip
 * - the other branches after the race
 * - branches before the race, the last one first
 * - steps at which an address depends on input, instead of a branch */
struct path_branch *branches_find(const struct sym_trace traces[2], const uint64_t chosen[2], size_t *count);

/* Returns an array of the conditions of the path from the first step up to number `step`,
 * inclusive.  The last condition is negated.  The caller must free the array. */
struct sym_fact *branches_facts(const struct sym_trace *t, size_t step);

/* Returns a hash of the branches of both orders, including the direction that each branch took. */
uint64_t branches_hash(const struct sym_trace traces[2]);

/* Appends a line with the conditions on the input under which the program takes this path. */
void branches_describe(const struct sym_trace *t, struct rd_buf *out);

#endif
