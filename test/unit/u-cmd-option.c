// SPDX-License-Identifier: Apache-2.0
/* Unit tests of how a command gets its options and other arguments. test/cli/grammar.sh tests the
 * whole grammar from outside. */
#include "golden.h"

#include "base/error.h"
#include "cmd/cmd-int.h"
#include "cmd/slurm-int.h"

#include <stdio.h>

enum { WORDS_MAX = 16 };

static const struct cmd_usage usage = {
	"raddle test [OPTIONS] WORD...", "Does nothing.", "json limit_groups verbose jobs timeout", "", true,
};

static char *said;

static void listen(void *context, enum rd_level level, const char *message)
{
	(void)context;
	if (level == RD_LOG_ERROR && !said)
		said = strdup(message);
}

static int begin(void **state)
{
	(void)state;
	memset(&opt, 0, sizeof opt);
	setenv("RADDLE_FILE", "", 1); /* ignore a .raddle file above this directory */
	unsetenv("RADDLE_OPTIONS");
	rd_log_set(listen, NULL);
	return 0;
}

static int end(void **state)
{
	(void)state;
	rd_log_set(NULL, NULL);
	free(said);
	said = NULL;
	return 0;
}

/* A text split at blanks; argv ends with NULL. */
struct line {
	char *text, *argv[WORDS_MAX];
	int argc;
};

static struct line split(const char *text)
{
	struct line l = {.text = rd_xstrdup(text)};
	char *rest;

	for (char *word = strtok_r(l.text, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
		assert_true(l.argc + 1 < WORDS_MAX);
		l.argv[l.argc++] = word;
	}
	return l;
}

static void operands_and_options_in_any_order(void **state)
{
	struct line l = split("test a --limit 7 b -v c");
	size_t count;

	(void)state;
	assert_int_equal(cmd_operands(l.argc, l.argv, &usage, &count), CMD_GO_ON);
	assert_int_equal(count, 3);
	assert_string_equal(l.argv[1], "a");
	assert_string_equal(l.argv[2], "b");
	assert_string_equal(l.argv[3], "c");
	assert_null(l.argv[4]);
	assert_int_equal(opt.limit_groups, 7);
	assert_true(opt.verbose);
	free(l.text);
	rd_log_level(RD_LOG_WARN); /* -v raised it */
}

static void two_dashes_end_the_options(void **state)
{
	struct line l = split("test -- --limit -v");
	size_t count;

	(void)state;
	assert_int_equal(cmd_operands(l.argc, l.argv, &usage, &count), CMD_GO_ON);
	assert_int_equal(count, 2);
	assert_string_equal(l.argv[1], "--limit");
	assert_false(opt.verbose);
	assert_int_equal(opt.limit_groups, 20); /* the default in the table of options */
	free(l.text);
}

static void wrong_options_fail(void **state)
{
	static const char *const lines[] = {"test --no-such-option", "test --limit", "test --limit x",
					    "test --jobs 0", "test --sites"};
	size_t count;

	(void)state;
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
		struct line l = split(lines[i]);

		assert_int_equal(cmd_operands(l.argc, l.argv, &usage, &count), CMD_FAILED);
		assert_non_null(said);
		free(said);
		said = NULL;
		free(l.text);
	}
}

/* ---- commands with one operand ---- */

static const char *got;

static int take(const char *operand)
{
	got = operand;
	return 77;
}

static int operand(struct line *l, const char *text)
{
	*l = split(text);
	got = NULL;
	return cmd_operand(l->argc, l->argv, &usage, "a trace", take);
}

static void exactly_one_operand(void **state)
{
	struct line l;

	(void)state;
	assert_int_equal(operand(&l, "test trace"), 77);
	assert_string_equal(got, "trace");
	free(l.text);
	assert_int_equal(operand(&l, "test"), CMD_FAILED);
	assert_string_equal(said, "test: needs a trace; 'raddle help test' shows the usage");
	free(said);
	said = NULL;
	free(l.text);
	assert_int_equal(operand(&l, "test a b"), CMD_FAILED);
	assert_string_equal(said, "test: unexpected argument 'b'");
	assert_null(got);
	free(l.text);
}

/* The argument of --json is optional.  In `--json FILE TRACE`, the first of two words is the
 * file. */
static void file_of_a_document(void **state)
{
	struct line l;

	(void)state;
	assert_int_equal(operand(&l, "test --json out.json trace"), 77);
	assert_string_equal(opt.json, "out.json");
	assert_string_equal(got, "trace");
	free(l.text);
	assert_int_equal(operand(&l, "test trace --json out.json"), 77);
	assert_string_equal(opt.json, "out.json");
	assert_string_equal(got, "trace");
	free(l.text);
	assert_int_equal(operand(&l, "test --json trace"), 77);
	assert_string_equal(opt.json, "-");
	assert_string_equal(got, "trace");
	free(l.text);
	assert_int_equal(operand(&l, "test --json=x.json trace"), 77);
	assert_string_equal(opt.json, "x.json");
	free(l.text);
}

