// SPDX-License-Identifier: Apache-2.0
/* Unit tests of the HTML report: it is well-formed and self-contained, and shows the content of the
 * findings whatever their names are. */
#include "finding-fixture.h"
#include "golden.h"
#include "page.h"

#include "report/report.h"

static char *page_of(const struct finding_set *set, const struct report_opts *opts)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	assert_int_equal(report_html(set, opts, out), 0);
	assert_int_equal(fclose(out), 0);
	assert_int_equal(strlen(text), length);
	return text;
}

static void classified(void **state)
{
	struct finding_set *set = fixture_classified();
	char *page = page_of(set, &(struct report_opts){0});

	(void)state;
	check_nesting(page);
	assert_int_equal(count(page, "<details class=\"finding "), 2);
	assert_non_null(strstr(page, "sc: k-witness-harmless, tso: spec-violated"));
	assert_non_null(strstr(page, "the program died of SIGSEGV"));
	assert_int_equal(count(page, "<details class=\"finding candidate\""), 1);
	free(page);
	finding_set_free(set);
}

static void well_formed(void **state)
{
	struct finding_set *set = fixture_set();
	char *page = page_of(set, &(struct report_opts){0});

	(void)state;
	check_nesting(page);
	assert_int_equal(count(page, "<details class=\"finding "), 4);
	assert_int_equal(count(page, "<svg role=\"img\""), 2);
	assert_int_equal(count(page, "<g class=\"op end\">"), 4);
	assert_int_equal(count(page, "class=\"clash\""), 1);
	assert_int_equal(count(page, "class=\"want\""), 2);
	assert_int_equal(count(page, "class=\"arrow\""), 3);
	assert_non_null(
		strstr(page, "raddle replay found/race-1.schedule -- ./counter --threads=2 &#39;two words"));
	free(page);
	finding_set_free(set);
}

static void needs_nothing_else(void **state)
{
	struct finding_set *set = fixture_set();
	char *page = page_of(set, &(struct report_opts){0});

	(void)state;
	check_alone(page);
	free(page);
	finding_set_free(set);
}

static void markup_is_escaped(void **state)
{
	struct finding_set *set = finding_set_new();
	struct finding *f = fixture_race(set, "<script>alert(1)</script>", 12);
	static const char *argv[] = {"</title><b onload='x'>\xff\x01"};

	(void)state;
	set->argv = argv;
	set->argc = 1;
	f->accesses[0].stack.frames[0].function = "operator<<\"&\"";
	f->threads[0].label = "<i>";
	f->reason = "<u>";
	f->schedule_path = "<a>";
	struct schedule *s = finding_schedule_add(set, f);
	fixture_op(s, "T_0_0", 1, "<b>", "a very long name <i> of a thing");
	finding_set_finish(set);
	char *page = page_of(set, &(struct report_opts){0});
	check_nesting(page);
	assert_int_equal(count(page, "<script>"), 1);
	assert_null(strstr(page, "<b onload"));
	assert_null(memchr(page, '\x01', strlen(page)));
	assert_null(memchr(page, '\xff', strlen(page)));
	free(page);
	finding_set_free(set);
}

static void shows_source(void **state)
{
	struct finding_set *set = fixture_set();
	struct rd_buf source = RD_BUF_INIT;

	(void)state;
	for (unsigned i = 1; i <= 14; i++)
		rd_buf_addf(&source, i == 12 ? "\thits++; /* <here> */\n" : "line %u\n", i);
	assert_int_equal(rd_mkdirs("root/src"), 0);
	assert_int_equal(rd_file_write("root/src/counter.c", source.data, source.length), 0);
	char *page = page_of(set, &(struct report_opts){.root = "root"});
	check_nesting(page);
	assert_non_null(
		strstr(page, "<span class=\"ln here\" data-n=\"12\">\thits++; /* &lt;here&gt; */\n</span>"));
	assert_non_null(strstr(page, "data-n=\"9\">line 9\n"));
	assert_null(strstr(page, "data-n=\"8\""));
	free(page);
	page = page_of(set, &(struct report_opts){.root = "elsewhere"});
	assert_null(strstr(page, "class=\"src\""));
	free(page);
	rd_buf_release(&source);
	finding_set_free(set);
}

static void long_schedules_are_cut(void **state)
{
	struct finding_set *set = finding_set_new();
	struct schedule *s = finding_schedule_add(set, fixture_race(set, "x", 1));

	(void)state;
	for (unsigned i = 1; i <= 500; i++)
		fixture_op(s, i % 2 ? "T_0_0" : "T_0_1", i, i % 4 < 2 ? "mutex-lock" : "mutex-unlock", "a");
	finding_set_finish(set);
	char *page = page_of(set, &(struct report_opts){.steps = 20});
	check_nesting(page);
	assert_int_equal(count(page, "<g class=\"op "), 20);
	assert_non_null(strstr(page, "480 earlier operations"));
	free(page);
	finding_set_free(set);
}

static void nothing_found(void **state)
{
	struct finding_set *set = finding_set_new();
	char *page = page_of(set, &(struct report_opts){0});

	(void)state;
	check_nesting(page);
	assert_non_null(strstr(page, "Nothing was found."));
	assert_non_null(strstr(page, "0 confirmed bugs"));
	free(page);
	finding_set_free(set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(classified),	      cmocka_unit_test(well_formed),
		cmocka_unit_test(needs_nothing_else), cmocka_unit_test(markup_is_escaped),
		cmocka_unit_test(shows_source),	      cmocka_unit_test(long_schedules_are_cut),
		cmocka_unit_test(nothing_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
