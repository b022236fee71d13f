/* SPDX-License-Identifier: Apache-2.0 */
/* A summary of a check, apart from its findings. */
#ifndef REPORT_CHECK_H
#define REPORT_CHECK_H

#include "check/state.h"

#include <stdio.h>

/* Prints how the recorded program ended, what further runs showed, the classes, and what was left
 * out and why. */
void report_check_rest(const struct check *c, FILE *out);

#endif
