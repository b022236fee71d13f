// SPDX-License-Identifier: Apache-2.0
/*
 * `raddle flavour`: makes the instrumented form of a program without running
 * it, and says where it is.  For those who want to look at it, run it under a
 * debugger, or fill the cache ahead of a measurement.
 */
#include "cmd/cmd.h"

#include "base/error.h"
#include "base/option.h"
#include "bitcode/flavour.h"

#include <stdio.h>

struct options {
	const char *name; /* which flavour */
	bool fast;	  /* optimised code */
	bool debug;
	bool verbose;
	const char *plugins;
	bool sites; /* print the path of the site table instead */
};

int cmd_flavour(int argc, char **argv)
{
	struct options opt = {.name = "record"};
	const struct rd_option options[] = {
		RD_STRING(0, "flavour", &opt.name, "NAME", "which one: record (the default) or full"),
		RD_FLAG('f', "fast", &opt.fast, "make optimised code; takes longer once"),
		RD_FLAG('g', "debug", &opt.debug, "with debug information, for debuggers"),
		RD_STRING(0, "plugins", &opt.plugins, "PATHS",
			  "plug-ins that the program loads, separated by colons"),
		RD_FLAG('s', "sites", &opt.sites, "print the path of the site table"),
		RD_FLAG('v', "verbose", &opt.verbose, "say what is done and what is left out"),
		RD_END,
	};
	const struct rd_usage usage = {
		.synopsis = "raddle flavour [--flavour NAME] [--fast] [--sites] PROG",
		.summary = "Makes the instrumented form of a program that 'raddle cc' built and prints\n"
			   "its path.  'raddle record' does this by itself.",
		.options = options,
		.example = "  raddle flavour ./server\n",
	};
	int at = rd_options_parse(argc, argv, &usage);
	struct rd_flavour flavour;

	if (at == RD_OPTION_HELP)
		return CMD_OK;
	if (at < 0)
		return CMD_FAILED;
	if (argc - at != 1) {
		rd_fail(RD_EUSAGE, "flavour: give one program; 'raddle help flavour' shows how");
		return CMD_FAILED;
	}
	if (opt.verbose)
		rd_log_level(RD_LOG_INFO);
	if (rd_flavour_build(argv[at],
			     &(struct rd_flavour_opts){.name = opt.name,
						       .fast = opt.fast,
						       .debug = opt.debug,
						       .verbose = opt.verbose,
						       .plugins = opt.plugins},
			     &flavour))
		return CMD_FAILED;
	puts(opt.sites ? flavour.sites : flavour.executable);
	rd_flavour_release(&flavour);
	return CMD_OK;
}
