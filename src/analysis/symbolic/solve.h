/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Asks Z3 for values of a trace's variables that make given conditions true.
 *
 * The library is loaded when the first solver is made.  If the library fails in any way, the answer
 * is "unknown", never yes or no.
 */
#ifndef SYMBOLIC_SOLVE_H
#define SYMBOLIC_SOLVE_H

#include "symbolic/trace.h"

enum sym_answer { SYM_YES, SYM_NO, SYM_UNKNOWN };

/* A condition that must be true, or must be false. */
struct sym_fact {
	uint32_t node; /* the node of the condition, which has one bit */
	bool holds;
};

struct sym_solver;

/* Makes a solver.  The trace must outlive it.  `work` is the maximum number of steps that the
 * solver may make for one question (solver/z3.h).  Returns NULL if Z3 is not available. */
struct sym_solver *sym_solver_new(const struct sym_trace *t, unsigned work);
void sym_solver_free(struct sym_solver *s);

/* Sets which variables must keep their values.  `fixed` must outlive the solver. */
void sym_solver_fix(struct sym_solver *s, const bool *fixed);

/* Decides whether all facts can be true together.  The last `wanted` facts are the subject of the
 * question.  Of the other facts, only those with related variables are used.  On entry, `values`
 * contains the values of the run.  If the answer is yes, the values that have to differ are
 * changed. */
enum sym_answer sym_solve(struct sym_solver *s, const struct sym_fact *facts, size_t count, size_t wanted,
			  uint64_t *values);

/* The cost of questions: steps of the solver, and seconds of processor time.  sym_solver_cost()
 * returns the cost of all questions since its last call. */
struct sym_cost {
	uint64_t work;
	double seconds;
};
struct sym_cost sym_solver_cost(struct sym_solver *s);

#endif
