// SPDX-License-Identifier: Apache-2.0
/*
 * Classification of a program that has no findings yet.  In: the options of `raddle classify`.  Out: the
 * status of `raddle check` with the same options.
 */
#include "cmd/classify-anew-int.h"

#include "base/process.h"
#include "cmd/cmd-int.h"

#include <inttypes.h>

/* Options of ours that are options of `raddle check`. */
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
		if (texts[i].value)
			rd_argv_addf(to, "--%s=%s", texts[i].name, texts[i].value);
}

static void pass_on_time(struct rd_argv *to, const char *name, uint64_t ms)
{
	if (ms && ms != RD_OPTION_UNSET)
		rd_argv_addf(to, "--%s=%" PRIu64 "ms", name, ms);
}

int cmd_classify_anew(char **argv)
{
	struct rd_argv words = RD_ARGV_INIT;
	int status;

	rd_argv_add(&words, "check");
	pass_on_texts(&words);
	if (opt.coherent)
		rd_argv_add(&words, "--coherent");
	pass_on_time(&words, "timeout", opt.timeout);
	pass_on_time(&words, "time", opt.class_time);
	if (opt.jobs)
		rd_argv_addf(&words, "--jobs=%" PRIu64, opt.jobs);
	if (opt.quiet)
		rd_argv_add(&words, "--quiet");
	if (opt.verbose)
		rd_argv_add(&words, "--verbose");
	rd_argv_add(&words, "--");
	for (; *argv; argv++)
		rd_argv_add(&words, *argv);
	status = cmd_check((int)words.count, words.items);
	rd_argv_release(&words);
	return status;
}
