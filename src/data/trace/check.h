/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The checker of whole traces.  The reader already rejects malformed bytes.  This code checks
 * whether the contents are consistent: sites are known, threads start and end once, q ascends
 * strictly, and locks are released by their holders.
 */
#ifndef TRACE_CHECK_H
#define TRACE_CHECK_H

#include "trace/reader.h"

/* Called for each remark; `lane` has the event that it is about. */
typedef void trace_check_note(void *context, const struct trace_lane *lane, const char *text);

struct trace_check_result {
	uint64_t events;
	uint64_t notes;		  /* remarks: things that a valid trace does not have */
	uint64_t unknown_sites;	  /* events whose site the table does not know */
	size_t truncated, broken; /* streams */
	int err;		  /* the first error of a stream; 0: no error */
};

int trace_check(struct trace *trace, trace_check_note *note, void *context,
		struct trace_check_result *result);

/* Whether the counts of threads and events in meta.json match the trace.  Only complete recordings
 * are compared. */
int trace_check_counts(const struct trace *trace, uint64_t events);

#endif
