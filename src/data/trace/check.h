/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The checker of whole traces.  The reader already rejects malformed bytes.  This code checks
 * whether the contents are consistent: sites are known, threads start and end once, q ascends
 * strictly, and locks are released by their holders.
 */
#ifndef TRACE_CHECK_H
#define TRACE_CHECK_H

#include "trace/reader.h"

/* Called for each remark.  `lane` is the lane whose current event the remark is about. */
typedef void trace_check_note(void *context, const struct trace_lane *lane, const char *text);

struct trace_check_result {
	uint64_t events;
	/* Number of remarks: things that a valid trace does not contain. */
	uint64_t notes;
	uint64_t unknown_sites; /* number of events whose site is not in the table */
	/* Number of streams that end too early, and of other damaged streams. */
	size_t truncated, broken;
	int err; /* the first error of a stream; 0 if there was none */
};

int trace_check(struct trace *trace, trace_check_note *note, void *context,
		struct trace_check_result *result);

/* Checks that the counts of threads and events in meta.json match the trace.  Only complete
 * recordings are compared. */
int trace_check_counts(const struct trace *trace, uint64_t events);

#endif
