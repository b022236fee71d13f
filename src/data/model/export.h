/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Traces in the formats of other tools.  Both functions build the model they need.  A damaged
 * stream is exported as far as it can be read.
 */
#ifndef MODEL_EXPORT_H
#define MODEL_EXPORT_H

#include "trace/reader.h"

#include <stdbool.h>
#include <stdio.h>

struct model_std_opts {
	bool all;	 /* also data that no two threads share */
	FILE *locations; /* side table: location, file:line, function; may be NULL */
};

/* RAPID's STD text format; doc/format/std.md has the mapping. */
int model_export_std(struct trace *trace, FILE *out, const struct model_std_opts *opts);

/* A Perfetto trace (protobuf); doc/format/perfetto.md has the mapping. */
int model_export_perfetto(struct trace *trace, FILE *out);

#endif
