// SPDX-License-Identifier: Apache-2.0
/* Unit tests of options from a .raddle file and from RADDLE_OPTIONS, and of the options that a file
 * may not set. */
#include "golden.h"

#include "base/defaults.h"
#include "base/error.h"
#include "base/scratch.h"

#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

static struct {
	bool loud;
	uint64_t limit;
	const char *input, *output, *filter;
} opt;

static const struct rd_option options[] = {
	{RD_OPT_FLAG, 0, 0, "loud", &opt.loud, NULL, NULL, 0, 0, ""},
	{RD_OPT_NUMBER, 0, 0, "limit", &opt.limit, "COUNT", "5", 1, 100, ""},
	{RD_OPT_STRING, 0, RD_OPT_READS, "input", &opt.input, "FILE", NULL, 0, 0, ""},
	{RD_OPT_STRING, 0, RD_OPT_WRITES, "output", &opt.output, "FILE", NULL, 0, 0, ""},
	{RD_OPT_STRING, 0, RD_OPT_RUNS, "filter", &opt.filter, "COMMAND", NULL, 0, 0, ""},
	RD_END,
};

/* Recognises the options of all commands, which are check and dump here.  Another command has
 * --other. */
static bool is_option(const char *name, size_t n)
{
	return rd_option_find(options, name, n) || (n == 5 && !strncmp(name, "other", n));
}

static bool is_command(const char *name, size_t n)
{
	return (n == 5 && !strncmp(name, "check", n)) || (n == 4 && !strncmp(name, "dump", n));
}

static char *directory, *said;
static struct rd_arena *values;

static void listen(void *context, enum rd_level level, const char *message)
{
	(void)context;
	if (level <= RD_LOG_WARN && !said)
		said = strdup(message);
}

static int begin(void **state)
{
	(void)state;
	memset(&opt, 0, sizeof opt);
	rd_options_init(options);
	unsetenv("RADDLE_OPTIONS");
	setenv("RADDLE_FILE", "", 1);
	values = rd_arena_new();
	rd_log_set(listen, NULL);
	return rd_scratch_open(&directory, NULL, "raddle-u-defaults");
}

static int end(void **state)
{
	(void)state;
	rd_log_set(NULL, NULL);
	rd_arena_free(values);
	rd_scratch_close(directory);
	free(said);
	said = NULL;
	return 0;
}

static int defaults(void)
{
	const struct rd_defaults d = {.options = options,
				      .command = "check",
				      .values = values,
				      .is_option = is_option,
				      .is_command = is_command};

	free(said);
	said = NULL;
	return rd_defaults(&d);
}

static int of_file(const char *text)
{
	char *path = rd_xasprintf("%s/.raddle", directory);

	assert_int_equal(rd_file_write(path, text, strlen(text)), RD_OK);
	assert_int_equal(chmod(path, 0644), 0);
	setenv("RADDLE_FILE", path, 1);
	free(path);
	return defaults();
}

static void nothing_given(void **state)
{
	(void)state;
	assert_int_equal(defaults(), RD_OK);
	assert_int_equal(opt.limit, 5);
	assert_null(said);
}

static void variable(void **state)
{
	(void)state;
	setenv("RADDLE_OPTIONS", " --loud\t--limit=7 --filter='grep -v \"x y\"' --other=3 ", 1);
	assert_int_equal(defaults(), RD_OK);
	assert_true(opt.loud);
	assert_int_equal(opt.limit, 7);
	/* RADDLE_OPTIONS is the user's own, so it may set this option */
	assert_string_equal(opt.filter, "grep -v \"x y\"");
}

