// SPDX-License-Identifier: Apache-2.0
/* Unit tests of the differences between two checks. */
#include "finding-fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/random.h"
#include "finding/diff.h"
#include "report/diff.h"

#include <stdlib.h>
#include <string.h>

static void confirm(struct finding_set *set, const char *object)
{
	fixture_race(set, object, 12)->status = FINDING_CONFIRMED;
}

static void new_fixed_and_still(void **state)
{
	struct finding_set *before = finding_set_new(), *after = finding_set_new();
	struct finding_diff d;

	(void)state;
	confirm(before, "gone");
	confirm(before, "there");
	confirm(after, "there");
	confirm(after, "fresh");
	fixture_race(after, "unsure", 12); /* an unconfirmed race does not count */
	finding_set_finish(before);
	finding_set_finish(after);
	finding_diff_make(&d, before, after);
	assert_int_equal(d.count, 3);
	static const char *const objects[] = {"fresh", "gone", "there"};
	for (size_t i = 0; i < d.count; i++) {
		assert_int_equal(d.items[i].change, i);
		assert_string_equal(d.items[i].bug->findings[0]->object.name, objects[i]);
	}
	finding_diff_release(&d);
	finding_set_free(before);
	finding_set_free(after);
}

/* The slow, obvious definition: a name is new if only the second set has it, and so on. */
static void as_sets_of_names(void **state)
{
	static const char *const names[] = {"a", "b", "c", "d"};
	struct rd_random random = {.state = 3};

	(void)state;
	for (unsigned round = 0; round < 50; round++) {
		struct finding_set *sets[2] = {finding_set_new(), finding_set_new()};
		size_t expected[FINDING_CHANGES] = {0};
		struct finding_diff d;

		for (size_t i = 0; i < 4; i++) {
			bool has[2] = {rd_random_below(&random, 2), rd_random_below(&random, 2)};

			for (size_t k = 0; k < 2; k++)
				if (has[k])
					confirm(sets[k], names[i]);
			expected[FINDING_NEW] += !has[0] && has[1];
			expected[FINDING_FIXED] += has[0] && !has[1];
			expected[FINDING_STILL] += has[0] && has[1];
		}
		finding_set_finish(sets[0]);
		finding_set_finish(sets[1]);
		finding_diff_make(&d, sets[0], sets[1]);
		assert_memory_equal(d.counts, expected, sizeof expected);
		finding_diff_release(&d);
		finding_set_free(sets[0]);
		finding_set_free(sets[1]);
	}
}

static void in_words(void **state)
{
	struct finding_set *before = finding_set_new(), *after = finding_set_new();
	struct finding_diff d;
	char *text = NULL, line[80];
	size_t length;
	FILE *out = open_memstream(&text, &length);

	(void)state;
	confirm(after, "hits");
	finding_set_finish(after);
	finding_diff_make(&d, before, after);
	report_diff_text(&d, out);
	fclose(out);
	snprintf(line, sizeof line, "new    %.8s  data race on hits  src/counter.c:12 in add_one\n",
		 after->items[0]->bug);
	assert_non_null(strstr(text, line));
	assert_non_null(strstr(text, "Raddle: 1 new, 0 fixed, 0 still there\n"));
	free(text);
	finding_diff_release(&d);
	finding_set_free(before);
	finding_set_free(after);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(new_fixed_and_still),
		cmocka_unit_test(as_sets_of_names),
		cmocka_unit_test(in_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
