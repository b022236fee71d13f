/* SPDX-License-Identifier: Apache-2.0 */
/* Loads findings from files that a user names. */
#ifndef FINDING_LOAD_H
#define FINDING_LOAD_H

#include "finding/finding.h"

/* Reads a finding document or a schedule file.  A schedule becomes a set of one finding. */
int finding_load(const char *path, struct finding_set **set);

/* Reads the schedule of a finding, if the finding has only the path of its schedule. */
int finding_load_schedule(struct finding_set *set, struct finding *f);

/* Returns the program: the command line `argv`, which is then stored in the set; if that is empty,
 * the program of the set; NULL if neither exists. */
char **finding_set_program(struct finding_set *set, char **argv);

#endif
