// SPDX-License-Identifier: Apache-2.0
/*
 * Calls commands as functions.  Senseless arguments must lead to CMD_FAILED and one message before
 * anything is run or written.  Also tests the options that one command makes for another.
 */
#include "golden.h"

#include "base/error.h"
#include "base/process.h"
#include "cmd/classes-int.h"
#include "cmd/classify-anew-int.h"
#include "cmd/cmd-int.h"
#include "cmd/findings-int.h"
#include "cmd/prediction-int.h"
#include "cmd/slurm-int.h"

#include <stdio.h>

enum { WORDS_MAX = 16 };

static char *message;
static unsigned messages;

static void listen(void *context, enum rd_level level, const char *text)
{
	(void)context;
	if (level != RD_LOG_ERROR)
		return;
	messages++;
	if (!message)
		message = strdup(text);
}

static void forget(void)
{
	free(message);
	message = NULL;
	messages = 0;
}

static int begin(void **state)
{
	(void)state;
	memset(&opt, 0, sizeof opt);
	opt.timeout = RD_OPTION_UNSET;
	setenv("RADDLE_FILE", "", 1); /* ignore a .raddle above this directory */
	unsetenv("RADDLE_OPTIONS");
	rd_log_set(listen, NULL);
	return 0;
}

static int end(void **state)
{
	(void)state;
	rd_log_set(NULL, NULL);
	rd_log_level(RD_LOG_WARN);
	forget();
	return 0;
}

/* Runs `raddle` with these words and returns its status. */
static int run(const char *line)
{
	char *copy = rd_xstrdup(line), *argv[WORDS_MAX] = {0}, *rest;
	int argc = 0, status;
	FILE *before = stdout;

	forget();
	for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
		assert_true(argc + 1 < WORDS_MAX);
		argv[argc++] = word;
	}
	status = cmd_run(argc, argv);
	if (stdout != before) /* text for people goes through another stream */
		fclose(stdout);
	stdout = before;
	free(copy);
	return status;
}

/* ---- the status after senseless arguments ---- */

