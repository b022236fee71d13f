/* SPDX-License-Identifier: Apache-2.0 */
/* A command that the user provides decides whether a run failed. */
#ifndef TRIAL_JUDGE_H
#define TRIAL_JUDGE_H

#include "base/map.h"
#include "trial/trial.h"

struct judge {
	const char *command; /* of the shell; NULL: runs are not judged */
	struct rd_umap
		failed; /* runs by their digests, which were judged already: 1 and whether they failed */
};

/* Asks about a run that ended.  Exit status 0 means that it failed, 1 that it did not; any other
 * status is an error. */
int judge_run(struct judge *j, const struct trial *t, bool *failed);
void judge_release(struct judge *j);

#endif
