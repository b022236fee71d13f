// SPDX-License-Identifier: Apache-2.0
/* Unit tests of what reports say about explorations and diagnoses, apart from their findings. */
#include "golden.h"

#include "report/diagnosis.h"
#include "report/explore.h"

static char *explored(const struct explore_result *r)
{
	struct finding_set *set = finding_set_new();
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	report_explore_text(set, r, out);
	fclose(out);
	finding_set_free(set);
	return text;
}

static void explorations(void **state)
{
	struct explore_result r = {.schedules = 54, .different = 40, .stop = EXPLORE_SETTLED};
	char *text = explored(&r);

	(void)state;
	assert_memory_equal(text,
			    "Raddle: 0 failures in 54 schedules, 40 of them different; the last ones brought "
			    "nothing new\n",
			    88);
	assert_null(strstr(text, "could not be judged"));
	free(text);
	r.stop = EXPLORE_TIME;
	r.discarded = 3;
	r.unrepeated = 2;
	text = explored(&r);
	assert_non_null(strstr(text, "; the time was up (--time)\n"));
	assert_non_null(strstr(text, "3 runs could not be judged: \n")); /* no reason is known */
	assert_non_null(strstr(text, "2 failures could not be repeated and are not reported.\n"));
	free(text);
}

static void numbers(void **state)
{
	struct explore_result r = {.schedules = 54, .first_failure = 7};
	struct finding_set *set = finding_set_new();
	char *text = NULL;
	size_t length;
	FILE *out;

	(void)state;
	report_explore_numbers(set, &r);
	finding_set_finish(set);
	out = open_memstream(&text, &length);
	assert_int_equal(finding_write(set, out), 0);
	fclose(out);
	assert_non_null(strstr(text, "\"schedules\": 54"));
	assert_non_null(strstr(text, "\"first_failure\": 7"));
	free(text);
	finding_set_free(set);
}

static char *diagnosed(const struct diagnosis *d, const struct sketch_failure *wanted)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	report_diagnosis_text(d, wanted, out);
	fclose(out);
	return text;
}

static void diagnoses(void **state)
{
	struct diagnosis d = {.failed = 2};
	struct sketch_failure wanted = {.kind = SKETCH_CRASH, .file = "bank.c", .line = 12};
	char *text;

	(void)state;
	d.set.runs = 30;
	text = diagnosed(&d, NULL);
	assert_string_equal(text, "No run of 30 failed.\n");
	free(text);
	text = diagnosed(&d, &wanted);
	assert_string_equal(text, "No run of 30 failed at bank.c:12; 2 failed elsewhere.\n");
	free(text);
	d.set.count = 1; /* failures that were explained need no sentence here */
	d.set.unexplained = 3;
	text = diagnosed(&d, &wanted);
	assert_string_equal(text,
			    "3 more kinds of failures occurred and are not explained; more time (--time) "
			    "may help.\n");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(explorations),
		cmocka_unit_test(numbers),
		cmocka_unit_test(diagnoses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
