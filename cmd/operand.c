/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Commands that take options and one thing to work on, in any order: the options
 * may stand behind the thing too.
 */
#include "cmd/cmd.h"

#include "base/error.h"

int cmd_operand(int argc, char **argv, const struct rd_usage *usage, const char **operand)
{
	const char *name = argv[0];

	*operand = NULL;
	while (argc > 1) {
		int first = rd_options_parse(argc, argv, usage);
		if (first == RD_OPTION_HELP)
			return CMD_OK;
		if (first < 0)
			return CMD_FAILED;
		if (first < argc && *operand) {
			rd_fail(RD_EUSAGE, "%s: one at a time: '%s' is too much", name, argv[first]);
			return CMD_FAILED;
		}
		*operand = first < argc ? argv[first] : *operand;
		argc -= first;
		argv += first;
	}
	return CMD_GO_ON;
}
