/* SPDX-License-Identifier: Apache-2.0 */
/* The differences between two checks, for people and for other tools. */
#ifndef REPORT_DIFF_H
#define REPORT_DIFF_H

#include "finding/diff.h"

#include <stdio.h>

void report_diff_text(const struct finding_diff *d, FILE *out);
int report_diff_json(const struct finding_diff *d, FILE *out);

#endif
