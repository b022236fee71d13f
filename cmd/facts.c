// SPDX-License-Identifier: Apache-2.0
/*
 * `raddle facts`: what the bitcode of a whole program tells about it, as a file that other commands and
 * other tools read without LLVM.
 */
#include "cmd/cmd.h"

#include "base/error.h"
#include "base/file.h"
#include "base/option.h"
#include "bitcode/facts.h"

#include <stdio.h>
#include <stdlib.h>

static int copy(const char *from, const char *to)
{
	struct rd_buf b = RD_BUF_INIT;
	int err = rd_file_read(from, &b);

	if (!err)
		err = rd_file_write(to, b.data, b.length);
	rd_buf_release(&b);
	return err;
}

int cmd_facts(int argc, char **argv)
{
	const char *output = NULL, *program;
	const struct rd_option options[] = {
		RD_STRING('o', "output", &output, "FILE",
			  "write them there instead of printing where they are"),
		RD_END,
	};
	const struct rd_usage usage = {
		.synopsis = "raddle facts [-o FILE] PROG",
		.summary =
			"Merges the bitcode of a program that 'raddle cc' built and writes down what it\n"
			"says: functions and their flow graphs, instructions, memory accesses, what "
			"pointers\n"
			"may point to, who may call or start whom.  Prints the path of the file, which is\n"
			"kept in the cache; 'raddle dump' shows what is in it.",
		.options = options,
		.example = "  raddle facts -o server.facts ./server\n"
			   "  raddle dump server.facts\n",
	};
	char *path;
	int status = cmd_operand(argc, argv, &usage, "a program", &program);

	if (status != CMD_GO_ON)
		return status;
	if (rd_facts_build(program, &path))
		return CMD_FAILED;
	if (output)
		status = copy(path, output) ? CMD_FAILED : CMD_OK;
	else
		status = puts(path) < 0 ? CMD_FAILED : CMD_OK;
	free(path);
	return status;
}
