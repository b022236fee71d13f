// SPDX-License-Identifier: Apache-2.0
/* Unit tests of how a user's options become a setup, and how the progress of a campaign is
 * reported. */
#include "golden.h"

#include "base/error.h"
#include "base/scratch.h"
#include "inject/prepare.h"
#include "inject/progress.h"
#include "inject/start.h"

#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

/* The first error or warning of the call under test. */
static char *said;

static void listen(void *context, enum rd_level level, const char *message)
{
	(void)context;
	if (level <= RD_LOG_WARN && !said)
		said = strdup(message);
}

static int begin(void **state)
{
	(void)state;
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

static void input_names(void **state)
{
	(void)state;
	assert_string_equal(inject_input_name("data/in.txt"), "data/in.txt");
	assert_string_equal(inject_input_name("././in.txt"), "in.txt");
	assert_string_equal(inject_input_name("/etc/passwd"), "passwd");
	assert_string_equal(inject_input_name("../up/in.txt"), "in.txt");
	assert_string_equal(inject_input_name("a/../../in.txt"), "in.txt");
}

static void seeds(void **state)
{
	(void)state;
	assert_int_equal(inject_seed(0), 0);
	assert_int_equal(inject_seed(UINT64_MAX - 1), UINT64_MAX - 1);
	for (int i = 0; i < 100; i++)
		assert_true(inject_seed(INJECT_SEED_CHANCE) < 1000000000);
	assert_true(inject_seed(INJECT_SEED_CHANCE) != inject_seed(INJECT_SEED_CHANCE) ||
		    inject_seed(INJECT_SEED_CHANCE) != inject_seed(INJECT_SEED_CHANCE));
}

static int words(char *sampling, char *keep, char *level)
{
	free(said);
	said = NULL;
	return inject_check_words(&(struct inject_setup){.sampling = sampling, .keep = keep, .level = level});
}

static void words_that_mean_something(void **state)
{
	(void)state;
	assert_int_equal(words("uniform", "none", NULL), RD_OK);
	assert_int_equal(words("thread", "deviating", "optimised"), RD_OK);
	assert_int_equal(words("threads", "none", NULL), RD_EUSAGE);
	assert_string_equal(said,
			    "inject: --sampling threads: must be one of: uniform function opcode thread");
	assert_int_equal(words("", "none", NULL), RD_EUSAGE);
	/* "on" is a part of "none", but not a value */
	assert_int_equal(words("uniform", "on", NULL), RD_EUSAGE);
	assert_string_equal(said, "inject: --keep-traces on: must be one of: all deviating none");
	assert_int_equal(words("uniform", "none", "machine"), RD_EUSAGE);
	assert_string_equal(said, "inject: --level machine: must be one of: source optimised");
}

static void number_of_runs(void **state)
{
	struct inject_setup s = {.sampling = rd_xstrdup("uniform")};

	(void)state;
	assert_int_equal(inject_prepare_runs(&s, INJECT_RUNS_UNSET, NULL, NULL), RD_OK);
	assert_int_equal(s.runs, 1);
	assert_int_equal(inject_prepare_runs(&s, 500, NULL, NULL), RD_OK);
	assert_int_equal(s.runs, 500);
	assert_int_equal(s.until, 0);
	assert_int_equal(inject_prepare_runs(&s, INJECT_RUNS_UNSET, "1%", NULL), RD_OK);
	assert_true(s.runs > 5000); /* enough to know any share to 1 % */
	assert_string_equal(s.until_outcome, "sdc");
	RD_FREE(s.until_outcome);
	s.until_outcome = NULL;
	assert_int_equal(inject_prepare_runs(&s, 800, "1%", "crash"), RD_OK);
	assert_int_equal(s.runs, 800);
	inject_setup_release(&s);
}

static void until_that_cannot_be(void **state)
{
	struct inject_setup s = {.sampling = rd_xstrdup("function")};

	(void)state;
	assert_int_equal(inject_prepare_runs(&s, INJECT_RUNS_UNSET, "1%", NULL), RD_EUSAGE);
	assert_string_equal(said, "inject: --until needs --sampling uniform");
	inject_setup_release(&s);
	free(said);
	said = NULL;
	s = (struct inject_setup){.sampling = rd_xstrdup("uniform")};
	assert_int_equal(inject_prepare_runs(&s, 5, "1%", "not-activated"), RD_EUSAGE);
	assert_string_equal(
		said, "inject: --outcome not-activated: must be one of: crash hang detected sdc masked");
	inject_setup_release(&s);
}

static void files_of_a_run(void **state)
{
	struct inject_setup s = {0};
	char *directory, *path;

	(void)state;
	assert_int_equal(rd_scratch_open(&directory, NULL, "raddle-u-inject"), RD_OK);
	path = rd_xasprintf("%s/in.txt", directory);
	assert_int_equal(rd_file_write(path, "x", 1), RD_OK);
	inject_list_add(&s.argv, "./prog");
	inject_list_add(&s.argv, path); /* an absolute path works in every run */
	assert_int_equal(inject_prepare_files(&s, path, path), RD_OK);
	assert_null(said);
	assert_int_equal(s.inputs.count, 1);
	assert_string_equal(s.names.items[0], "in.txt");
	assert_non_null(s.input);
	assert_int_equal(inject_prepare_files(&s, directory, NULL), RD_EUSAGE);
	assert_non_null(strstr(said, ": --input takes files"));
	inject_setup_release(&s);
	rd_scratch_close(directory);
	free(path);
}

/* A relative path in the arguments does not exist in the directory of a run, unless --input copies
 * the file there. */
static void warns_of_files(void **state)
{
	struct inject_setup s = {0};
	char *directory, here[4096];

	(void)state;
	assert_int_equal(rd_scratch_open(&directory, NULL, "raddle-u-inject"), RD_OK);
	assert_non_null(getcwd(here, sizeof here));
	assert_int_equal(chdir(directory), 0);
	assert_int_equal(rd_file_write("in.txt", "x", 1), RD_OK);
	inject_list_add(&s.argv, "./prog");
	inject_list_add(&s.argv, "./in.txt");
	assert_int_equal(inject_prepare_files(&s, "in.txt", NULL), RD_OK);
	assert_null(said);
	inject_list_release(&s.names);
	inject_list_release(&s.inputs);
	s.names = s.inputs = (struct inject_list){0};
	assert_int_equal(inject_prepare_files(&s, NULL, NULL), RD_OK);
	assert_non_null(
		strstr(said, "inject: ./in.txt is a file here, but runs have directories of their own"));
	assert_int_equal(chdir(here), 0);
	inject_setup_release(&s);
	rd_scratch_close(directory);
}

/* ---- the directory of a campaign ---- */

static void only_campaigns_are_replaced(void **state)
{
	struct inject_start c = {0};
	char *directory, *file, *campaign;

	(void)state;
	assert_int_equal(rd_scratch_open(&directory, NULL, "raddle-u-inject"), RD_OK);
	file = rd_xasprintf("%s/c/thesis.txt", directory);
	campaign = rd_xasprintf("%s/c", directory);
	assert_int_equal(rd_mkdirs(campaign), RD_OK);
	assert_int_equal(rd_file_write(file, "x", 1), RD_OK);
	assert_int_equal(inject_start_directory(&c, campaign, true), RD_EUSAGE);
	assert_non_null(strstr(said, "it exists, but is not the directory of a campaign"));
	assert_true(rd_file_exists(file));
	inject_start_release(&c);
	unlink(file);
	free(file);
	free(said);
	said = NULL;
	file = rd_xasprintf("%s/c/campaign.json", directory);
	assert_int_equal(rd_file_write(file, "{}", 2), RD_OK);
	c = (struct inject_start){0};
	assert_int_equal(inject_start_directory(&c, campaign, false), RD_EUSAGE);
	assert_non_null(strstr(said, "this is a campaign; --resume continues it, -f replaces it"));
	inject_start_release(&c);
	c = (struct inject_start){0};
	assert_int_equal(inject_start_directory(&c, campaign, true), RD_OK);
	assert_false(rd_file_exists(file));
	assert_true(rd_file_exists(campaign));
	inject_start_release(&c); /* it removes the directory, because nothing was stored in it */
	assert_false(rd_file_exists(campaign));
	rd_scratch_close(directory);
	RD_FREE(file, campaign);
}

static void not_said(const struct inject_setup *s, const char *path)
{
	(void)s;
	(void)path;
	fail_msg("there is no setup");
}

static void no_campaign_to_resume(void **state)
{
	struct inject_start c = {0};

	(void)state;
	assert_int_equal(inject_start_resume(&c, "/nonexistent", false, not_said), RD_ENOTFOUND);
	assert_string_equal(said, "/nonexistent: there is no campaign, or it was never started");
	inject_start_release(&c);
}

/* ---- reports of progress ---- */

static void pace(void **state)
{
	struct inject_pace p = inject_pace(0, 10, 500, 1000);

	(void)state;
	/* this process has done no runs, so the rate is unknown */
	assert_true(p.rate < 0 && p.left < 0);
	p = inject_pace(50, 10, 550, 1000);
	assert_float_equal(p.rate, 5, 1e-9);
	assert_float_equal(p.left, 90, 1e-9);
	p = inject_pace(50, 10, 1200, 1000); /* more runs are done than expected */
	assert_float_equal(p.left, 0, 1e-9);
}

static void times(void **state)
{
	static const struct {
		double seconds;
		const char *text;
	} rows[] = {{0, "0 s"},
		    {59.4, "59 s"},
		    {59.6, "1 min 0 s"},
		    {200, "3 min 20 s"},
		    {3599, "59 min 59 s"},
		    {7800, "2 h 10 min"},
		    {1e300, "277777 h 46 min"}};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct rd_buf b = RD_BUF_INIT;

		inject_time_text(&b, rows[i].seconds);
		assert_string_equal(b.data, rows[i].text);
		rd_buf_release(&b);
	}
}

static void faults_of_a_line(void **state)
{
	struct inject_fault fault;

	(void)state;
	assert_int_equal(inject_log_fault_line("not json", &fault), RD_EFORMAT);
	assert_non_null(strstr(said, "inject: --repeat: not a line of a log: "));
	assert_int_equal(inject_kind_check("all"), RD_OK);
	assert_true(inject_kind_check("BitFlip,NoSuchKind") < 0);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, begin, end)
	const struct CMUnitTest tests[] = {
		T(input_names),
		T(seeds),
		T(words_that_mean_something),
		T(number_of_runs),
		T(files_of_a_run),
		T(warns_of_files),
		T(until_that_cannot_be),
		T(only_campaigns_are_replaced),
		T(pace),
		T(times),
		T(no_campaign_to_resume),
		T(faults_of_a_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
