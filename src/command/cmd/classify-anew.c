// SPDX-License-Identifier: Apache-2.0
/*
 * Classification of a program that has no findings yet.  In: the options of `raddle classify`.  Out: the
 * status of `raddle check` with the same options.
 */
#include "cmd/classify-anew-int.h"

#include "base/process.h"
#include "cmd/cmd-int.h"

#include <inttypes.h>

/* An option of ours as one of `raddle check`. */
static void pass_on(struct rd_argv *to, const char *name, const char *value)
{
	if (value)
		rd_argv_addf(to, "--%s=%s", name, value);
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
	pass_on(&words, "without-sync", opt.without_sync);
	pass_on(&words, "require", opt.require);
	pass_on(&words, "output", opt.output);
	pass_on(&words, "json", opt.json);
	pass_on(&words, "sarif", opt.sarif);
	pass_on(&words, "html", opt.html);
	pass_on(&words, "fail-on", opt.fail_on);
	pass_on(&words, "memory-models", opt.models);
	if (opt.coherent)
		rd_argv_add(&words, "--coherent");
	pass_on(&words, "with", opt.with);
	pass_on(&words, "setup", opt.setup);
	pass_on(&words, "plugins", opt.plugins);
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
