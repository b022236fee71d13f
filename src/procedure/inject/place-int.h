/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a logged fault struck: file, line, function, and the variable whose value it changed.  In:
 * a run, and the site table of its campaign, if there is one.  Out: texts.
 */
#ifndef INJECT_PLACE_INT_H
#define INJECT_PLACE_INT_H

#include "base/buf.h"
#include "inject/results.h"

struct campaign_spot {
	const char *file; /* the path of the file when it was compiled; NULL if unknown */
	uint32_t line;	  /* 0 if unknown */
};
struct campaign_spot campaign_spot(const struct campaign_results *r, const struct runlog_run *run);

/* Appends the name of the function to `out`, or RD_UNKNOWN if it is not known. */
void campaign_name_function(const struct runlog_run *run, struct rd_buf *out);
/* Appends the line, such as "pca.c:88", or RD_UNKNOWN if it is not known. */
void campaign_name_line(const struct runlog_run *run, struct rd_buf *out);
/* Appends a name such as "rows" for a global variable, "serve: conn->state" in a function, "result
 * of atoi", "argument 1 of free", "call of malloc" or "temporary (add)". */
void campaign_name_variable(const struct campaign_results *r, const struct runlog_run *run,
			    struct rd_buf *out);

#endif
