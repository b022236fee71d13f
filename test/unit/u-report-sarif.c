// SPDX-License-Identifier: Apache-2.0
/*
 * Unit tests of the SARIF report: the golden file, and those rules of the SARIF 2.1.0 schema and
 * specification that apply to the members that Raddle writes.
 */
#include "finding-fixture.h"
#include "golden.h"

#include "base/file.h"
#include "report/report.h"

#include <jansson.h>
#include <sys/stat.h>
#include <unistd.h>

static json_t *log_of(const struct finding_set *set, const struct report_opts *opts)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	assert_int_equal(report_sarif(set, opts, out), 0);
	assert_int_equal(fclose(out), 0);
	json_t *log = json_loadb(text, length, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(log);
	free(text);
	return log;
}

static const char *text(const json_t *object, const char *key)
{
	const char *value = json_string_value(json_object_get(object, key));

	assert_non_null(value);
	return value;
}

static json_t *at(const json_t *object, const char *key, size_t i)
{
	return json_array_get(json_object_get(object, key), i);
}

/* Checks that an object has only members of the schema; `names` lists them, separated by blanks. */
static void expect_members(json_t *object, const char *names)
{
	const char *key;
	json_t *value;

	assert_true(json_is_object(object));
	json_object_foreach(object, key, value)
	{
		char *padded = rd_xasprintf(" %s ", key), *list = rd_xasprintf(" %s ", names);

		if (!strstr(list, padded))
			fail_msg("unexpected member %s", key);
		free(padded);
		free(list);
	}
}

static void check_message(json_t *message)
{
	expect_members(message, "text");
	assert_true(strlen(text(message, "text")) > 0);
}

/* A relative URI must name its base, and an absolute one must not. */
static void check_artifact(json_t *artifact)
{
	const char *uri = text(artifact, "uri");
	bool absolute = strncmp(uri, "file:///", 8) == 0;

	expect_members(artifact, "uri uriBaseId");
	assert_int_equal(strcspn(uri, " <>\"{}|\\^`[]"), strlen(uri));
	assert_true(*uri != '/');
	assert_null(strstr(uri, ".."));
	assert_true(absolute == !json_object_get(artifact, "uriBaseId"));
	if (!absolute)
		assert_string_equal(text(artifact, "uriBaseId"), "%SRCROOT%");
}

static void check_location(json_t *location)
{
	json_t *physical = json_object_get(location, "physicalLocation");
	json_t *region = json_object_get(physical, "region");

	expect_members(location, "id physicalLocation logicalLocations message");
	if (physical) {
		expect_members(physical, "artifactLocation region");
		check_artifact(json_object_get(physical, "artifactLocation"));
	}
	if (region) {
		expect_members(region, "startLine startColumn snippet");
		if (json_object_get(region, "snippet"))
			check_message(json_object_get(region, "snippet"));
		assert_true(json_integer_value(json_object_get(region, "startLine")) >= 1);
	}
	if (json_object_get(location, "message"))
		check_message(json_object_get(location, "message"));
}

static void check_flows(json_t *result)
{
	json_t *flow = at(result, "codeFlows", 0), *thread, *step;
	size_t i, k;

	if (!flow)
		return;
	expect_members(flow, "message threadFlows");
	assert_true(json_array_size(json_object_get(flow, "threadFlows")) >= 1);
	json_array_foreach(json_object_get(flow, "threadFlows"), i, thread)
	{
		json_int_t last = -1;

		expect_members(thread, "id locations");
		assert_true(json_array_size(json_object_get(thread, "locations")) >= 1);
		json_array_foreach(json_object_get(thread, "locations"), k, step)
		{
			json_int_t order = json_integer_value(json_object_get(step, "executionOrder"));

			expect_members(step, "executionOrder importance location");
			assert_true(order > last);
			last = order;
			check_location(json_object_get(step, "location"));
		}
	}
}

