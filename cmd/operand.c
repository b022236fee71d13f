/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Commands that take options and things to work on, in any order: options may
 * stand behind the things too.  Behind "--" everything is a thing.
 */
#include "cmd/cmd.h"

#include "base/error.h"

#include <string.h>

int cmd_operands(int argc, char **argv, const struct rd_usage *usage, size_t *count)
{
	char **next = argv + 1, **operands = next;

	*count = 0;
	while (argc > 1) {
		int first = rd_options_parse(argc, argv, usage);
		if (first == RD_OPTION_HELP)
			return CMD_OK;
		if (first < 0)
			return CMD_FAILED;
		bool all = first > 1 && !strcmp(argv[first - 1], "--");
		argc -= first;
		argv += first;
		for (int i = 0; i < (all ? argc : argc > 0); i++)
			*next++ = argv[i];
		if (all)
			break;
	}
	*next = NULL;
	*count = (size_t)(next - operands);
	return CMD_GO_ON;
}

int cmd_operand(int argc, char **argv, const struct rd_usage *usage, const char *what, const char **operand)
{
	size_t count;
	int status = cmd_operands(argc, argv, usage, &count);

	*operand = NULL;
	if (status != CMD_GO_ON)
		return status;
	if (count > 1) {
		rd_fail(RD_EUSAGE, "%s: unexpected argument '%s'", argv[0], argv[2]);
		return CMD_FAILED;
	}
	if (!count) {
		rd_fail(RD_EUSAGE, "%s: needs %s; 'raddle help %s' shows the usage", argv[0], what, argv[0]);
		return CMD_FAILED;
	}
	*operand = argv[1];
	return CMD_GO_ON;
}
