/* SPDX-License-Identifier: Apache-2.0 */
/* Tells the watchdog of a recorded run whether the program is deadlocked, and which thread waits
 * for which. */
#ifndef CHECK_HANG_H
#define CHECK_HANG_H

#include "finding/finding.h"
#include "record/run.h"

/* A callback of type record_hang_fn.  Writes its answer as a finding document. */
bool check_hang(const char *trace, const struct run_still *still, FILE *answer);

/* Stores in *set the deadlocks that were the reason to kill the program, or NULL if the program
 * was not deadlocked.  The caller frees the set. */
int check_hang_read(const struct record_result *result, struct finding_set **set);

#endif
