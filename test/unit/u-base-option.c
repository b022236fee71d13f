// SPDX-License-Identifier: Apache-2.0
/* Unit tests of base/option.h and base/error.h. */
#include "base/buf.h"
#include "base/error.h"
#include "base/option.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

static struct {
	bool quiet, all;
	const char *output, *json;
	uint64_t limit, time, jobs;
} opt;

static const struct rd_option options[] = {
	RD_FLAG('q', "quiet", &opt.quiet, "say nothing"),
	RD_FLAG('a', "all", &opt.all, "everything"),
	RD_STRING('o', "output", &opt.output, "DIR",
		  "where the result goes; this help is so long that it needs a second line"),
	RD_NUMBER(0, "limit", &opt.limit, "BYTES", "stop there"),
	{RD_OPT_STRING, 0, RD_OPT_WRITES | RD_OPT_OPTIONAL, "json", &opt.json, "FILE", NULL, 0, 0,
	 "a document"},
	{RD_OPT_DURATION, 0, 0, "time", &opt.time, "TIME", "5m", 0, 7200000, "when to stop"},
	{RD_OPT_NUMBER, 'j', 0, "jobs", &opt.jobs, "COUNT", "", 1, 8, "how many at a time"},
	RD_END,
};

static struct rd_usage usage = {"raddle test [-q] FILE",
				"Does\nnothing.\n\n  picture  here\n\nMore  words.\n", options,
				"  raddle test x\n", false};

static struct rd_buf messages = RD_BUF_INIT;

static void collect(void *context, enum rd_level level, const char *message)
{
	rd_buf_addf(context, "%d:%s\n", (int)level, message);
}

static int reset(void **state)
{
	(void)state;
	memset(&opt, 0, sizeof opt);
	rd_buf_clear(&messages);
	rd_log_set(collect, &messages);
	return 0;
}

static int restore(void **state)
{
	(void)state;
	rd_log_set(NULL, NULL);
	rd_log_level(RD_LOG_WARN);
	rd_buf_release(&messages);
	return 0;
}

/* Splits a line at blanks, so no argument is empty. */
static int parse(const char *line)
{
	static char copy[256], *argv[16];
	int argc = 1;

	argv[0] = (char[]){"test"};
	snprintf(copy, sizeof copy, "%s", line);
	for (char *word = strtok(copy, " "); word; word = strtok(NULL, " "))
		argv[argc++] = word;
	argv[argc] = NULL;
	return rd_options_parse(argc, argv, &usage);
}

static void no_options(void **state)
{
	(void)state;
	assert_int_equal(parse(""), 1);
	assert_int_equal(parse("file -q"), 1);
	assert_false(opt.quiet);
	assert_int_equal(parse("-"), 1);
	assert_int_equal(parse("-- -q"), 2);
	assert_false(opt.quiet);
}

static void all_spellings(void **state)
{
	(void)state;
	assert_int_equal(parse("-q --all -o dir file"), 5);
	assert_true(opt.quiet && opt.all);
	assert_string_equal(opt.output, "dir");
	assert_int_equal(parse("-odir2 x"), 2);
	assert_string_equal(opt.output, "dir2");
	assert_int_equal(parse("--output=a=b"), 2);
	assert_string_equal(opt.output, "a=b");
	assert_int_equal(parse("--output -q"), 3);
	assert_string_equal(opt.output, "-q");
	memset(&opt, 0, sizeof opt);
	assert_int_equal(parse("-qao dir"), 3);
	assert_true(opt.quiet && opt.all);
	assert_string_equal(opt.output, "dir");
}

static void numbers(void **state)
{
	static const struct {
		const char *text;
		uint64_t value;
	} good[] = {{"0", 0},
		    {"4096", 4096},
		    {"64k", 65536},
		    {"16M", 16 << 20},
		    {"0x10", 16},
		    {"010", 10},
		    {"2G", UINT64_C(2) << 30},
		    {"3T", UINT64_C(3) << 40},
		    {"18446744073709551615", UINT64_MAX}};
	static const char *const bad[] = {
		"x", "-1", "1x", "1kk", "1 k", "+1", "18446744073709551616", "99999999999999G", "0x"};
	char line[64];

	(void)state;
	for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
		snprintf(line, sizeof line, "--limit=%s", good[i].text);
		assert_int_equal(parse(line), 2);
		assert_int_equal(opt.limit, good[i].value);
	}
	opt.limit = 77;
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		char *argv[] = {(char[]){"test"}, (char[]){"--limit"}, line, NULL};

		snprintf(line, sizeof line, "%s", bad[i]);
		assert_int_equal(rd_options_parse(3, argv, &usage), RD_EUSAGE);
		assert_int_equal(opt.limit, 77);
		assert_non_null(strstr(messages.data, bad[i]));
	}
}

