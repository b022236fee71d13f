// SPDX-License-Identifier: Apache-2.0
/* Unit tests of base/wrap.h, which wraps sentences at blanks. */
#include "golden.h"

#include "base/wrap.h"

static char *wrapped(const char *text, size_t indent, size_t column)
{
	char *out = NULL;
	size_t length;
	FILE *f = open_memstream(&out, &length);

	rd_wrap(text, indent, column, f);
	assert_int_equal(fclose(f), 0);
	return out;
}

static void short_text_is_one_line(void **state)
{
	char *text = wrapped("a few words", 4, 4);

	(void)state;
	assert_string_equal(text, "a few words\n");
	free(text);
}

/* No line is longer than 79 columns, including its indentation. */
static void lines_fit(void **state)
{
	char words[400] = "", *text, *line, *rest;

	(void)state;
	for (int i = 0; i < 60; i++)
		strcat(words, i % 3 ? "word " : "longer ");
	text = wrapped(words, 10, 10);
	line = strtok_r(text, "\n", &rest);
	assert_true(10 + strlen(line) <= 79 && 10 + strlen(line) > 70);
	while ((line = strtok_r(NULL, "\n", &rest))) {
		assert_true(strlen(line) <= 79);
		assert_memory_equal(line, "          ", 10);
		assert_true(line[10] != ' ');
	}
	free(text);
}

/* If text precedes the first word on its line, a blank separates them, or the word begins a new
 * line. */
static void continues_a_line(void **state)
{
	char *near = wrapped("next", 2, 20), *far = wrapped("next", 2, 76);

	(void)state;
	assert_string_equal(near, " next\n");
	assert_string_equal(far, "\n  next\n");
	free(near);
	free(far);
}

static void long_words_stay_whole(void **state)
{
	char word[121] = "", *text;

	(void)state;
	memset(word, 'x', 120);
	text = wrapped(word, 5, 5);
	assert_int_equal(strlen(text), 121);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(short_text_is_one_line),
		cmocka_unit_test(lines_fit),
		cmocka_unit_test(continues_a_line),
		cmocka_unit_test(long_words_stay_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
