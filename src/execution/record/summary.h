/* SPDX-License-Identifier: Apache-2.0 */
/* A recorded run in a few numbers. */
#ifndef RECORD_SUMMARY_H
#define RECORD_SUMMARY_H

#include "run/fault.h"
#include "trace/meta.h"

#include <stdio.h>

/* `trace` is its directory. */
int record_summary_json(const struct trace_meta *meta, const char *trace, FILE *out);
void record_summary_text(const struct trace_meta *meta, const char *trace, FILE *out);

/* For each fault, whether it happened, and what it changed. */
void record_faults_text(const struct run_fault *faults, size_t count, FILE *out);

/* For a program that failed after `events` events: an error if the recorder left it no address
 * space, a warning if that is possible. */
int record_judge_room(const char *program, uint64_t events);

#endif
