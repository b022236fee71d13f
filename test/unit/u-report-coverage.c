// SPDX-License-Identifier: Apache-2.0
/*
 * Unit tests of the page about what an exploration covered.  Counts of random pairs are compared
 * with a slow count.  The curve never falls.  Names may contain markup, and text may contain any
 * bytes.
 */
#include "golden.h"
#include "page.h"

#include "base/error.h"
#include "base/json.h"
#include "finding/pair.h"
#include "report/html-int.h"
#include "report/report.h"

#include <stdio.h>

static uint64_t random_state = 99;

static uint64_t draw(uint64_t below)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state % below;
}

static char *page_of(const struct finding_set *set, uint64_t schedules)
{
	char *text = NULL, *page;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	assert_int_equal(report_coverage(set, &(struct report_opts){0}, schedules, out), RD_OK);
	fclose(out);
	assert_int_equal(strlen(text), length);
	page = rd_xstrndup(text, length);
	free(text);
	return page;
}

static struct finding_set *random_set(size_t count)
{
	static const char *const files[] = {"a.c", "b<i>.c"}, *const functions[] = {"f", "operator<"};
	static const char *argv[] = {"./prog", "<script>"};
	struct finding_set *set = finding_set_new();

	set->argv = argv;
	set->argc = 2;
	set->pairs = finding_array(set, count + 1, sizeof *set->pairs);
	set->pair_count = count;
	for (size_t i = 0; i < count; i++) {
		struct finding_pair *p = &set->pairs[i];

		*p = (struct finding_pair){.object = draw(2) ? "x<&>y" : NULL, .lock = draw(2)};
		for (int k = 0; k < 2; k++)
			p->place[k] = (struct finding_frame){.file = files[draw(2)],
							     .function = functions[draw(2)],
							     .line = 1 + (uint32_t)draw(3)};
		p->first[0] = 1 + draw(50);
		p->first[1] = draw(2) ? 1 + draw(50) : 0;
	}
	return set;
}

static bool is_one_place(const struct finding_pair *p)
{
	return p->place[0].line == p->place[1].line && !strcmp(p->place[0].file, p->place[1].file) &&
	       !strcmp(p->place[0].function, p->place[1].function);
}

/* The points of the curve go to the right and up, and stay inside the picture. */
static void check_curve(const char *page)
{
	const char *at = strstr(page, "points=\"");
	double x, y, last_x = 0, last_y = 1e9;
	int used;

	assert_non_null(at);
	for (at += strlen("points=\""); sscanf(at, "%lf,%lf%n", &x, &y, &used) == 2; at += used) {
		assert_true(x >= last_x && y <= last_y);
		assert_true(x >= 10 && x <= 650.01 && y >= 9.99 && y <= 130.01);
		last_x = x;
		last_y = y;
		used += at[used] == ' ';
	}
	assert_int_equal(*at, '"');
}

static void pages_of_random_pairs(void **state)
{
	(void)state;
	for (size_t round = 0; round < 60; round++) {
		struct finding_set *set = random_set(draw(12));
		char *page = page_of(set, draw(80)), *expected;
		size_t both = 0, orders = 0, one_place = 0;

		for (size_t i = 0; i < set->pair_count; i++) {
			const struct finding_pair *p = &set->pairs[i];

			both += p->first[0] && p->first[1];
			one_place += is_one_place(p);
			orders += is_one_place(p) ? 1 : 1 + (p->first[1] != 0);
		}
		check_nesting(page);
		assert_int_equal(count(page, "<article class=\"pair both\">"), both);
		assert_int_equal(count(page, "<article class=\"pair one\">"), set->pair_count - both);
		assert_int_equal(count(page, "the same place in both threads"), one_place);
		assert_int_equal(count(page, "<b>A</b>"), set->pair_count);
		assert_int_equal(count(page, "<b>B</b>"), set->pair_count - one_place);
		expected = rd_xasprintf("<p class=\"order\">%zu orders seen in ", orders);
		assert_non_null(strstr(page, expected));
		assert_null(strstr(page, "b<i>.c"));
		assert_null(strstr(page, "operator< "));
		assert_null(strstr(page, "x<&>y"));
		assert_int_equal(count(page, "&lt;script&gt;"), 1);
		check_curve(page);
		RD_FREE(page, expected);
		finding_set_free(set);
	}
}

static void the_line_of_text(void **state)
{
	struct finding_set *set = random_set(3);
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	(void)state;
	set->pairs[0].first[1] = 4;
	set->pairs[1].first[1] = set->pairs[2].first[1] = 0;
	report_coverage_line(set, out);
	set->pair_count = 0;
	report_coverage_line(set, out); /* without pairs, nothing is reported */
	fclose(out);
	assert_string_equal(text,
			    "Of 3 pairs of conflicting places 1 were seen in both orders, 2 in one only.\n");
	free(text);
	finding_set_free(set);
}

/* Whatever the bytes are, the page contains valid UTF-8 without markup and control characters. */
static void any_bytes_become_text(void **state)
{
	(void)state;
	for (int round = 0; round < 2000; round++) {
		char bytes[24], *text = NULL;
		size_t length = draw(sizeof bytes), out_length;
		FILE *out = open_memstream(&text, &out_length);

		for (size_t i = 0; i < length; i++)
			bytes[i] = (char)(draw(3) ? "<>&\"'a\x80\xc3\xa9\xe2\x82\xac\n\x01"[draw(13)]
						  : (int)(1 + draw(255)));
		bytes[length] = '\0';
		html_text(out, bytes);
		fclose(out);
		assert_null(strpbrk(text, "<>\"'"));
		for (const unsigned char *p = (unsigned char *)text; *p;) {
			size_t n = *p < 0x80 ? 1 : rd_utf8_length(p);

			assert_true(n > 0);
			assert_true(*p >= 0x20 || *p == '\n' || *p == '\t');
			assert_true(*p != 0x7f);
			if (*p == '&')
				assert_true(!strncmp((char *)p, "&lt;", 4) ||
					    !strncmp((char *)p, "&gt;", 4) ||
					    !strncmp((char *)p, "&amp;", 5) ||
					    !strncmp((char *)p, "&quot;", 6) || !strncmp((char *)p, "&#", 2));
			p += n;
		}
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pages_of_random_pairs),
		cmocka_unit_test(the_line_of_text),
		cmocka_unit_test(any_bytes_become_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
