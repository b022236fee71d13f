/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Questions about a trace, to Z3: values of variables under which conditions hold.
 *
 * The library is loaded when the first question comes.  Whatever goes wrong in there makes the answer
 * unknown, never a yes or a no.
 */
#ifndef SYMBOLIC_SOLVE_H
#define SYMBOLIC_SOLVE_H

#include "symbolic/trace.h"

enum sym_answer { SYM_YES, SYM_NO, SYM_UNKNOWN };

/* A condition that is to hold, or not to. */
struct sym_fact {
	uint32_t node; /* of one bit */
	bool holds;
};

struct sym_solver;

/* The trace must live as long.  NULL: there is no solver here. */
struct sym_solver *sym_solver_new(const struct sym_trace *t, unsigned timeout_ms);
void sym_solver_free(struct sym_solver *s);

/* Variables that are not to change; `fixed` lives as long as the solver. */
void sym_solver_fix(struct sym_solver *s, const bool *fixed);

/* Whether all facts can hold together.  `wanted` of them, the last ones, are what the question is about: of
 * the others only those count that have variables to do with them.  `values` are those of the run; on a yes
 * those change that have to. */
enum sym_answer sym_solve(struct sym_solver *s, const struct sym_fact *facts, size_t count, size_t wanted,
			  uint64_t *values);

double sym_solver_seconds(const struct sym_solver *s);

#endif
