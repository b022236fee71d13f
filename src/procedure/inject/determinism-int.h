/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks whether the schedule can change what the program does, and which of its inputs are not
 * deterministic.  Either can make runs deviate without a fault.
 */
#ifndef INJECT_DETERMINISM_INT_H
#define INJECT_DETERMINISM_INT_H

#include "inject/setup.h"

/* Checks the golden run in the directory of a campaign and records the answer in the setup.  If the
 * schedule can change what the program does, this is an error or, if `allow` is set, a warning.  If
 * the check cannot decide, that is a warning. */
int inject_determinism_check(const char *directory, struct inject_setup *setup, bool allow);

#endif
