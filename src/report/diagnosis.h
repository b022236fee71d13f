/* SPDX-License-Identifier: Apache-2.0 */
/* What a diagnosis did, apart from its sketches. */
#ifndef REPORT_DIAGNOSIS_H
#define REPORT_DIAGNOSIS_H

#include "sketch/diagnose.h"

#include <stdio.h>

/* `wanted` is the failure that was looked for; NULL: any. */
void report_diagnosis_text(const struct diagnosis *d, const struct sketch_failure *wanted, FILE *out);

#endif
