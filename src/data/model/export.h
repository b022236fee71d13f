/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes traces in the formats of other tools.  Both functions build the model that they need.  If
 * a stream is damaged, its readable part is exported.
 */
#ifndef MODEL_EXPORT_H
#define MODEL_EXPORT_H

#include "trace/reader.h"

#include <stdbool.h>
#include <stdio.h>

struct model_std_opts {
	bool all; /* also export data that no two threads share */
	/* If not NULL, a side table (location, file:line, function) is written to it. */
	FILE *locations;
};

/* Writes RAPID's STD text format; doc/format/std.md describes the mapping. */
int model_export_std(struct trace *trace, FILE *out, const struct model_std_opts *opts);

/* Writes a Perfetto trace (protobuf); doc/format/perfetto.md describes the mapping. */
int model_export_perfetto(struct trace *trace, FILE *out);

#endif
