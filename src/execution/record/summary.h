/* SPDX-License-Identifier: Apache-2.0 */
/* Summarises a recorded run in a few numbers. */
#ifndef RECORD_SUMMARY_H
#define RECORD_SUMMARY_H

#include "run/fault.h"
#include "trace/meta.h"

#include <stdio.h>

/* Writes the summary as JSON.  `trace` is the directory of the trace. */
int record_summary_json(const struct trace_meta *meta, const char *trace, FILE *out);
void record_summary_text(const struct trace_meta *meta, const char *trace, FILE *out);

/* Prints for each fault whether it happened, and what it changed. */
void record_faults_text(const struct run_fault *faults, size_t count, FILE *out);

/* Call this for a program that failed after `events` events.  The recorder uses a part of the
 * program's address space.  If the address space is limited, the rest may have been too small.
 * This function reports that as an error if there were no events, and otherwise as a warning. */
int record_judge_room(const char *program, uint64_t events);

#endif
