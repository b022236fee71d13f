// SPDX-License-Identifier: Apache-2.0
/* `raddle sanitize`: writes a full trace with canonical names. */
#include "cmd/cmd-int.h"

#include "base/error.h"
#include "cmd/output-int.h"
#include "dump/sanitize.h"

static const struct cmd_usage usage = {
	"raddle sanitize [-o DIR] [--thread NAME] [--json[=FILE]] TRACE",
	"Shows a full trace with canonical names for threads, memory and pointers. Two runs of\n"
	"a pseudo-deterministic program then have the same records in each thread, whatever\n"
	"their schedules and addresses were; 'raddle compare' uses these names. The objects\n"
	"follow the records, each with its address, thread, size and lifetime, then the threads.",
	"output thread json",
	"  raddle record --flavour full -o trace -- ./prog\n"
	"  raddle sanitize trace | less\n"
	"  raddle sanitize -o names1 trace1; raddle sanitize -o names2 trace2\n"
	"  diff -r names1 names2\n",
	false,
};

static int sanitize(const char *path)
{
	const struct dump_sanitize_options how = {
		.thread = opt.thread, .directory = opt.output, .json = opt.json != NULL};

	if (opt.output && opt.json) {
		rd_fail(RD_EUSAGE, "sanitize: --json and -o cannot be combined");
		return CMD_FAILED;
	}
	RD_ASSERT(!how.directory || !how.json);
	if (cmd_redirect(opt.json))
		return CMD_FAILED;
	return dump_sanitized(path, &how, stdout) ? CMD_FAILED : CMD_OK;
}

int cmd_sanitize(int argc, char **argv)
{
	return cmd_operand(argc, argv, &usage, "a trace", sanitize);
}
