// SPDX-License-Identifier: Apache-2.0
/* Makes a model of the trace at a path.  STD text is first imported into a temporary directory. */
#include "model/open.h"

#include "base/error.h"
#include "base/scratch.h"
#include "trace/std.h"

#include <sys/stat.h>

static int import_std(struct model_file *f, const char *path, bool force)
{
	int err = rd_scratch_open(&f->scratch, NULL, "raddle-std");

	return err ? err : trace_std_import_file(path, f->scratch, force);
}

static int open_deep(struct model_file *f, const char *path, bool force, enum model_depth depth,
		     int64_t deadline_ns)
{
	struct stat st;
	int err = RD_OK;

	*f = (struct model_file){0};
	if (stat(path, &st) == 0 && !S_ISDIR(st.st_mode))
		err = import_std(f, path, force);
	if (!err)
		err = trace_open(&f->trace, f->scratch ? f->scratch : path, force);
	if (!err)
		trace_set_deadline(f->trace, deadline_ns);
	return err ? err : model_build(&f->model, f->trace, depth);
}

int model_open(struct model_file *f, const char *path, bool force)
{
	return open_deep(f, path, force, MODEL_HISTORIES, 0);
}

int model_open_parts(struct model_file *f, const char *path, bool force, int64_t deadline_ns)
{
	return open_deep(f, path, force, MODEL_PARTS, deadline_ns);
}

void model_close(struct model_file *f)
{
	model_free(f->model);
	trace_close(f->trace);
	rd_scratch_close(f->scratch);
	*f = (struct model_file){0};
}
