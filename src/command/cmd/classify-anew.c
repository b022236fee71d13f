// SPDX-License-Identifier: Apache-2.0
/*
 * Classifies the races of a program that has no findings yet.  It converts the options of `raddle
 * classify` to those of `raddle check`, and returns the exit status of the latter.
 */
#include "cmd/classify-anew-int.h"

#include "base/error.h"
#include "cmd/cmd-int.h"

/* Adds the options of `raddle classify` that are also options of `raddle check`. */
static void pass_on_texts(struct rd_argv *to)
{
	const struct {
		const char *name, *value;
	} texts[] = {{"without-sync", opt.without_sync},
		     {"require", opt.require},
		     {"output", opt.output},
		     {"json", opt.json},
		     {"sarif", opt.sarif},
		     {"html", opt.html},
		     {"fail-on", opt.fail_on},
		     {"with", opt.with},
		     {"setup", opt.setup},
		     {"memory-models", opt.models},
		     {"plugins", opt.plugins}};

	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
		rd_argv_add_text(to, texts[i].name, texts[i].value);
}

void cmd_classify_anew_words(char **argv, struct rd_argv *words)
{
	RD_ASSERT(!words->count && argv[0] && opt.without_sync);
	rd_argv_add(words, "check");
	pass_on_texts(words);
	rd_argv_add_flag(words, "coherent", opt.coherent);
	rd_argv_add_limit(words, "timeout", opt.timeout);
	rd_argv_add_number(words, "time", opt.class_time, "ms");
	rd_argv_add_number(words, "jobs", opt.jobs, "");
	rd_argv_add_flag(words, "quiet", opt.quiet);
	rd_argv_add_flag(words, "verbose", opt.verbose);
	rd_argv_add(words, "--");
	rd_argv_add_all(words, argv);
}

int cmd_classify_anew(char **argv)
{
	struct rd_argv words = RD_ARGV_INIT;
	int status;

	cmd_classify_anew_words(argv, &words);
	status = cmd_check((int)words.count, words.items);
	rd_argv_release(&words);
	return status;
}