static void check_stacks(json_t *result)
{
	json_t *stack, *frame;
	size_t i, k;

	json_array_foreach(json_object_get(result, "stacks"), i, stack)
	{
		expect_members(stack, "message frames");
		check_message(json_object_get(stack, "message"));
		json_array_foreach(json_object_get(stack, "frames"), k, frame)
		{
			expect_members(frame, "location module");
			check_location(json_object_get(frame, "location"));
		}
	}
}

static void check_result(json_t *result, json_t *rules)
{
	json_t *location;
	size_t i;

	expect_members(result,
		       "ruleId ruleIndex level rank message locations relatedLocations stacks codeFlows "
		       "partialFingerprints baselineState suppressions occurrenceCount properties");
	json_t *rule =
		json_array_get(rules, (size_t)json_integer_value(json_object_get(result, "ruleIndex")));
	assert_string_equal(text(result, "ruleId"), text(rule, "id"));
	check_message(json_object_get(result, "message"));
	json_array_foreach(json_object_get(result, "locations"), i, location) check_location(location);
	json_array_foreach(json_object_get(result, "relatedLocations"), i, location) check_location(location);
	check_stacks(result);
	check_flows(result);
	assert_int_equal(strlen(text(json_object_get(result, "partialFingerprints"), "raddleId/v1")), 16);
	assert_true(json_integer_value(json_object_get(result, "occurrenceCount")) >= 1);
}

/* The base of relative URIs is a directory. */
static void check_base(json_t *bases)
{
	json_t *base = json_object_get(bases, "%SRCROOT%");
	const char *uri = text(base, "uri");

	expect_members(base, "uri description");
	assert_memory_equal(uri, "file:///", 8);
	assert_int_equal(uri[strlen(uri) - 1], '/');
}

/* GitHub shows this beside an alert: two paragraphs, help in both forms, and an address. */
static void check_rules(json_t *rules)
{
	json_t *rule;
	size_t i;

	assert_int_equal(json_array_size(rules), FINDING_KINDS);
	json_array_foreach(rules, i, rule)
	{
		json_t *help = json_object_get(rule, "help");

		expect_members(rule, "id name shortDescription fullDescription help helpUri "
				     "defaultConfiguration properties");
		check_message(json_object_get(rule, "shortDescription"));
		check_message(json_object_get(rule, "fullDescription"));
		expect_members(help, "text markdown");
		assert_true(strlen(text(help, "text")) > 0 && strlen(text(help, "markdown")) > 0);
		assert_non_null(strchr(text(rule, "helpUri"), ':'));
		assert_int_not_equal(strcasecmp(text(rule, "id"), text(rule, "name")), 0);
	}
}

static void check_log(json_t *log)
{
	json_t *run = at(log, "runs", 0), *driver, *result;
	size_t i;

	expect_members(log, "$schema version runs");
	assert_string_equal(text(log, "version"), "2.1.0");
	expect_members(run, "tool automationDetails invocations originalUriBaseIds columnKind results");
	driver = json_object_get(json_object_get(run, "tool"), "driver");
	expect_members(driver, "name fullName version informationUri rules");
	assert_int_equal(strncmp(text(driver, "fullName"), "Raddle", 6), 0);
	assert_int_equal(strncmp(text(json_object_get(run, "automationDetails"), "id"), "raddle/", 7), 0);
	assert_non_null(strchr(text(driver, "informationUri"), ':'));
	check_base(json_object_get(run, "originalUriBaseIds"));
	check_rules(json_object_get(driver, "rules"));
	assert_string_equal(text(driver, "name"), "Raddle");
	expect_members(at(run, "invocations", 0), "executionSuccessful arguments");
	json_array_foreach(json_object_get(run, "results"), i, result)
		check_result(result, json_object_get(driver, "rules"));
}

