// SPDX-License-Identifier: Apache-2.0
/* `raddle export`: writes a trace in the format of another tool. */
#include "cmd/cmd-int.h"

#include "base/error.h"
#include "cmd/output-int.h"
#include "dump/export.h"

static const struct cmd_usage usage = {
	"raddle export --format std|perfetto|csp [-o FILE] TRACE",
	"Converts a trace to the format of another tool. std is the text format of the RAPID\n"
	"race-prediction tools; with -o FILE, FILE.locs maps location numbers to lines of the\n"
	"program. perfetto is for https://ui.perfetto.dev, which shows threads, the times during\n"
	"which locks are held, waits, and arrows from unlock to lock, from signal to wake-up and\n"
	"from creation to start. csp is a CSP_M model for refinement checkers, with assertions\n"
	"about races and deadlocks.",
	"format output_file all force",
	"  raddle export --format std -o trace.std trace\n"
	"  raddle export --format perfetto -o trace.pftrace trace\n",
	true,
};

static int export_trace(const char *path)
{
	struct dump_export how = {.path = cmd_is_stdout(opt.output_file) ? NULL : opt.output_file,
				  .all = opt.all,
				  .force = opt.force};

	if (!opt.format) {
		rd_fail(RD_EUSAGE, "export: needs --format std, perfetto or csp");
		return CMD_FAILED;
	}
	if (!dump_export_format(opt.format, &how.format)) {
		rd_fail(RD_EUSAGE, "export: unknown format '%s'; it can be std, perfetto or csp", opt.format);
		return CMD_FAILED;
	}
	return dump_export(path, &how, stdout) ? CMD_FAILED : CMD_OK;
}

int cmd_export(int argc, char **argv)
{
	return cmd_operand(argc, argv, &usage, "a trace", export_trace);
}
