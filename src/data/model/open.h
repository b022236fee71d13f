/* SPDX-License-Identifier: Apache-2.0 */
/* Opens a trace on disk and builds its model. */
#ifndef MODEL_OPEN_H
#define MODEL_OPEN_H

#include "model/model.h"

struct model_file {
	struct trace *trace;
	struct model *model;
	/* The directory into which STD text was imported, or NULL if the path is a directory. */
	char *scratch;
};

/* Opens a trace directory, or a file with STD text, and builds its model with histories.  If
 * `force` is true, the trace need not have meta.json or a site table.  The caller must close `f`,
 * even after a failure. */
int model_open(struct model_file *f, const char *path, bool force);

/* Does the same as model_open() without histories, which model_load() adds later.  If the trace is
 * large, reading ends at `deadline_ns` (trace_is_late()). */
int model_open_parts(struct model_file *f, const char *path, bool force, int64_t deadline_ns);
void model_close(struct model_file *f);

#endif
