/* SPDX-License-Identifier: Apache-2.0 */
/* The schedules of findings as files in a directory. */
#ifndef FINDING_SAVE_H
#define FINDING_SAVE_H

#include "finding/finding.h"

/* Writes DIR/ID.schedule, which becomes the path of the finding's schedule. */
int finding_save_schedule(struct finding_set *set, struct finding *f, const char *directory);

/* The same for each finding that is not dropped; makes the directory. */
int finding_save_schedules(struct finding_set *set, const char *directory);

/* Writes DIR/ID.witness.schedule, .witness-2. and so on; makes the directory if there is one to
 * write. */
int finding_save_witnesses(struct finding_set *set, const char *directory);

#endif
