// SPDX-License-Identifier: Apache-2.0
/* Unit tests of the summary of a classification. */
#include "finding-fixture.h"
#include "golden.h"

#include "report/classes.h"

static char *said(const struct finding_set *set, const struct classify_result *r)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	report_classes(set, r, out);
	fclose(out);
	return text;
}

static size_t with_class(const struct finding_set *set, enum finding_class class)
{
	size_t n = 0;

	for (size_t i = 0; i < set->count; i++)
		n += set->items[i]->class == class;
	return n;
}

static void counts(void **state)
{
	struct finding_set *set = fixture_classified();
	char *text = said(set, &(struct classify_result){0}), *expected;

	(void)state;
	expected = rd_xasprintf("%zu spec-violated", with_class(set, FINDING_SPEC_VIOLATED));
	assert_memory_equal(text, "Classes: ", 9);
	assert_non_null(strstr(text, expected));
	assert_null(strstr(text, "Not classified"));
	free(expected);
	free(text);
	finding_set_free(set);
}

/* If no race has a class, classes are not mentioned. */
static void nothing_classified(void **state)
{
	struct finding_set *set = finding_set_new();
	struct classify_result r = {.undecided = 2, .untried = 3};
	char *text = said(set, &r);

	(void)state;
	assert_string_equal(text, "Not classified: 2; their notes state why.\n"
				  "Not classified in the time given (--time raises it): 3.\n");
	free(text);
	r.interrupted = true;
	text = said(set, &r);
	assert_non_null(strstr(text, "Not classified before the interrupt: 3.\n"));
	free(text);
	finding_set_free(set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts),
		cmocka_unit_test(nothing_classified),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