static void wrong_variables(void **state)
{
	static const char *const texts[][2] = {
		{"--limit='7", "RADDLE_OPTIONS: a quote is not closed"},
		{"limit=7", "RADDLE_OPTIONS: write --NAME or --NAME=VALUE, not 'limit=7'"},
		{"--", "RADDLE_OPTIONS: write --NAME or --NAME=VALUE, not '--'"},
		{"--no-such=1", "RADDLE_OPTIONS: no command has the option 'no-such'"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		setenv("RADDLE_OPTIONS", texts[i][0], 1);
		assert_int_equal(defaults(), RD_EUSAGE);
		assert_string_equal(said, texts[i][1]);
	}
	setenv("RADDLE_OPTIONS", "--limit=101", 1);
	assert_true(defaults() < 0); /* out of its range */
}

static void sections(void **state)
{
	(void)state;
	assert_int_equal(of_file("# for all\n"
				 "limit = 7\n"
				 "[dump]\nlimit = 8\nloud\n"
				 "[ dump check ]\n  limit=9  \nother = 2\n"),
			 RD_OK);
	assert_int_equal(opt.limit, 9);
	assert_false(opt.loud); /* --loud was set for dump only */
}

/* A relative path in a file is relative to that file, not to the working directory. */
static void paths_are_beside_the_file(void **state)
{
	char *expected = rd_xasprintf("%s/in.txt", directory);

	(void)state;
	assert_int_equal(of_file("input = in.txt\n"), RD_OK);
	assert_string_equal(opt.input, expected);
	assert_int_equal(of_file("input = /etc/passwd\n"), RD_OK);
	assert_string_equal(opt.input, "/etc/passwd");
	free(expected);
}

/* A .raddle file may have come with somebody else's sources, so it is not trusted. */
static void files_cannot_run_or_write(void **state)
{
	(void)state;
	assert_int_equal(of_file("\noutput = ~/.bashrc\n"), RD_EUSAGE);
	assert_non_null(strstr(said, "/.raddle:2: a file cannot decide what is run, written or removed"));
	assert_null(opt.output);
	assert_int_equal(of_file("filter = rm -rf /\n"), RD_EUSAGE);
	assert_null(opt.filter);
}

static void files_of_others_are_ignored(void **state)
{
	char *path = rd_xasprintf("%s/.raddle", directory);

	(void)state;
	assert_int_equal(of_file("limit = 7\n"), RD_OK);
	opt.limit = 5;
	assert_int_equal(chmod(path, 0666), 0); /* anyone may have changed it */
	assert_int_equal(defaults(), RD_OK);
	assert_int_equal(opt.limit, 5);
	assert_non_null(strstr(said, ", and is ignored"));
	free(path);
}

static void wrong_files(void **state)
{
	(void)state;
	assert_int_equal(of_file("[check\n"), RD_EUSAGE);
	assert_int_equal(of_file("[chek]\n"), RD_EUSAGE);
	assert_non_null(strstr(said, ":1: there is no command 'chek'"));
	assert_int_equal(of_file("limit = many\n"), RD_EUSAGE);
	assert_int_equal(of_file("no-such = 1\n"), RD_EUSAGE);
}

/* RADDLE_OPTIONS is read after the file and overrides it. */
static void order(void **state)
{
	(void)state;
	setenv("RADDLE_OPTIONS", "--limit=8", 1);
	assert_int_equal(of_file("limit = 7\nloud\n"), RD_OK);
	assert_int_equal(opt.limit, 8);
	assert_true(opt.loud);
}

/* The nearest file in a directory above is used, up to the top of a repository. */
static void search(void **state)
{
	char *deep = rd_xasprintf("%s/a/b", directory), *git = rd_xasprintf("%s/a/.git", directory);
	char here[4096];

	(void)state;
	assert_int_equal(of_file("limit = 7\n"), RD_OK);
	unsetenv("RADDLE_FILE");
	rd_options_init(options);
	assert_non_null(getcwd(here, sizeof here));
	assert_int_equal(rd_mkdirs(deep), RD_OK);
	assert_int_equal(chdir(deep), 0);
	assert_int_equal(defaults(), RD_OK);
	assert_int_equal(opt.limit, 7);
	rd_options_init(options);
	assert_int_equal(rd_mkdirs(git), RD_OK);
	assert_int_equal(defaults(), RD_OK);
	assert_int_equal(opt.limit, 5);
	assert_int_equal(chdir(here), 0);
	RD_FREE(deep, git);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, begin, end)
	const struct CMUnitTest tests[] = {
		T(nothing_given), T(variable), T(wrong_variables),	     T(paths_are_beside_the_file),
		T(sections),	  T(order),    T(files_cannot_run_or_write), T(files_of_others_are_ignored),
		T(wrong_files),	  T(search),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
