// SPDX-License-Identifier: Apache-2.0
/*
 * `raddle dump`: shows the content of a trace directory, a single stream, a site table or another
 * artefact, for people (text) and for programs (--json, doc/format/dump-json.md).
 */
#include "cmd/cmd-int.h"

#include "base/error.h"
#include "base/json.h"
#include "cmd/output-int.h"
#include "dump/dump.h"

static const struct cmd_usage usage = {
	"raddle dump [OPTIONS] TRACE | FILE",
	"Shows a trace: a directory made by 'raddle record' or 'raddle import', or one of\n"
	"its files (a stream, a site table, the input from outside). Events are in the global order of\n"
	"synchronisation operations; a plain access is shown after the previous operation of its\n"
	"thread.\n"
	"\n"
	"It also shows findings (findings.json, or the directory that contains it),\n"
	"schedules, facts, and the bitcode and link line of a program; only --json applies\n"
	"to these.",
	"threads kinds limit_events stacks summary sites check values count json force",
	"  raddle dump --summary trace\n"
	"  raddle dump --kind mutex,write --thread T_0_1 trace\n",
	false,
};

/* In JSON mode, errors are also printed as JSON, on stderr. */
static void log_json(void *context, enum rd_level level, const char *message)
{
	struct rd_json j;
	(void)context;
	rd_json_begin(&j, stderr);
	rd_json_object(&j, NULL);
	rd_json_string(&j, level == RD_LOG_ERROR ? "error" : "warning", message);
	rd_json_end(&j);
	fputc('\n', stderr);
}

static int dump(const char *path)
{
	const struct dump_options what = {.threads = opt.threads,
					  .kinds = opt.kinds,
					  .limit = opt.limit_events,
					  .json = opt.json != NULL,
					  .stacks = opt.stacks,
					  .summary = opt.summary,
					  .sites = opt.sites,
					  .check = opt.check,
					  .count = opt.count,
					  .values = opt.values,
					  .force = opt.force};

	if (opt.json)
		rd_log_set(log_json, NULL);
	if (cmd_redirect(opt.json))
		return CMD_FAILED;
	return dump_path(path, &what, stdout) ? CMD_FAILED : CMD_OK;
}

int cmd_dump(int argc, char **argv)
{
	return cmd_operand(argc, argv, &usage, "a trace or another artefact", dump);
}