static const struct {
	const char *line, *message; /* the beginning of the message */
} wrong[] = {
	{"raddle campaign", "campaign: which directory?"},
	{"raddle campaign --against a b c", "campaign: --against needs exactly one other campaign"},
	{"raddle candidates", "candidates: needs a program"},
	{"raddle candidates a b", "candidates: unexpected argument 'b'"},
	{"raddle check", "check: which program?"},
	{"raddle check --fail-on worse -- p", "check: --fail-on is spec-violated, "},
	{"raddle check --strategy chess -- p", "check: --strategy is walk, pct, "},
	{"raddle check --memory-models tso,x86 -- p", "check: --memory-models: 'x86' is "},
	{"raddle check --coherent -- p", "check: --coherent needs --memory-models weak"},
	{"raddle classify", "classify: which findings?"},
	{"raddle classify --resume d", "classify: --resume needs --shard"},
	{"raddle classify --executor pbs f", "classify: --executor pbs: must be local or slurm"},
	{"raddle classify --shards 3 f", "classify: --shards and --slurm-options need --executor slurm"},
	{"raddle classify --executor slurm f", "classify: -o DIR must name a directory"},
	{"raddle classify --sym pipe:1 f", "--sym: an input is argv:NUMBER, stdin, "},
	{"raddle compare a", "compare: needs a golden run and another one"},
	{"raddle compare --html page a b c", "compare: --html needs exactly one run"},
	{"raddle compare --first --html page a b", "compare: --html needs exactly one run"},
	{"raddle doctor now", "doctor takes no argument 'now'"},
	{"raddle dump", "dump: needs a trace or another artefact"},
	{"raddle dump --nothing t", "unknown option --nothing"},
	{"raddle dump -n many t", "--limit=many: not a number"},
	{"raddle explore", "explore: which program?"},
	{"raddle explore -R queue", "explore: which build directory (--ctest)?"},
	{"raddle explore --ctest build -- p", "explore: --ctest takes neither a program nor --resume"},
	{"raddle explore --ctest build --html page", "explore: --ctest takes neither a program nor --resume"},
	{"raddle explore --ctest build --strategy chess", "explore: --strategy is walk"},
	{"raddle explore --resume d -o e", "explore: --resume takes the program"},
	{"raddle explore --shard 1/2 -- p", "explore: --shard I/N needs --resume"},
	{"raddle export t", "export: needs --format std, perfetto or csp"},
	{"raddle export --format pdf t", "export: unknown format 'pdf'"},
	{"raddle flavour -o copy p", "-o works only with --flavour guard"},
	{"raddle import f", "import: needs -o DIR"},
	{"raddle import --format pdf -o d f", "import: unknown format 'pdf'"},
	{"raddle inject", "inject: which program?"},
	{"raddle inject -- p", "inject: no fault is given"},
	{"raddle inject --fault BitFlip --shard 0/2 -- p", "inject: --shard I/N needs --resume"},
	{"raddle inject --fault BitFlip --run 3 -- p", "inject: --run is for an existing campaign"},
	{"raddle inject --run 3", "inject: which campaign?"},
	{"raddle inject --resume d -- p", "inject: the program is that of the campaign"},
	{"raddle inject --resume d --until 1%", "inject: --until is for new campaigns"},
	{"raddle inject --fault BitFlip --outcome sdc -- p", "inject: --outcome is for --until"},
	{"raddle inject --fault BitFlip --process Q -- p", "inject: --process Q: not the name of a process"},
	{"raddle inject --executor slurm --list -- p", "inject: --executor slurm is for whole campaigns"},
	{"raddle inject --resume d --model m", "inject: the campaign already has its fault models"},
	{"raddle predict", "predict: needs a trace"},
	{"raddle predict --count --sarif f t", "predict: --count writes numbers only"},
	{"raddle record", "record: which program?"},
	{"raddle replay", "replay: which finding?"},
	{"raddle replay --flavour track f", "replay: --flavour track: it must be record or full"},
	{"raddle reversible", "reversible: needs a trace"},
	{"raddle sanitize --json -o d t", "sanitize: --json and -o cannot be combined"},
	{"raddle sketch", "sketch: which program?"},
	{"raddle slice p", "--at: which place?"},
	{"raddle slice --at nowhere p", "--at: which place?"},
	{"raddle slice --at a.c:0 --track", "slice: which program?"},
};

static void wrong_arguments_fail_with_one_message(void **state)
{
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		int status;

		begin(state);
		status = run(wrong[i].line);
		if (status != CMD_FAILED || !message || messages != 1 ||
		    strncmp(message, wrong[i].message, strlen(wrong[i].message)) != 0)
			fail_msg("%s: status %d, %u messages: %s", wrong[i].line, status, messages,
				 message ? message : "none");
	}
}

/* If a file is missing, the message names it. */
static void missing_files_are_named(void **state)
{
	static const char *const lines[] = {
		"raddle dump /nonexistent/a",	   "raddle export --format std /nonexistent/a",
		"raddle predict /nonexistent/a",   "raddle classify /nonexistent/a",
		"raddle sanitize /nonexistent/a",  "raddle campaign /nonexistent/a",
		"raddle compare /nonexistent/a b", "raddle reversible /nonexistent/a"};

	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
		begin(state);
		assert_int_equal(run(lines[i]), CMD_FAILED);
		if (!message || !strstr(message, "/nonexistent/a"))
			fail_msg("%s: %s", lines[i], message ? message : "no message");
	}
}

/* ---- options that one command passes to another ---- */

static char *joined(const struct rd_argv *words)
{
	struct rd_buf b = RD_BUF_INIT;

	for (size_t i = 0; i < words->count; i++)
		rd_buf_addf(&b, "%s%s", i ? " " : "", words->items[i]);
	return rd_buf_detach(&b);
}

