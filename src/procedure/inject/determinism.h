/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What decides what the program does: whether the schedule can change it, and what comes in that the program
 * does not decide.  Both make runs deviate without a fault.
 */
#ifndef INJECT_DETERMINISM_H
#define INJECT_DETERMINISM_H

#include "inject/setup.h"

/* Looks at the golden run in the directory of a campaign and notes the answer in the setup.  A no is an error
 * unless it is allowed; what is not certain is a warning. */
int inject_determinism_check(const char *directory, struct inject_setup *setup, bool allow);

#endif
