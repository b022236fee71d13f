/* SPDX-License-Identifier: Apache-2.0 */
/* What a check did, apart from its findings. */
#ifndef REPORT_CHECK_H
#define REPORT_CHECK_H

#include "check/state.h"

#include <stdio.h>

/* How the recorded program ended, what further runs brought, classes, what was left out and why. */
void report_check_rest(const struct check *c, FILE *out);

#endif
