// SPDX-License-Identifier: Apache-2.0
/*
 * Unit tests of the reports of campaigns.  The text equals the golden file.  The page is
 * well-formed and self-contained, and shows the content of logs whatever that is.
 */
#include "page.h"

#include "base/error.h"
#include "report/campaign.h"

#include <stdio.h>

typedef int report_fn(const struct report_campaigns *, FILE *);

static char *report(const struct report_campaigns *c, report_fn *fn)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	assert_int_equal(fn(c, out), 0);
	assert_int_equal(fclose(out), 0);
	assert_int_equal(strlen(text), length);
	return text;
}

/* Makes a hundred runs with two kinds of faults, from a small random generator. */
static void fill(struct campaign_results *r, unsigned seed)
{
	static const char *const faults[] = {"InvalPtr", "BitFlip"};
	static const char *const where[] = {"sort.c:12:3 swap", "sort.c:12:9 swap", "sort.c:40:1 main", NULL};
	struct rd_buf log = RD_BUF_INIT;

	for (unsigned i = 0; i < 100; i++) {
		unsigned draw = (seed = seed * 1103515245 + 12345) >> 16;
		struct runlog_run run = {.run = i,
					 .fault = faults[draw % 3 > 0],
					 .thread = "T_0_1",
					 .where = where[draw / 3 % 4],
					 .opcode = draw & 64 ? "load" : "store",
					 .instance = draw % 97,
					 .action = "flip",
					 .mask = "0x0000000000000010",
					 .bit = 4,
					 .outcome = draw / 7 % RUNLOG_OUTCOMES,
					 .exit = -1,
					 .cpu_ms = 2.5};

		if (run.outcome <= RUNLOG_SDC || (run.outcome == RUNLOG_MASKED && draw & 32))
			run.deviation = 1 + draw / 5 % (RUNLOG_DEVIATIONS - 1);
		if (run.outcome == RUNLOG_SDC)
			run.diff = i % 2 ? "runs/diff" : "../outside";
		runlog_write(&log, &run);
	}
	assert_int_equal(campaign_results_add(r, log.data, log.length, "log"), 0);
	campaign_results_finish(r);
	rd_buf_release(&log);
	r->directory = "c";
	r->name = rd_xstrdup("sort");
	r->command = rd_xstrdup("./sort -t 4 <in>");
}

struct fixture {
	struct campaign_results results[2];
	struct campaign_statistics statistics[2];
	struct report_campaigns c;
};

static struct fixture *make_fixture(void)
{
	struct fixture *f = rd_xcalloc(1, sizeof *f);

	for (unsigned i = 0; i < 2; i++) {
		fill(&f->results[i], 7 + i);
		campaign_statistics(&f->statistics[i], &f->results[i]);
	}
	f->c.items = f->statistics;
	f->c.count = 2;
	return f;
}

static void free_fixture(struct fixture *f)
{
	for (unsigned i = 0; i < 2; i++) {
		campaign_statistics_release(&f->statistics[i]);
		campaign_results_release(&f->results[i]);
	}
	free(f);
}

static void text_is_golden(void **state)
{
	struct fixture *f = make_fixture();
	char *text;

	(void)state;
	f->c.count = 1;
	text = report(&f->c, report_campaign_text);
	golden_check("campaign.txt", text, strlen(text));
	for (const char *line = text; *line; line += strcspn(line, "\n") + 1)
		assert_true(strcspn(line, "\n") <= 80);
	free(text);
	free_fixture(f);
}

static void json_is_golden(void **state)
{
	struct fixture *f = make_fixture();
	char *text = report(&f->c, report_campaign_json);

	(void)state;
	golden_check("campaign.json", text, strlen(text));
	free(text);
	free_fixture(f);
}

static void page_is_whole(void **state)
{
	struct fixture *f = make_fixture();
	char *page;

	(void)state;
	assert_int_equal(rd_mkdirs("c/runs"), 0);
	assert_int_equal(rd_file_write("c/runs/diff", "-a\n+</script>\n", 14), 0);
	assert_int_equal(rd_file_write("outside", "secret", 6), 0);
	page = report(&f->c, report_campaign_html);
	check_nesting(page);
	check_alone(page);
	assert_int_equal(count(page, "<svg role=\"img\""), 2);
	assert_int_equal(count(page, "class=\"whisker\""), 4);
	assert_non_null(strstr(page, "-a\\u000a+\\u003c/script\\u003e\\u000a"));
	assert_null(strstr(page, "secret"));
	assert_non_null(strstr(page, "./sort -t 4 &lt;in&gt;"));
	free(page);
	free_fixture(f);
}

