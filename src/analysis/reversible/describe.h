/* SPDX-License-Identifier: Apache-2.0 */
/* Adds places, stacks and names to what a reversibility check found. */
#ifndef REVERSIBLE_DESCRIBE_H
#define REVERSIBLE_DESCRIBE_H

#include "reversible/reversible.h"

/* Walks over the trace once more and fills in the details.  With `objects`, also lists the shared
 * objects. */
int rev_describe(struct rev_result *x, struct epa_source *source, bool objects);

/* Returns the name of an operation's object, or of the thread that the operation creates or joins.
 * Returns NULL if the operation has no object. */
const char *rev_object_name(const struct rev_result *x, const struct rev_op *op);

/* Returns the innermost frame of a site.  Its members are empty if the site is unknown. */
struct trace_frame rev_frame(const struct trace_sites *sites, uint32_t site);

#endif
