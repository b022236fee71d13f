// SPDX-License-Identifier: Apache-2.0
/* `raddle import`: makes trace directories from traces of other tools. */
#include "cmd/cmd-int.h"

#include "base/error.h"
#include "trace/std.h"

#include <string.h>

static const struct cmd_usage usage = {
	"raddle import [--format std] -o DIR FILE",
	"Converts a trace in the STD text format of the RAPID tools to a trace directory,\n"
	"which all commands of Raddle can read.",
	"format output force_wrong",
	"  raddle import -o account account.std\n"
	"  raddle dump --summary account\n",
	false,
};

static int import(const char *path)
{
	if (opt.format && strcmp(opt.format, "std") != 0) {
		rd_fail(RD_EUSAGE, "import: unknown format '%s'; it can be std", opt.format);
		return CMD_FAILED;
	}
	if (!opt.output) {
		rd_fail(RD_EUSAGE, "import: needs -o DIR; 'raddle help import' shows the usage");
		return CMD_FAILED;
	}
	return trace_std_import_file(path, opt.output, opt.force_wrong) ? CMD_FAILED : CMD_OK;
}

int cmd_import(int argc, char **argv)
{
	return cmd_operand(argc, argv, &usage, "a file", import);
}
