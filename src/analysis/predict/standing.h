/* SPDX-License-Identifier: Apache-2.0 */
/* Who waits for whom in a program that stands still. */
#ifndef PREDICT_STANDING_H
#define PREDICT_STANDING_H

#include "predict/predict.h"

struct predict_standing {
	const uint8_t *waits; /* by thread: it is in an operation that has no time limit */
	bool all;	      /* nobody is left, inside or outside the program, who could serve them */
};

/* Adds to `out` the deadlocks in which the threads of the execution stand with their pending
 * operations (predict_fill_standing()).  Without `all` only those that nobody else could end:
 * each waits for a lock that another one holds or that a dead one took along, or for the end of
 * another one.  They are reported in recorded order, and sound. */
void predict_find_standing(const struct exec *x, const struct predict_standing *standing,
			   struct predict_result *out);

#endif