static void expect_error(const char *line, const char *message)
{
	rd_buf_clear(&messages);
	assert_int_equal(parse(line), RD_EUSAGE);
	assert_string_equal(messages.data, message);
}

static void mistakes_are_explained(void **state)
{
	(void)state;
	expect_error("--ouptut=x", "0:unknown option --ouptut; did you mean --output?\n");
	expect_error("--zzzzzz", "0:unknown option --zzzzzz; --help lists all options\n");
	expect_error("--out", "0:unknown option --out; --help lists all options\n");
	expect_error("-x", "0:unknown option -x; --help lists all options\n");
	expect_error("-qx", "0:unknown option -x; --help lists all options\n");
	expect_error("--quiet=yes", "0:option --quiet takes no argument\n");
	expect_error("--output", "0:option --output needs an argument (DIR)\n");
	expect_error("-o", "0:option -o needs an argument (DIR)\n");
	expect_error("-o -- x", "0:option -o needs an argument (DIR)\n");
	expect_error("--output -- x", "0:option --output needs an argument (DIR)\n");
	expect_error("-j 0", "0:--jobs=0: out of range (1 to 8)\n");
	expect_error("-j9", "0:--jobs=9: out of range (1 to 8)\n");
}

static void durations(void **state)
{
	static const struct {
		const char *text;
		uint64_t ms;
	} good[] = {{"0", 0},	       {"30", 30000}, {"30s", 30000}, {"500ms", 500}, {"5m", 300000},
		    {"1.5h", 5400000}, {"0.25", 250}, {"2.", 2000},   {"0.1ms", 1},   {"2h", 7200000}};
	static const char *const bad[] = {"",	 "m",	"5x",  "1h30", "-1", "+1",	     ".5",
					  "nan", "inf", "0x1", "1e3",  "3h", "99999999999d", "1 s"};
	char word[64];

	(void)state;
	for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
		snprintf(word, sizeof word, "--time=%s", good[i].text);
		assert_int_equal(parse(word), 2);
		assert_int_equal(opt.time, good[i].ms);
	}
	opt.time = 77;
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		char *argv[] = {(char[]){"test"}, word, NULL};

		snprintf(word, sizeof word, "--time=%s", bad[i]);
		assert_int_equal(rd_options_parse(2, argv, &usage), RD_EUSAGE);
		assert_int_equal(opt.time, 77);
	}
}

/* The optional argument of an option is attached with `=`.  In some commands it may also be the
 * next word. */
static void optional_arguments(void **state)
{
	(void)state;
	assert_int_equal(parse("--json trace"), 2);
	assert_string_equal(opt.json, "-");
	assert_int_equal(parse("--json=file trace"), 2);
	assert_string_equal(opt.json, "file");
	usage.next_word = true;
	assert_int_equal(parse("--json file prog"), 3);
	assert_string_equal(opt.json, "file");
	assert_int_equal(parse("--json -- prog"), 3);
	assert_string_equal(opt.json, "-");
	assert_int_equal(parse("--json -q prog"), 3);
	assert_string_equal(opt.json, "-");
	assert_true(opt.quiet);
	assert_int_equal(parse("--json"), 2);
	assert_int_equal(parse("--json - prog"), 3);
	usage.next_word = false;
}

static void initial_values(void **state)
{
	(void)state;
	opt.quiet = true;
	opt.output = "x";
	opt.limit = 3;
	rd_options_init(options);
	assert_false(opt.quiet);
	assert_null(opt.output);
	assert_int_equal(opt.limit, 0);
	assert_int_equal(opt.time, 300000);
	assert_true(opt.jobs == RD_OPTION_UNSET);
}

static void expect_refusal(const struct rd_option *table, const char *path, const char *message)
{
	*(const char **)table->value = path;
	rd_buf_clear(&messages);
	assert_true(rd_options_check(table, "test") < 0);
	assert_non_null(strstr(messages.data, message));
}

