/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The checker of whole traces.  Reading already refuses what is not well
 * formed; this looks whether what was read makes sense: known sites, threads
 * that start and end once, a strict order of q, locks that are released by
 * those who hold them.
 */
#ifndef TRACE_CHECK_H
#define TRACE_CHECK_H

#include "trace/reader.h"

/* Called for each remark; `lane` is where (its event is the one meant). */
typedef void trace_check_note(void *context, const struct trace_lane *lane, const char *text);

struct trace_check_result {
	uint64_t events;
	uint64_t notes;		  /* things that a sound trace does not have */
	uint64_t unknown_sites;	  /* events whose site the table does not know */
	size_t truncated, broken; /* streams */
	int err;		  /* the first error of a stream, 0 if there was none */
};

int trace_check(struct trace *trace, trace_check_note *note, void *context,
		struct trace_check_result *result);

/* Whether meta.json counts as many threads and events as are there.  It does so for a recording that was not
 * cut off; others are not compared. */
int trace_check_counts(const struct trace *trace, uint64_t events);

#endif
