// SPDX-License-Identifier: Apache-2.0
/* `raddle diff`: shows which bugs are new, fixed or still there in another check of the program. */
#include "cmd/cmd-int.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "cmd/output-int.h"
#include "report/diff.h"

#include <stdlib.h>

static const struct cmd_usage usage = {
	"raddle diff [--json[=FILE]] OLD NEW",
	"Compares two checks of a program, and shows which confirmed bugs are new, which are fixed,\n"
	"and which are still there.  OLD and NEW are directories of 'raddle check' or 'raddle\n"
	"explore', or documents of --json.  The exit status is 1 if a bug is new.",
	"json",
	"  raddle check -o before -- ./bank 4\n"
	"  raddle check -o after -- ./bank-2 4\n"
	"  raddle diff before after\n",
	false,
};

static int read_set(const char *path, struct finding_set **set)
{
	char *inside = rd_xasprintf("%s/" CMD_FINDINGS_FILE, path);
	int err = finding_read(set, rd_file_exists(inside) ? inside : path);

	free(inside);
	return err;
}

static int write_json(const void *what, FILE *out)
{
	return report_diff_json(what, out);
}

static int show(const struct finding_set *before, const struct finding_set *after)
{
	struct finding_diff d;
	int status;

	finding_diff_make(&d, before, after);
	status = d.counts[FINDING_NEW] ? CMD_FOUND : CMD_OK;
	if (opt.json && cmd_document(opt.json, write_json, &d))
		status = CMD_FAILED;
	if (!cmd_output_is_stdout())
		report_diff_text(&d, stdout);
	finding_diff_release(&d);
	return status;
}

int cmd_diff(int argc, char **argv)
{
	struct finding_set *before = NULL, *after = NULL;
	size_t count;
	int status = cmd_operands(argc, argv, &usage, &count);

	if (status != CMD_GO_ON)
		return status;
	status = CMD_FAILED;
	if (count != 2)
		rd_fail(RD_EUSAGE, "diff: needs two checks, the old one and the new one");
	else if (!read_set(argv[1], &before) && !read_set(argv[2], &after))
		status = show(before, after);
	finding_set_free(before);
	finding_set_free(after);
	return status;
}
