/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a run failed, where a command of the user's has a say (trial/judge.h). */
#ifndef SKETCH_VERDICT_INT_H
#define SKETCH_VERDICT_INT_H

#include "trial/judge.h"
#include "sketch/outcome.h"

/* If the command says that the run failed, it did so by its status or else by its output; if not, a status
 * that is not 0 is no failure. Crashes, failed assertions and hangs are failures in any case. */
int verdict_judge(struct judge *j, const struct trial *t, struct sketch_failure *f);

#endif
