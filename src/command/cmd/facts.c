// SPDX-License-Identifier: Apache-2.0
/*
 * `raddle facts`: writes facts about a whole program, from its bitcode, to a file that other
 * commands and other tools can read without LLVM.
 */
#include "cmd/cmd-int.h"

#include "base/error.h"
#include "base/file.h"
#include "bitcode/facts.h"
#include "cmd/output-int.h"

#include <stdio.h>
#include <stdlib.h>

static int copy(const char *from, const char *to)
{
	struct rd_buf b = RD_BUF_INIT;
	int err = rd_file_read(from, &b);

	if (!err && cmd_is_stdout(to))
		fwrite(b.data, 1, b.length, stdout);
	else if (!err)
		err = rd_file_write(to, b.data, b.length);
	rd_buf_release(&b);
	return err;
}

static const struct cmd_usage usage = {
	"raddle facts [-o FILE] PROG",
	"Merges the bitcode of a program that 'raddle cc' built and writes tables about the whole\n"
	"program: functions and their flow graphs, instructions, memory accesses, what pointers may\n"
	"point to, and which functions may call others or start them as threads.  Prints the path\n"
	"of the file, which is kept in the cache, unless --output names another file; 'raddle dump'\n"
	"shows the file.",
	"output_file",
	"  raddle facts -o server.facts ./server\n"
	"  raddle dump server.facts\n",
	true,
};

static int write_facts(const char *program)
{
	char *path;
	int status;

	if (rd_facts_build(program, &path))
		return CMD_FAILED;
	if (opt.output_file)
		status = copy(path, opt.output_file) ? CMD_FAILED : CMD_OK;
	else
		status = puts(path) < 0 ? CMD_FAILED : CMD_OK;
	free(path);
	return status;
}

int cmd_facts(int argc, char **argv)
{
	return cmd_operand(argc, argv, &usage, "a program", write_facts);
}