static void expect_anew(const char *expected)
{
	char *argv[] = {(char[]){"./bank"}, (char[]){"--4"}, NULL}, *text;
	struct rd_argv words = RD_ARGV_INIT;

	cmd_classify_anew_words(argv, &words);
	text = joined(&words);
	assert_string_equal(text, expected);
	free(text);
	rd_argv_release(&words);
}

static void classification_anew_keeps_the_options(void **state)
{
	(void)state;
	opt.without_sync = "bank.c:31";
	expect_anew("check --without-sync=bank.c:31 -- ./bank --4");
	opt.timeout = 0; /* this means no limit, while an absent option means the default */
	expect_anew("check --without-sync=bank.c:31 --timeout=0ms -- ./bank --4");
	opt.timeout = 1500;
	opt.class_time = 90000;
	opt.jobs = 3;
	opt.coherent = opt.quiet = opt.verbose = true;
	opt.models = "weak";
	opt.json = "-";
	expect_anew(
		"check --without-sync=bank.c:31 --json=- --memory-models=weak --coherent --timeout=1500ms "
		"--time=90000ms --jobs=3 --quiet --verbose -- ./bank --4");
}

/* The options that were made can be parsed again, and mean the same. */
static void tests_of_a_suite_get_the_options(void **state)
{
	struct rd_argv words = RD_ARGV_INIT;
	char *text;

	(void)state;
	opt.schedules_most = opt.explore_seed = RD_OPTION_UNSET;
	cmd_explore_test_options(&words);
	assert_int_equal(words.count, 0); /* no option was given */
	opt.timeout = 0;
	opt.schedules_most = 12;
	opt.kernel_threads = true;
	opt.fail_if = "grep -q bad";
	opt.go_on = true;
	cmd_explore_test_options(&words);
	text = joined(&words);
	assert_string_equal(text,
			    "--schedules=12 --timeout=0ms --kernel-threads --fail-if=grep -q bad --all");
	free(text);
	rd_argv_release(&words);
}

/* ---- options that several commands share ---- */

static void classes_by_name(void **state)
{
	enum finding_class class = FINDING_CLASSES;

	(void)state;
	assert_int_equal(cmd_classes_option(NULL, "check", &class), RD_OK);
	assert_int_equal(class, FINDING_NO_CLASS);
	for (unsigned i = 1; i < FINDING_CLASSES; i++) {
		assert_int_equal(cmd_classes_option(finding_class_name(i), "check", &class), RD_OK);
		assert_int_equal(class, i);
	}
	assert_int_equal(cmd_classes_option("", "check", &class), RD_EUSAGE);
}

static void memory_models_are_bits(void **state)
{
	unsigned models = 0, all = 0;
	struct rd_buf names = RD_BUF_INIT;

	(void)state;
	assert_int_equal(cmd_classes_models(NULL, "check", "--memory", &models), RD_OK);
	assert_int_equal(models, 0);
	for (unsigned i = 0; i < FINDING_MODELS; i++) {
		rd_buf_addf(&names, "%s%s", i ? "," : "", finding_model_name(i));
		all |= 1u << i;
	}
	assert_int_equal(cmd_classes_models(names.data, "check", "--memory", &models), RD_OK);
	assert_int_equal(models, all);
	models = 0;
	assert_int_equal(cmd_classes_models("sc,", "check", "--memory", &models), RD_EUSAGE);
	opt.coherent = true;
	models = 0;
	forget();
	assert_int_equal(cmd_classes_models("sc", "check", "--memory", &models), RD_EUSAGE);
	assert_string_equal(message, "check: --coherent needs --memory weak");
	models = 0;
	assert_int_equal(cmd_classes_models("sc,weak", "check", "--memory", &models), RD_OK);
	rd_buf_release(&names);
}