static void follows_the_rules(void **state)
{
	struct finding_set *set = fixture_set();
	json_t *log = log_of(set, &(struct report_opts){0});
	json_t *results = json_object_get(at(log, "runs", 0), "results");

	(void)state;
	check_log(log);
	assert_int_equal(json_array_size(results), 3);
	assert_string_equal(text(json_array_get(results, 0), "level"), "error");
	assert_string_equal(text(json_array_get(results, 2), "level"), "note");
	assert_null(json_object_get(json_array_get(results, 0), "baselineState"));
	json_decref(log);
	finding_set_free(set);
}

/* The class of a confirmed race determines its level. */
static void classes_are_levels(void **state)
{
	static const struct {
		enum finding_class class;
		const char *level;
		double rank;
	} rows[] = {{FINDING_SPEC_VIOLATED, "error", 100},
		    {FINDING_OUTPUT_DIFFERS, "error", 80},
		    {FINDING_K_WITNESS_HARMLESS, "warning", 30},
		    {FINDING_SINGLE_ORDERING, "note", 10}};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct finding_set *set = fixture_classified();
		finding_classify(set->items[0], FINDING_SC, rows[i].class);
		finding_classify(set->items[0], FINDING_TSO, rows[i].class);
		json_t *log = log_of(set, &(struct report_opts){0});
		json_t *results = json_object_get(at(log, "runs", 0), "results");
		json_t *properties = json_object_get(json_array_get(results, 0), "properties");

		check_log(log);
		assert_string_equal(text(json_array_get(results, 0), "level"), rows[i].level);
		assert_true(json_number_value(json_object_get(json_array_get(results, 0), "rank")) ==
			    rows[i].rank);
		assert_string_equal(text(properties, "consequence"), "crash");
		assert_int_equal(json_array_size(json_object_get(properties, "witnesses")), 3);
		/* the result of the candidate */
		assert_string_equal(text(json_array_get(results, 1), "level"), "note");
		json_decref(log);
		finding_set_free(set);
	}
}

static void golden_log(void **state)
{
	struct finding_set *set = fixture_set();
	char *written = NULL;
	size_t length;
	FILE *out = open_memstream(&written, &length);

	(void)state;
	assert_int_equal(report_sarif(set, &(struct report_opts){.root = "/home/ada/counter"}, out), 0);
	fclose(out);
	golden_check("report.sarif", written, length);
	free(written);
	finding_set_free(set);
}

static void known_and_suppressed(void **state)
{
	struct finding_set *set = fixture_set();

	(void)state;
	set->items[0]->known = true;
	set->items[1]->suppressed = "deadlock:transfer";
	json_t *log = log_of(set, &(struct report_opts){.baseline = true});
	json_t *run = at(log, "runs", 0);
	check_log(log);
	json_t *deadlock = at(run, "results", 0), *race = at(run, "results", 1);

	assert_string_equal(text(race, "ruleId"), "race");
	assert_string_equal(text(race, "baselineState"), "unchanged");
	assert_string_equal(text(deadlock, "baselineState"), "new");
	assert_string_equal(text(at(deadlock, "suppressions", 0), "kind"), "external");
	json_decref(log);
	finding_set_free(set);
}

/* The text of a source line, if it is available, is given for the places of a result but not for
 * each step. */
