/* SPDX-License-Identifier: Apache-2.0 */
/* What the watchdog of a recorded run asks: is the program deadlocked, and which thread waits for
 * which? */
#ifndef CHECK_HANG_H
#define CHECK_HANG_H

#include "finding/finding.h"
#include "record/run.h"

/* A record_hang_fn; the answer is a finding document. */
bool check_hang(const char *trace, const struct run_still *still, FILE *answer);

/* *set receives the deadlocks that the program was killed for, and the caller frees it.  NULL: the
 * program was not deadlocked. */
int check_hang_read(const struct record_result *result, struct finding_set **set);

#endif
