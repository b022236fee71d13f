/* SPDX-License-Identifier: Apache-2.0 */
/* Saves the schedules of findings as files in a directory. */
#ifndef FINDING_SAVE_H
#define FINDING_SAVE_H

#include "finding/finding.h"

/* Writes DIR/ID.schedule, which becomes the path of the finding's schedule. */
int finding_save_schedule(struct finding_set *set, struct finding *f, const char *directory);

/* Does the same as finding_save_schedule() for each finding that is not dropped.  Creates the
 * directory. */
int finding_save_schedules(struct finding_set *set, const char *directory);

/* Writes DIR/ID.witness.schedule, DIR/ID.witness-2.schedule and so on.  Creates the directory if
 * there is a witness to write. */
int finding_save_witnesses(struct finding_set *set, const char *directory);

#endif
