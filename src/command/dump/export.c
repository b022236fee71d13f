// SPDX-License-Identifier: Apache-2.0
/* Exports a trace to a file or a stream.  The STD format also has a second file, which contains
 * the locations. */
#include "dump/export.h"

#include "base/alloc.h"
#include "base/error.h"
#include "model/export.h"
#include "predict/csp.h"

#include <stdlib.h>
#include <string.h>

bool dump_export_format(const char *name, enum dump_format *format)
{
	static const char *const names[] = {
		[DUMP_STD] = "std", [DUMP_PERFETTO] = "perfetto", [DUMP_CSP] = "csp"};

	for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
		if (!strcmp(names[i], name)) {
			*format = i;
			return true;
		}
	return false;
}

static int open_file(const char *path, FILE **f)
{
	*f = fopen(path, "w");
	return *f ? RD_OK : rd_fail_errno("export: cannot write %s", path);
}

static int close_file(FILE *f, const char *path, int err)
{
	bool bad = ferror(f);
	if ((fclose(f) != 0 || bad) && !err)
		err = rd_fail_errno("export: %s", path);
	return err;
}

static int export_std(struct trace *trace, const struct dump_export *how, FILE *out)
{
	struct model_std_opts std = {.all = how->all};
	char *path = how->path ? rd_xasprintf("%s.locs", how->path) : NULL;
	int err = path ? open_file(path, &std.locations) : RD_OK;
	if (!err)
		err = model_export_std(trace, out, &std);
	if (std.locations)
		err = close_file(std.locations, path, err);
	free(path);
	return err;
}

static int export_open(struct trace *trace, const struct dump_export *how, FILE *out)
{
	switch (how->format) {
	case DUMP_STD: return export_std(trace, how, out);
	case DUMP_CSP: return predict_export_csp(trace, out);
	case DUMP_PERFETTO: return model_export_perfetto(trace, out);
	}
	RD_BUG("an export to no known format");
}

int dump_export(const char *path, const struct dump_export *how, FILE *out)
{
	struct trace *trace = NULL;
	int err = trace_open(&trace, path, how->force);
	if (err)
		return err;
	if (how->path)
		err = open_file(how->path, &out);
	if (!err)
		err = export_open(trace, how, out);
	if (how->path && out)
		err = close_file(out, how->path, err);
	trace_close(trace);
	return err;
}