static void snippets(void **state)
{
	char directory[] = "/tmp/u-report-sarif-XXXXXX";
	struct finding_set *set = finding_set_new();
	struct finding *f = fixture_race(set, "x", 2);

	(void)state;
	assert_non_null(mkdtemp(directory));
	char *path = rd_xasprintf("%s/a.c", directory);
	assert_int_equal(rd_file_write(path, "one\n\ttwo \xff\r\nthree", 16), 0);
	f->accesses[0].stack.frames[0].file = "a.c";
	f->accesses[0].stack.frames[0].line = 2;
	f->accesses[1].stack.frames[0].file = "missing.c";
	finding_set_finish(set);
	json_t *log = log_of(set, &(struct report_opts){.root = directory});
	json_t *result = at(at(log, "runs", 0), "results", 0);
	json_t *first = json_object_get(at(result, "locations", 0), "physicalLocation");
	json_t *second = json_object_get(at(result, "relatedLocations", 0), "physicalLocation");
	check_log(log);
	const char *shown = text(json_object_get(json_object_get(first, "region"), "snippet"), "text");
	assert_int_equal(strncmp(shown, "\ttwo ", 5), 0);
	assert_null(strchr(shown, '\n'));
	assert_null(json_object_get(json_object_get(second, "region"), "snippet"));
	json_decref(log);
	finding_set_free(set);
	rd_remove_tree(directory);
	free(path);
}

static void odd_places(void **state)
{
	static const struct {
		const char *file, *uri;
	} cases[] = {
		{"/src/a b.c", "file:///src/a%20b.c"},
		{"a:b.c", "./a:b.c"},
		{"50%\xff#?.c", "50%25%FF%23%3F.c"},
		{"\xc3\xa4.c", "%C3%A4.c"},
		{"/home/ada/my project/src/a.c", "src/a.c"}, /* below the top directory */
		{"../my project/./src//a.c", "src/a.c"},
		{"../lib/a.c", "file:///home/ada/lib/a.c"},
		{"../../../../../a.c", "file:///a.c"},
		{"/home/ada/my projects/a.c", "file:///home/ada/my%20projects/a.c"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct finding_set *set = finding_set_new();
		struct finding *f = fixture_race(set, "x", 0);

		f->accesses[0].stack.frames[0].file = cases[i].file;
		f->accesses[1].stack.count = 0;
		finding_set_finish(set);
		json_t *log = log_of(set, &(struct report_opts){.root = "/home/ada/my project"});
		json_t *place = json_object_get(at(at(at(log, "runs", 0), "results", 0), "locations", 0),
						"physicalLocation");
		check_log(log);
		assert_string_equal(text(json_object_get(place, "artifactLocation"), "uri"), cases[i].uri);
		assert_null(json_object_get(place, "region"));
		json_decref(log);
		finding_set_free(set);
	}
}

/* If no root is given, the top directory is that of the repository around the working directory. */
static void top_is_the_repository(void **state)
{
	char top[] = "/tmp/raddle-sarif-XXXXXX", *back = getcwd(NULL, 0);
	struct finding_set *set = finding_set_new();
	struct finding *f = fixture_race(set, "x", 0);

	(void)state;
	assert_non_null(mkdtemp(top));
	assert_int_equal(chdir(top), 0);
	assert_int_equal(mkdir(".git", 0777) | mkdir("build", 0777) | chdir("build"), 0);
	f->accesses[0].stack.frames[0].file = "../src/a.c";
	finding_set_finish(set);
	json_t *log = log_of(set, &(struct report_opts){0});
	json_t *run = at(log, "runs", 0);
	json_t *place = json_object_get(at(at(run, "results", 0), "locations", 0), "physicalLocation");
	char *base = rd_xasprintf("file://%s/", top);
	check_log(log);
	assert_string_equal(text(json_object_get(place, "artifactLocation"), "uri"), "src/a.c");
	assert_string_equal(
		text(json_object_get(json_object_get(run, "originalUriBaseIds"), "%SRCROOT%"), "uri"), base);
	assert_int_equal(chdir(top) | rmdir("build") | rmdir(".git") | rmdir(top), 0);
	assert_int_equal(chdir(back), 0);
	free(base);
	free(back);
	json_decref(log);
	finding_set_free(set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(classes_are_levels),
		cmocka_unit_test(follows_the_rules),
		cmocka_unit_test(golden_log),
		cmocka_unit_test(known_and_suppressed),
		cmocka_unit_test(snippets),
		cmocka_unit_test(odd_places),
		cmocka_unit_test(top_is_the_repository),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
