/* SPDX-License-Identifier: Apache-2.0 */
/* Lets a command that the user provides decide whether a run failed. */
#ifndef TRIAL_JUDGE_H
#define TRIAL_JUDGE_H

#include "base/map.h"
#include "trial/trial.h"

struct judge {
	const char *command; /* a shell command, or NULL if runs are not judged */
	/* by digest of a run: 2 if such runs failed, 1 if not, 0 if not judged yet */
	struct rd_umap failed;
};

/* Asks the user's command whether a run failed.  The command exits with status 0 if the run
 * failed, and with 1 if it did not.  Any other status is an error. */
int judge_run(struct judge *j, const struct trial *t, bool *failed);
void judge_release(struct judge *j);

#endif
