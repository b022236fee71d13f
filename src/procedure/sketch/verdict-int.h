/* SPDX-License-Identifier: Apache-2.0 */
/* Decides whether a run failed if the user gave a command that judges runs (trial/judge.h). */
#ifndef SKETCH_VERDICT_INT_H
#define SKETCH_VERDICT_INT_H

#include "trial/judge.h"
#include "sketch/outcome.h"

/* Applies the verdict of the user's command.  If the command judges that the run failed, the
 * failure is described by the exit status of the run or, if that is 0, as an output failure.  If
 * the command judges that the run passed, an exit status other than 0 is not a failure.  Crashes,
 * failed assertions and hangs are failures in any case. */
int verdict_judge(struct judge *j, const struct trial *t, struct sketch_failure *f);

#endif
