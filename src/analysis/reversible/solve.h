/* SPDX-License-Identifier: Apache-2.0 */
/* Asks Z3 about the orders that the clocks and the search leave open. */
#ifndef REVERSIBLE_SOLVE_H
#define REVERSIBLE_SOLVE_H

#include "reversible/search.h"

enum rev_answer {
	REV_NEVER,   /* it is proved that no order with the requested property exists */
	REV_FOUND,   /* an order with the property exists; the witness contains it */
	REV_UNKNOWN, /* the solver gave up, failed or is missing */
};

struct rev_solver;
/* Makes a solver.  `timeout_ms` is the time limit for each question, and the limit for all
 * questions together is six times as large.  If `timeout_ms` is 0, every answer is REV_UNKNOWN,
 * and the solver is not used. */
struct rev_solver *rev_solver_new(const struct rev_run *run, unsigned timeout_ms);
void rev_solver_free(struct rev_solver *s);

enum rev_answer rev_solve(struct rev_solver *s, struct machine *m, const struct rev_question *q,
			  struct rev_witness *w);

/* Returns true if the time for all questions is used up.  If so, all further answers are
 * REV_UNKNOWN. */
bool rev_solver_is_spent(const struct rev_solver *s);

/* Returns the reason why the last answer was REV_UNKNOWN. */
const char *rev_solver_reason(const struct rev_solver *s);
#endif
