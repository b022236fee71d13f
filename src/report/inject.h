/* SPDX-License-Identifier: Apache-2.0 */
/* Reports which kinds of faults can be injected into a program, and reports the result of a single
 * run with a fault.  For campaigns see report/campaign.h. */
#ifndef REPORT_INJECT_H
#define REPORT_INJECT_H

#include "base/buf.h"
#include "inject/choose.h"
#include "inject/runlog.h"

#include <stdio.h>

/* Writes a row for each kind. */
void report_inject_kinds_text(const struct inject_ground *ground, FILE *out);
int report_inject_kinds_json(const struct inject_ground *ground, FILE *out);

/* Appends the fault, the outcome and the first deviation of a run. */
void report_inject_run(const struct runlog_run *r, struct rd_buf *out);

#endif