static void names_are_harmless(void **state)
{
	static const char line[] =
		"{\"run\":1,\"fault\":\"<script>\\u001b[31m\",\"where\":\"</script><b>:1:2 f\\u0007\","
		"\"opcode\":\"\\u2028'\\\"\",\"outcome\":\"crash\",\"deviation\":\"none\"}\n";
	struct campaign_results r = {.name = rd_xstrdup("<i>"), .command = rd_xstrdup("\033[2J&")};
	struct campaign_statistics s;
	struct report_campaigns c = {.items = &s, .count = 1};
	char *text;

	(void)state;
	assert_int_equal(campaign_results_add(&r, line, sizeof line - 1, "log"), 0);
	assert_int_equal(r.count, 1);
	campaign_statistics(&s, &r);
	text = report(&c, report_campaign_html);
	check_nesting(text);
	assert_int_equal(count(text, "<script>"), 1);
	assert_int_equal(count(text, "</script>"), 2);
	assert_null(strstr(text, "<b>:"));
	assert_null(strchr(text, '\033'));
	free(text);
	text = report(&c, report_campaign_text);
	assert_null(strchr(text, '\033'));
	assert_null(strchr(text, '\a'));
	free(text);
	campaign_statistics_release(&s);
	campaign_results_release(&r);
}

/* All rows of the CSV (RFC 4180) have the same number of fields, whatever the fields contain. */
static void check_csv(const char *text, size_t fields)
{
	size_t here = 1;
	bool quoted = false;

	for (; *text; text++) {
		if (*text == '"')
			quoted = !quoted;
		else if (!quoted && *text == ',')
			here++;
		else if (!quoted && *text == '\r') {
			assert_int_equal(text[1], '\n');
			assert_int_equal(here, fields);
			here = 1;
		}
	}
	assert_false(quoted);
}

static void table_is_golden(void **state)
{
	struct fixture *f = make_fixture();
	char *text;

	(void)state;
	f->results[0].directory = "a,\"b\"";
	text = report(&f->c, report_campaign_csv);
	check_csv(text, 14);
	assert_non_null(strstr(text, "\"a,\"\"b\"\"\",sort,campaign,,,,all,crash,"));
	free(text);
	f->c.count = 1;
	f->results[0].directory = "c";
	text = report(&f->c, report_campaign_csv);
	golden_check("campaign.csv", text, strlen(text));
	free(text);
	free_fixture(f);
}

static void comparison_is_golden(void **state)
{
	struct fixture *f = make_fixture();
	struct campaign_against against;
	char *text;

	(void)state;
	assert_int_equal(campaign_against(&against, &f->statistics[1], &f->statistics[0]), 0);
	f->c.against = &against;
	f->c.count = 1;
	text = report(&f->c, report_campaign_text);
	golden_check("campaign-against.txt", text, strlen(text));
	for (const char *line = text; *line; line += strcspn(line, "\n") + 1)
		assert_true(strcspn(line, "\n") <= 80);
	free(text);
	text = report(&f->c, report_campaign_csv);
	check_csv(text, 21);
	free(text);
	text = report(&f->c, report_campaign_html);
	check_nesting(text);
	check_alone(text);
	assert_non_null(strstr(text, "Against c"));
	free(text);
	text = report(&f->c, report_campaign_json);
	assert_non_null(strstr(text, "\"comparisons\""));
	free(text);
	campaign_against_release(&against);
	free_fixture(f);
}

/* If a source file exists, its lines are in the page.  Each line that had faults has a cell. */
static void heat_is_over_the_source(void **state)
{
	struct fixture *f = make_fixture();
	struct rd_buf source = RD_BUF_INIT;
	char *page;

	(void)state;
	for (unsigned i = 1; i <= 50; i++)
		rd_buf_addf(&source, "line <%u>;\n", i);
	assert_int_equal(rd_file_write("sort.c", source.data, source.length), 0);
	f->c.count = 1;
	page = report(&f->c, report_campaign_html);
	check_nesting(page);
	assert_int_equal(count(page, "line &lt;12&gt;;"), 1);
	assert_int_equal(count(page, "line &lt;14&gt;;"), 1);
	assert_int_equal(count(page, "line &lt;20&gt;;"), 0);
	/* There are cells for lines 12, 40 and unknown.  The functions swap, main and unknown have
	 * one each for all kinds, for BitFlip and for InvalPtr.  Three more are for variables. */
	assert_int_equal(count(page, "data-v="), 3 + 9 + 3);
	free(page);
	rd_buf_release(&source);
	free_fixture(f);
}

static void nothing_has_run(void **state)
{
	struct campaign_results r = {.name = rd_xstrdup("x"), .command = rd_xstrdup("x")};
	struct campaign_statistics s;
	struct report_campaigns c = {.items = &s, .count = 1};
	report_fn *const all[] = {report_campaign_text, report_campaign_json, report_campaign_html,
				  report_campaign_csv};

	(void)state;
	campaign_statistics(&s, &r);
	for (size_t i = 0; i < 4; i++) {
		char *text = report(&c, all[i]);

		assert_null(strstr(text, "nan"));
		free(text);
	}
	campaign_statistics_release(&s);
	campaign_results_release(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_is_golden),	cmocka_unit_test(json_is_golden),
		cmocka_unit_test(page_is_whole),	cmocka_unit_test(names_are_harmless),
		cmocka_unit_test(nothing_has_run),	cmocka_unit_test(table_is_golden),
		cmocka_unit_test(comparison_is_golden), cmocka_unit_test(heat_is_over_the_source),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
