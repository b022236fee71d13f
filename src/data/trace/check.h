/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks whether the contents of a whole trace are consistent; the reader already rejects
 * malformed bytes.  Sites must be known, threads must start and end once, positions in the global
 * order (q) must strictly increase, and locks must be released by their holders.
 */
#ifndef TRACE_CHECK_H
#define TRACE_CHECK_H

#include "trace/reader.h"

/* Called for each remark.  The remark is about the current event of `lane`. */
typedef void trace_check_note(void *context, const struct trace_lane *lane, const char *text);

struct trace_check_result {
	uint64_t events;
	/* The number of remarks, which are about things that a valid trace does not contain. */
	uint64_t notes;
	uint64_t unknown_sites; /* number of events whose site is not in the table */
	/* The number of streams that end too early, and the number of other damaged streams. */
	size_t truncated, broken;
	int err; /* the first error of a stream; 0 if there was none */
};

int trace_check(struct trace *trace, trace_check_note *note, void *context,
		struct trace_check_result *result);

/* Checks that the counts of threads and events in meta.json match the trace.  Only complete
 * recordings are compared. */
int trace_check_counts(const struct trace *trace, uint64_t events);

#endif
