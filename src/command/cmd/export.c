// SPDX-License-Identifier: Apache-2.0
/* `raddle export`: a trace in the format of other tools. */
#include "cmd/cmd.h"

#include "base/alloc.h"
#include "base/error.h"
#include "cmd/output.h"
#include "model/export.h"
#include "predict/csp.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct cmd_usage usage = {
	"raddle export --format std|perfetto|csp [-o FILE] TRACE",
	"Converts a trace to the format of another tool. std is the text format of the RAPID\n"
	"race-prediction tools; with -o FILE, FILE.locs maps location numbers to lines of the\n"
	"program. perfetto opens in https://ui.perfetto.dev: threads, lock hold times, waits,\n"
	"and arrows from unlock to lock, signal to wake-up, creation to start. csp is a CSP_M\n"
	"model for refinement checkers, with assertions about races and deadlocks.",
	"format output_file all force",
	"  raddle export --format std -o trace.std trace\n"
	"  raddle export --format perfetto -o trace.pftrace trace\n",
	true,
};

static FILE *open_output(const char *path)
{
	FILE *f = fopen(path, "w");
	if (!f)
		rd_fail_errno("export: %s", path);
	return f;
}

static int close_output(FILE *f, const char *path)
{
	bool bad = ferror(f);
	if (fclose(f) != 0 || bad)
		return rd_fail_errno("export: %s", path);
	return RD_OK;
}

static int export_std(struct trace *trace, FILE *out)
{
	struct model_std_opts std = {.all = opt.all};
	char *path = opt.output_file && !cmd_is_stdout(opt.output_file)
			     ? rd_xasprintf("%s.locs", opt.output_file)
			     : NULL;
	int err = RD_OK;
	if (path) {
		std.locations = open_output(path);
		err = std.locations ? RD_OK : RD_ESYSTEM;
	}
	if (!err)
		err = model_export_std(trace, out, &std);
	if (std.locations) {
		int closed = close_output(std.locations, path);
		err = err ? err : closed;
	}
	free(path);
	return err;
}

static int export_trace(const char *path)
{
	struct trace *trace = NULL;
	int err = trace_open(&trace, path, opt.force);
	if (err)
		return CMD_FAILED;
	bool file = opt.output_file && !cmd_is_stdout(opt.output_file);
	FILE *out = file ? open_output(opt.output_file) : stdout;
	if (!out)
		err = RD_ESYSTEM;
	else if (strcmp(opt.format, "std") == 0)
		err = export_std(trace, out);
	else if (strcmp(opt.format, "csp") == 0)
		err = predict_export_csp(trace, out);
	else
		err = model_export_perfetto(trace, out);
	if (out && file) {
		int closed = close_output(out, opt.output_file);
		err = err ? err : closed;
	}
	trace_close(trace);
	return err ? CMD_FAILED : CMD_OK;
}

static int export_path(const char *path)
{
	if (!opt.format) {
		rd_fail(RD_EUSAGE, "export: needs --format std, perfetto or csp");
		return CMD_FAILED;
	}
	if (strcmp(opt.format, "std") != 0 && strcmp(opt.format, "perfetto") != 0 &&
	    strcmp(opt.format, "csp") != 0) {
		rd_fail(RD_EUSAGE, "export: unknown format '%s'; it can be std, perfetto or csp", opt.format);
		return CMD_FAILED;
	}
	return export_trace(path);
}

int cmd_export(int argc, char **argv)
{
	return cmd_operand(argc, argv, &usage, "a trace", export_path);
}