/* Outputs are checked before a command begins.  The checks create nothing. */
static void outputs_are_looked_at(void **state)
{
	static const char *file, *directory, *other;
	static const struct rd_option table[] = {
		{RD_OPT_STRING, 0, RD_OPT_WRITES, "json", &file, "FILE", NULL, 0, 0, ""},
		{RD_OPT_STRING, 0, RD_OPT_MAKES, "output", &directory, "DIR", NULL, 0, 0, ""},
		{RD_OPT_STRING, 0, RD_OPT_WRITES, "html", &other, "FILE", NULL, 0, 0, ""},
		RD_END,
	};
	char place[] = "/tmp/u-option-XXXXXX", inside[64];

	(void)state;
	assert_non_null(mkdtemp(place));
	assert_int_equal(rd_options_check(table, "test"), 0);
	snprintf(inside, sizeof inside, "%s/new", place);
	file = directory = inside;
	assert_int_equal(rd_options_check(table, "test"), 0);
	assert_int_equal(access(inside, F_OK), -1);
	file = other = "-";
	assert_true(rd_options_check(table, "test") < 0);
	other = NULL;
	assert_int_equal(rd_options_check(table, "test"), 0);
	expect_refusal(&table[0], place, "it is a directory");
	expect_refusal(&table[0], "/proc/self/exe", "is a program");
	expect_refusal(&table[0], "/tmp/u-option-absent/file", "No such file");
	expect_refusal(&table[0], "--", "looks like an option");
	expect_refusal(&table[0], "", "is empty");
	file = NULL;
	expect_refusal(&table[1], "/dev/null", "/dev/null is not a directory");
	expect_refusal(&table[1], "/dev/null/x", "cannot write there");
	rmdir(place);
}

/* Returns what parse() prints.  Standard output goes to a file meanwhile. */
static char *printed_by(const char *line)
{
	static char text[2048];
	FILE *f = tmpfile();
	int saved = dup(STDOUT_FILENO);
	size_t n;

	assert_non_null(f);
	fflush(stdout);
	dup2(fileno(f), STDOUT_FILENO);
	assert_int_equal(parse(line), RD_OPTION_HELP);
	fflush(stdout);
	dup2(saved, STDOUT_FILENO);
	close(saved);
	rewind(f);
	n = fread(text, 1, sizeof text - 1, f);
	text[n] = '\0';
	fclose(f);
	return text;
}

static void help_shows_the_table(void **state)
{
	static const char expect[] =
		"usage: raddle test [-q] FILE\n\n"
		"Does nothing.\n\n"
		"  picture  here\n\n"
		"More words.\n\n"
		"options:\n"
		"  -q, --quiet           say nothing\n"
		"  -a, --all             everything\n"
		"  -o, --output=DIR      where the result goes; this help is so long that it\n"
		"                        needs a second line\n"
		"      --limit=BYTES     stop there\n"
		"      --json[=FILE]     a document\n"
		"      --time=TIME       when to stop (5m)\n"
		"  -j, --jobs=COUNT      how many at a time\n"
		"  -h, --help            show this help\n\n"
		"example:\n"
		"  raddle test x\n";

	(void)state;
	assert_string_equal(printed_by("--help"), expect);
	assert_string_equal(printed_by("-q -h"), expect);
	assert_string_equal(printed_by("--list-options"),
			    "-q --quiet\n-a --all\n-o --output=DIR\n--limit=BYTES\n--json[=FILE]\n"
			    "--time=TIME\n-j --jobs=COUNT\n-h --help\n");
}

static void near_words(void **state)
{
	size_t best = SIZE_MAX;

	(void)state;
	assert_true(rd_is_near("recrod", "record", &best));
	assert_int_equal(best, 1);
	assert_false(rd_is_near("recrod", "dump", &best));
	best = SIZE_MAX;
	assert_false(rd_is_near("abcdefghijklmnopqrstuvwxyzabcdefghijklmn", "record", &best));
	assert_true(rd_is_near("dmp", "dump", &best));
	best = SIZE_MAX;
	assert_true(rd_is_near("cc", "cc", &best));
	assert_int_equal(best, 0);
}

static void messages_have_levels(void **state)
{
	(void)state;
	assert_int_equal(rd_fail(RD_EFORMAT, "bad %d", 3), RD_EFORMAT);
	rd_warn("careful");
	rd_info("not shown");
	rd_log_level(RD_LOG_DEBUG);
	rd_debug("shown");
	rd_log_level(RD_LOG_WARN);
	errno = ENOENT;
	assert_int_equal(rd_fail_errno("f%s", "ile"), RD_ESYSTEM);
	assert_int_equal(errno, ENOENT);
	assert_string_equal(messages.data,
			    "0:bad 3\n1:careful\n3:shown\n0:file: No such file or directory\n");
}

#define CASE(f) cmocka_unit_test_setup(f, reset)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(no_options),
		CASE(all_spellings),
		CASE(numbers),
		CASE(durations),
		CASE(optional_arguments),
		CASE(initial_values),
		CASE(outputs_are_looked_at),
		CASE(mistakes_are_explained),
		CASE(help_shows_the_table),
		CASE(near_words),
		CASE(messages_have_levels),
	};

	return cmocka_run_group_tests(tests, NULL, restore);
}