/* ---- commands with a program and its arguments ---- */

static void options_of_the_program_are_its_own(void **state)
{
	struct line l = split("test -v ./prog --limit 3");
	struct cmd_words words;

	(void)state;
	assert_int_equal(cmd_program(l.argc, l.argv, &usage, NULL, &words), CMD_GO_ON);
	assert_null(words.operand);
	assert_string_equal(words.program[0], "./prog");
	assert_string_equal(words.program[1], "--limit");
	assert_int_equal(opt.limit_groups, 20);
	free(l.text);
	rd_log_level(RD_LOG_WARN);
}

static void operand_before_a_program(void **state)
{
	struct line l = split("test --limit 3 finding --jobs 2 -- ./prog -v");
	struct cmd_words words;

	(void)state;
	assert_int_equal(cmd_program(l.argc, l.argv, &usage, "finding", &words), CMD_GO_ON);
	assert_string_equal(words.operand, "finding");
	assert_int_equal(opt.jobs, 2);
	assert_string_equal(words.program[0], "./prog");
	assert_string_equal(words.program[1], "-v");
	assert_false(opt.verbose);
	free(l.text);
	l = split("test --limit 3");
	assert_int_equal(cmd_program(l.argc, l.argv, &usage, "finding", &words), CMD_FAILED);
	assert_string_equal(said, "test: which finding? 'raddle help test' shows the usage");
	free(l.text);
}

/* ---- defaults from RADDLE_OPTIONS ---- */

static void environment_gives_defaults(void **state)
{
	struct line l = split("test --limit 3 x");
	size_t count;

	(void)state;
	setenv("RADDLE_OPTIONS", "--limit=9 --jobs=4", 1);
	assert_int_equal(cmd_operands(l.argc, l.argv, &usage, &count), CMD_GO_ON);
	assert_int_equal(opt.limit_groups, 3); /* the command line overrides it */
	assert_int_equal(opt.jobs, 4);
	free(l.text);
}

/* ---- values of options that limit something ---- */

static void limits(void **state)
{
	(void)state;
	/* not given: the room chooses a limit */
	assert_int_equal(cmd_limit(RD_OPTION_UNSET, 99), 0);
	assert_int_equal(cmd_limit(0, 99), 99); /* 0 means no limit */
	assert_int_equal(cmd_limit(5, 99), 5);
}

/* ---- shards and executors ---- */

static void shards(void **state)
{
	unsigned shard, count;

	(void)state;
	assert_int_equal(cmd_shard("inject", &shard, &count), RD_OK);
	assert_int_equal(count, 0);
	opt.shard = "2/8";
	/* --resume, which names the campaign, is missing */
	assert_int_equal(cmd_shard("inject", &shard, &count), RD_EUSAGE);
	assert_string_equal(said, "inject: --shard I/N needs --resume, and I from 0 to N-1");
	opt.resume = "dir";
	assert_int_equal(cmd_shard("inject", &shard, &count), RD_OK);
	assert_int_equal(shard, 2);
	assert_int_equal(count, 8);
	opt.shard = "8/8";
	assert_int_equal(cmd_shard("inject", &shard, &count), RD_EUSAGE);
}

static void executors(void **state)
{
	(void)state;
	assert_int_equal(cmd_executor("inject"), RD_OK);
	opt.shards = 4;
	assert_int_equal(cmd_executor("inject"), RD_EUSAGE);
	assert_string_equal(said, "inject: --shards and --slurm-options need --executor slurm");
	opt.executor = "slurm";
	/* --output, a directory that all machines see, is missing */
	assert_int_equal(cmd_executor("inject"), RD_EUSAGE);
	opt.output = "dir";
	assert_int_equal(cmd_executor("inject"), RD_OK);
	assert_true(cmd_is_slurm());
	opt.executor = "cloud";
	assert_int_equal(cmd_executor("inject"), RD_EUSAGE);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, begin, end)
	const struct CMUnitTest tests[] = {
		T(operands_and_options_in_any_order),
		T(two_dashes_end_the_options),
		T(wrong_options_fail),
		T(exactly_one_operand),
		T(file_of_a_document),
		T(options_of_the_program_are_its_own),
		T(operand_before_a_program),
		T(environment_gives_defaults),
		T(limits),

		T(shards),
		T(executors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
