/* SPDX-License-Identifier: Apache-2.0 */
/* Loads findings from files that a user names. */
#ifndef FINDING_LOAD_H
#define FINDING_LOAD_H

#include "finding/finding.h"

/* Reads a finding document or a schedule file.  A schedule becomes a set of one finding. */
int finding_load(const char *path, struct finding_set **set);

/* Reads the schedule of a finding that has only the path of its schedule. */
int finding_load_schedule(struct finding_set *set, struct finding *f);

/* Returns the command line of the program.  If `argv` is not empty, stores it in the set and
 * returns it.  Otherwise returns the program of the set, or NULL if there is none. */
char **finding_set_program(struct finding_set *set, char **argv);

#endif
