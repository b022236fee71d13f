/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks whether runs of a program may deviate without a fault.  This happens if the schedule can
 * change what the program does, or if some of its input is not deterministic.
 */
#ifndef INJECT_DETERMINISM_INT_H
#define INJECT_DETERMINISM_INT_H

#include "inject/setup.h"

/* Checks the golden (fault-free) run in the directory of a campaign, and records the answer in the
 * setup.  If the schedule can change what the program does, reports an error, or a warning if
 * `allow` is set.  If the check cannot decide, reports a warning. */
int inject_determinism_check(const char *directory, struct inject_setup *setup, bool allow);

#endif
