/* SPDX-License-Identifier: Apache-2.0 */
/* Answers the watchdog of a recorded run: whether the program is deadlocked, and which thread waits
 * for which. */
#ifndef CHECK_HANG_H
#define CHECK_HANG_H

#include "finding/finding.h"
#include "record/run.h"

/* A record_hang_fn; the answer is a finding document. */
bool check_hang(const char *trace, const struct run_still *still, FILE *answer);

/* *set receives the deadlocks because of which the program was killed; the caller frees it.  It is
 * NULL if the program was not deadlocked. */
int check_hang_read(const struct record_result *result, struct finding_set **set);

#endif
