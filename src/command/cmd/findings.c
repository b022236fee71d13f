// SPDX-License-Identifier: Apache-2.0
/*
 * The program of findings that a user names.  In: a document and the command line.  Out: the program and the
 * options that are run.
 */
#include "cmd/findings.h"
#include "cmd/option.h"
#include "cmd/output.h"
#include "base/stranger.h"

char **cmd_findings_program(struct finding_set *set, char **argv)
{
	char **copy;

	if (argv[0]) {
		set->argv = (const char **)argv;
		for (set->argc = 0; argv[set->argc];)
			set->argc++;
		return argv;
	}
	copy = finding_array(set, set->argc + 1, sizeof *copy);
	for (size_t i = 0; i < set->argc; i++)
		copy[i] = (char *)set->argv[i];
	return set->argc ? copy : NULL;
}

void cmd_findings_means(struct finding_set *set, const char *path, bool own_program)
{
	struct rd_stranger said = {
		set->argv, set->argc, set->with, set->setup, NULL, set->plugins,
	};

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
