// SPDX-License-Identifier: Apache-2.0
/* Unit tests of the summary of a recorded run, and of what it says about faults. */
#include "golden.h"

#include "base/error.h"
#include "record/summary.h"

#include <jansson.h>

static json_t *summary(const struct trace_meta *meta)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);
	json_t *root;

	assert_int_equal(record_summary_json(meta, "trace", out), RD_OK);
	fclose(out);
	root = json_loads(text, 0, NULL);
	assert_non_null(root);
	free(text);
	return root;
}

static void ends_of_a_run(void **state)
{
	struct trace_meta meta = {.program = (char *)"./bank",
				  .end = TRACE_EXITED,
				  .code = 3,
				  .complete = true,
				  .threads = 5,
				  .events = 244,
				  .start_ns = 1000000000,
				  .end_ns = 1500000000};
	json_t *root = summary(&meta), *status = json_object_get(root, "status");

	(void)state;
	assert_int_equal(json_integer_value(json_object_get(status, "exit")), 3);
	assert_null(json_object_get(status, "signal"));
	assert_float_equal(json_number_value(json_object_get(root, "seconds")), 0.5, 1e-6);
	assert_string_equal(json_string_value(json_object_get(root, "trace")), "trace");
	json_decref(root);
	meta.end = TRACE_SIGNALLED;
	meta.code = 11;
	meta.core = true;
	root = summary(&meta);
	status = json_object_get(root, "status");
	assert_int_equal(json_integer_value(json_object_get(status, "signal")), 11);
	assert_true(json_is_true(json_object_get(status, "core")));
	assert_null(json_object_get(status, "exit"));
	json_decref(root);
}

static void words(void **state)
{
	struct trace_meta meta = {.threads = 5, .events = 244, .bytes = 1607};
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	(void)state;
	record_summary_text(&meta, "trace", out);
	fclose(out);
	assert_string_equal(text, "raddle: recorded 244 events of 5 threads into trace (1607 bytes)\n");
	free(text);
	meta.left_out = 9;
	out = open_memstream(&text, &length);
	record_summary_text(&meta, "trace", out);
	fclose(out);
	assert_non_null(strstr(text, "\nraddle: left out 9 accesses"));
	free(text);
}

static void lists_of_faults(void **state)
{
	struct run_fault *faults;
	size_t count;

	(void)state;
	assert_int_equal(run_faults_parse("T_0:0x10005:3:flip:0x80,T_0_1:7:1:set:1", &faults, &count), RD_OK);
	assert_int_equal(count, 2);
	assert_int_equal(faults[0].site, 0x10005);
	assert_int_equal(faults[0].instance, 3);
	assert_int_equal(faults[1].depth, 1);
	free(faults);
	rd_log_set(rd_log_discard, NULL);
	assert_true(run_faults_parse("T_0:0x10005:3:flip:0x80,nonsense", &faults, &count) < 0);
	rd_log_set(NULL, NULL);
	free(faults);
	assert_int_equal(run_faults_parse("", &faults, &count), RD_OK);
	assert_int_equal(count, 0);
	assert_null(faults);
}

static void faults_that_fired(void **state)
{
	const struct run_fault faults[] = {{.fired = 2, .before = 5, .after = 7}, {.seen = 4}};
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	(void)state;
	record_faults_text(faults, 2, out);
	fclose(out);
	assert_string_equal(text, "raddle: fault 0 changed 2 values, the first from 0x5 to 0x7\n"
				  "raddle: fault 1 did not happen: its site was executed 4 times\n");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ends_of_a_run),
		cmocka_unit_test(words),
		cmocka_unit_test(lists_of_faults),
		cmocka_unit_test(faults_that_fired),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
