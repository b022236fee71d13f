// SPDX-License-Identifier: Apache-2.0
/*
 * `raddle flavour`: makes the instrumented form of a program without running
 * it, and says where it is.  For those who want to look at it, run it under a
 * debugger, or fill the cache ahead of a measurement.
 */
#include "cmd/cmd.h"

#include "bitcode/flavour.h"

#include <stdio.h>

static const struct cmd_usage usage = {
	"raddle flavour [--flavour NAME] [--fast | --quick] [--sites] PROG",
	"Makes the instrumented form of a program that 'raddle cc' built and prints\n"
	"its path.  'raddle record' does this by itself, and uses what was made here.",
	"flavour fast quick debug plugins sites verbose",
	"  raddle flavour ./server\n",
	false,
};

static int make(const char *program)
{
	struct rd_flavour_opts how = {.name = opt.flavour ? opt.flavour : "record",
				      .fast = opt.fast,
				      .choose = !opt.fast && !opt.quick,
				      .expected = RD_FLAVOUR_ONE_RUN,
				      .debug = opt.debug,
				      .verbose = opt.verbose,
				      .plugins = opt.plugins};
	struct rd_flavour flavour;

	if (rd_flavour_build(program, &how, &flavour))
		return CMD_FAILED;
	puts(opt.sites ? flavour.sites : flavour.executable);
	rd_flavour_release(&flavour);
	return CMD_OK;
}

int cmd_flavour(int argc, char **argv)
{
	return cmd_operand(argc, argv, &usage, "a program", make);
}