static void limits_of_a_prediction(void **state)
{
	struct predict_batch p;

	(void)state;
	opt.prediction_memory = RD_OPTION_UNSET;
	cmd_prediction_start(&p);
	assert_int_equal(p.limit, UINT64_MAX); /* 0 means no limit */
	assert_true(p.work > 1000000);
	assert_true(p.memory > 0);
	opt.limit = 7;
	opt.work = 2;
	opt.prediction_memory = 12345;
	opt.sound_only = opt.no_deadlocks = true;
	cmd_prediction_start(&p);
	assert_int_equal(p.limit, 7);
	assert_int_equal(p.work, 2);
	assert_int_equal(p.memory, 12345);
	assert_true(p.sound_only && p.no_deadlocks && !p.no_races);
}

static void limits_have_three_meanings(void **state)
{
	(void)state;
	/* not given: the room chooses a limit */
	assert_int_equal(cmd_limit(RD_OPTION_UNSET, CMD_FOREVER), 0);
	assert_int_equal(cmd_limit(0, CMD_FOREVER), CMD_FOREVER);
	assert_int_equal(cmd_limit(250, CMD_FOREVER), 250);
}

static void shards_need_a_directory_and_a_number_below(void **state)
{
	static const char *const bad[] = {"2/2", "1", "1/", "a/2", "1/2x", "0/0", ""};
	unsigned shard = 9, shards = 9;

	(void)state;
	assert_int_equal(cmd_shard("inject", &shard, &shards), RD_OK);
	assert_true(shard == 0 && shards == 0);
	opt.shard = "1/3";
	assert_int_equal(cmd_shard("inject", &shard, &shards), RD_EUSAGE); /* --resume is missing */
	opt.resume = "d";
	assert_int_equal(cmd_shard("inject", &shard, &shards), RD_OK);
	assert_true(shard == 1 && shards == 3);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		opt.shard = bad[i];
		assert_int_equal(cmd_shard("inject", &shard, &shards), RD_EUSAGE);
	}
}

/* ---- running the program of a findings document again ---- */

static struct finding_set *document(void)
{
	static const char *argv[] = {"./bank", "4"};
	struct finding_set *set = finding_set_new();

	set->argv = argv;
	set->argc = 2;
	set->with = "client";
	set->setup = "reset";
	set->plugins = "p.so";
	set->timeout = 7;
	return set;
}

/* The document says how to run its program (--with, --setup and so on).  Options of the user have
 * priority. */
static void documents_bring_their_means(void **state)
{
	struct finding_set *set = document();

	(void)state;
	opt.setup = "mine";
	cmd_findings_means(set, "/nonexistent", false);
	assert_string_equal(opt.with, "client");
	assert_string_equal(opt.setup, "mine");
	assert_string_equal(opt.plugins, "p.so");
	assert_int_equal(opt.timeout, 7000);
	/* so that the next reader of the document runs it in the same way */
	assert_string_equal(set->setup, "mine");
	assert_int_equal(set->timeout, 7);
	finding_set_free(set);
}

static void another_program_has_none_of_them(void **state)
{
	struct finding_set *set = document();

	(void)state;
	opt.timeout = 1500;
	cmd_findings_means(set, "/nonexistent", true);
	assert_null(opt.with);
	assert_null(opt.setup);
	assert_null(opt.plugins);
	assert_null(set->with);
	assert_int_equal(opt.timeout, 1500);
	assert_int_equal(set->timeout, 2); /* rounded up to whole seconds */
	finding_set_free(set);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(wrong_arguments_fail_with_one_message),
		TEST(missing_files_are_named),
		TEST(classification_anew_keeps_the_options),
		TEST(tests_of_a_suite_get_the_options),
		TEST(classes_by_name),
		TEST(memory_models_are_bits),
		TEST(limits_of_a_prediction),
		TEST(limits_have_three_meanings),
		TEST(shards_need_a_directory_and_a_number_below),
		TEST(documents_bring_their_means),
		TEST(another_program_has_none_of_them),
	};

	/* Some commands read standard input, to pass it to the program that they run.  The tests
	 * must not wait for it. */
	if (!freopen("/dev/null", "r", stdin))
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
