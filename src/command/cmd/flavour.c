// SPDX-License-Identifier: Apache-2.0
/*
 * `raddle flavour`: builds the instrumented form of a program without running it, and prints its
 * path.  With it, users can inspect the result, run it under a debugger, or fill the cache before
 * a measurement.
 */
#include "cmd/cmd-int.h"

#include "base/error.h"
#include "bitcode/flavour.h"
#include "guard/guards.h"

#include <stdio.h>
#include <string.h>

static const struct cmd_usage usage = {
	"raddle flavour [--flavour NAME] [-o FILE] [--fast | --quick] PROG",
	"Makes the instrumented form of a program that 'raddle cc' built and prints\n"
	"its path.  'raddle record' does this by itself, and uses the form made here.",
	"flavour shipped fast quick debug plugins sites verbose",
	"  raddle flavour ./server\n",
	false,
};

static int make_guard(const char *program)
{
	struct rd_flavour flavour;
	int status = CMD_OK;

	if (guard_build(program, opt.verbose, &flavour))
		return CMD_FAILED;
	if (opt.shipped)
		status = guard_ship(flavour.executable, opt.shipped) ? CMD_FAILED : CMD_OK;
	else
		puts(opt.sites ? flavour.sites : flavour.executable);
	rd_flavour_release(&flavour);
	return status;
}

static int make(const char *program)
{
	if (opt.flavour && !strcmp(opt.flavour, "guard"))
		return make_guard(program);
	if (opt.shipped) {
		rd_fail(RD_EUSAGE, "-o works only with --flavour guard; other flavours run only where Raddle "
				   "is installed");
		return CMD_FAILED;
	}
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
