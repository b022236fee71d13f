/* SPDX-License-Identifier: Apache-2.0 */
/* Walks over the trace.  The reversibility check and the checker of certificates share this
 * code. */
#ifndef REVERSIBLE_PASSES_INT_H
#define REVERSIBLE_PASSES_INT_H

#include "reversible/reversible.h"

struct rev_result *rev_result_new(void); /* release with rev_result_free() */

/* Reads the operations and the names of threads. */
int rev_read_operations(struct rev_result *x, struct epa_source *source);

typedef void rev_record_fn(void *context, uint32_t thread, const struct trace_record *r, const char *call);
/* Calls `fn` for every record, with the index of its thread and with `call`, the function that the
 * thread called last.  If the record itself is a call, `call` is the function that it calls. */
int rev_read_records(struct rev_result *x, struct epa_source *source, rev_record_fn *fn, void *context);

#endif
