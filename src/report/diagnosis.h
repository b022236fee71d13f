/* SPDX-License-Identifier: Apache-2.0 */
/* A summary of a diagnosis, apart from its sketches. */
#ifndef REPORT_DIAGNOSIS_H
#define REPORT_DIAGNOSIS_H

#include "sketch/diagnose.h"

#include <stdio.h>

/* `wanted` is the failure that was searched for; NULL if any failure would do. */
void report_diagnosis_text(const struct diagnosis *d, const struct sketch_failure *wanted, FILE *out);

#endif
