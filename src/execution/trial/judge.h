/* SPDX-License-Identifier: Apache-2.0 */
/* A command that the user provides decides whether a run failed. */
#ifndef TRIAL_JUDGE_H
#define TRIAL_JUDGE_H

#include "base/map.h"
#include "trial/trial.h"

struct judge {
	const char *command;   /* of the shell; NULL: runs are not judged */
	struct rd_umap failed; /* by digest: 2 if runs with that digest failed, 1 if not; 0: not judged yet */
};

/* Asks about a run that ended.  Exit status 0 means that it failed, 1 that it did not; any other
 * status is an error. */
int judge_run(struct judge *j, const struct trial *t, bool *failed);
void judge_release(struct judge *j);

#endif
