// SPDX-License-Identifier: Apache-2.0
/* `raddle candidates`: lists pairs of accesses of a program that may race, found without running
 * the program. */
#include "candidates/candidates.h"

#include "base/error.h"
#include "bitcode/facts.h"
#include "cmd/cmd-int.h"
#include "cmd/output-int.h"

#include <stdlib.h>

static const struct cmd_usage usage = {
	"raddle candidates [--json FILE] [-n COUNT] PROG",
	"Lists pairs of memory accesses that may race, according to the code of a program that\n"
	"'raddle cc' built: two threads may make them at the same time, to the same memory, at\n"
	"least one of them is a write, and no lock is held at both.  The program is not run.  Most\n"
	"of the pairs are not races.  The most likely races come first.  Code that the analysis did\n"
	"not cover is listed at the end.",
	"json limit_groups",
	"  raddle candidates ./server\n"
	"  raddle candidates --json races.json ./server\n",
	false,
};

static int write_json(const void *what, FILE *out)
{
	return candidates_json(what, out);
}

static int find_candidates(const char *program)
{
	struct facts *f;
	struct candidates c;
	int err = rd_facts_open(program, &f);
	if (err)
		return CMD_FAILED;
	candidates_find(&c, f);
	err = cmd_document(opt.json, write_json, &c);
	if (!err && !cmd_output_is_stdout())
		err = candidates_text(&c, stdout, opt.limit_groups);
	candidates_release(&c);
	facts_free(f);
	return err ? CMD_FAILED : CMD_OK;
}

int cmd_candidates(int argc, char **argv)
{
	return cmd_operand(argc, argv, &usage, "a program", find_candidates);
}
