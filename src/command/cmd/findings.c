// SPDX-License-Identifier: Apache-2.0
/*
 * Determines how to run the program of a findings document.  It merges the options in the document
 * with those of the user, which take precedence.
 */
#include "cmd/findings-int.h"
#include "cmd/option-int.h"
#include "cmd/output-int.h"
#include "base/error.h"
#include "base/file.h"
#include "base/outside.h"
#include "base/stranger.h"

#include <stdint.h>
#include <unistd.h>

void cmd_findings_means(struct finding_set *set, const char *path, bool own_program)
{
	struct rd_stranger said = {
		set->argv, set->argc, set->with, set->setup, NULL, set->plugins,
	};

	RD_ASSERT(path && (!set->argc || set->argv));
	if (!own_program) {
		if (set->argc)
			rd_stranger_warn(path, &said);
		opt.with = opt.with ? opt.with : set->with;
		opt.setup = opt.setup ? opt.setup : set->setup;
		opt.plugins = opt.plugins ? opt.plugins : set->plugins;
		if (opt.timeout == RD_OPTION_UNSET && set->timeout)
			opt.timeout = set->timeout * 1000;
	}
	set->with = opt.with;
	set->setup = opt.setup;
	set->plugins = opt.plugins;
	set->timeout = cmd_seconds(cmd_limit(opt.timeout, 0));
}

void cmd_findings_stdin(const struct finding_set *set)
{
	const char *path = set->stdin_path;
	int fd = path && rd_file_exists(path) ? rd_outside_open(path, INT64_MAX, NULL) : -1;

	if (path && fd < 0)
		rd_warn("the input of the recorded run, %s, is missing", path);
	if (fd >= 0 && dup2(fd, STDIN_FILENO) < 0)
		rd_debug("standard input stays as it is");
	if (fd >= 0)
		close(fd);
}
