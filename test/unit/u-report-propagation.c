// SPDX-License-Identifier: Apache-2.0
/*
 * Unit tests of the page about a propagation: marks and arrows are where they should be, readable
 * source is shown, and no name can inject markup.
 */
#include "page.h"

#include "report/propagation-int.h"

#include <stdio.h>

static char *page_of(const struct propagation *p)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	assert_int_equal(report_propagation_html(p, out), 0);
	assert_int_equal(fclose(out), 0);
	assert_int_equal(strlen(text), length);
	check_nesting(text);
	check_alone(text);
	return text;
}

static void write_source(void)
{
	struct rd_buf source = RD_BUF_INIT;

	for (unsigned i = 1; i <= 60; i++)
		rd_buf_addf(&source, "\tline(%u) < x;\n", i);
	assert_int_equal(rd_mkdirs("src"), 0);
	assert_int_equal(rd_file_write("src/a.c", source.data, source.length), 0);
	rd_buf_release(&source);
}

/* A value is corrupted in T_0 and passed to T_0_1 in memory.  T_0_1 uses it in a file that does not
 * exist and in a library. */
static const struct propagation_node nodes[] = {
	{{"T_0", "src/a.c", "produce", 10, 3}, "data", "store", "hits", "1", "1025", 7, 1},
	{{"T_0", "src/a.c", "produce", 10, 9}, "data", "load", "hits", "1", "1025", 9, 2},
	{{"T_0_1", "src/a.c", "consume", 40, 1}, "data", "load", "hits", "1", "1025", 3, 1},
	{{"T_0_1", "src/b.c", "index", 5, 1}, "address", "load", "table[1]", NULL, NULL, 5, 1},
	{{"T_0_1", NULL, "memcpy", 0, 0}, "control", "call", NULL, NULL, NULL, 6, 1},
	{{"T_0_1", NULL, NULL, 0, 0}, "missing", "ret", NULL, "0", NULL, 8, 1},
};
static const struct propagation_edge edges[] = {
	{0, 1, PROPAGATION_MEMORY, "hits"}, {0, 2, PROPAGATION_THREAD, "hits"},
	{1, 2, PROPAGATION_THREAD, "hits"}, {2, 3, PROPAGATION_REGISTER, NULL},
	{3, 4, PROPAGATION_CALL, NULL},	    {4, 5, PROPAGATION_CONTROL, NULL},
	{9, 5, PROPAGATION_CONTROL, NULL},
};
static const struct propagation_end ends[] = {
	{{"T_0", "src/a.c", "produce", 12, 1}, "hits", "overwritten", 3},
	{{"T_0_1", "src/a.c", "consume", 40, 1}, "x", "freed", 1},
};
static const struct propagation whole = {
	.golden = "golden",
	.run = "run",
	.first = "data deviation in T_0",
	.nodes = nodes,
	.node_count = sizeof nodes / sizeof *nodes,
	.edges = edges,
	.edge_count = sizeof edges / sizeof *edges,
	.ends = ends,
	.end_count = sizeof ends / sizeof *ends,
};

static void marks_and_arrows(void **state)
{
	char *page;

	(void)state;
	write_source();
	page = page_of(&whole);
	/* Two nodes on one line share a mark.  The end of an error has its own mark. */
	assert_int_equal(count(page, "<g class=\"mark "), 6);
	assert_int_equal(count(page, "class=\"mark k-data origin\""), 1);
	assert_int_equal(count(page, "class=\"mark k-masked\""), 1);
	assert_int_equal(count(page, "class=\"done\""), 1);
	assert_non_null(strstr(page, "data-nodes=\"0 1\""));
	/* The edge inside a mark and the edge without a source are not drawn.  Two parallel edges
	 * are drawn as one. */
	assert_int_equal(count(page, "<path class=\"w w-"), 4);
	assert_int_equal(count(page, "<path class=\"w w-thread cross\""), 1);
	assert_int_equal(count(page, "<tr id=\"n"), 6);
	assert_non_null(strstr(page, "<span class=\"via w-thread\">0 by thread <code>hits</code></span> "
				     "<span class=\"via w-thread\">1 by thread"));
	assert_non_null(strstr(page, "The error reached 6 places"));
	free(page);
}

static void source_around_the_lines(void **state)
{
	static const char hit[] =
		"<div class=\"row code hit\"><i>10</i><span>\tline(10) &lt; x;</span></div>";
	char *page;

	(void)state;
	write_source();
	page = page_of(&whole);
	assert_non_null(strstr(page, hit));
	assert_non_null(strstr(page, "<div class=\"row code\"><i>8</i>"));
	assert_null(strstr(page, "<i>7</i>"));
	assert_non_null(strstr(page, "<div class=\"row code\"><i>14</i>"));
	assert_null(strstr(page, "<i>15</i>"));
	assert_int_equal(count(page, "<div class=\"row gap\">"), 1);
	assert_non_null(strstr(page, "<div class=\"row code\"><i>42</i>"));
	assert_null(strstr(page, "<i>43</i>"));
	assert_non_null(strstr(page, "<div class=\"row code only hit\"><i>5</i><span>index</span></div>"));
	assert_non_null(strstr(page, "<div class=\"row code only hit\"><i></i><span>memcpy</span></div>"));
	assert_non_null(strstr(page, "<i></i><span>?</span></div>"));
	free(page);
}

/* Rows of text and marks have the same height.  Line 10 is in the third row below the name of its
 * file. */
static void rows_fit(void **state)
{
	char *page;

	(void)state;
	write_source();
	page = page_of(&whole);
	assert_non_null(strstr(page, "<rect class=\"lane\" x=\"0\" y=\"86\" width=\"100%\" height=\"20\"/>"));
	assert_non_null(strstr(
		page, "y=\"88\" width=\"30\" height=\"16\" rx=\"8\"/><text x=\"75\" y=\"100\">0</text>"));
	free(page);
}

static void a_file_that_became_shorter(void **state)
{
	char *page;

	(void)state;
	assert_int_equal(rd_mkdirs("other/src"), 0);
	assert_int_equal(rd_file_write("other/src/a.c", "short\n", 6), 0);
	struct propagation p = whole;
	p.root = "other";
	page = page_of(&p);
	assert_null(strstr(page, "short"));
	assert_non_null(strstr(page, "<div class=\"row code only hit\"><i>40</i><span>consume</span></div>"));
	free(page);
}

static void names_are_harmless(void **state)
{
	static const struct propagation_node bad = {{"T_0\"<b>", "/nonexistent/<i>.c", "f<u>&", 3, 1},
						    "data",
						    "</title>",
						    "<script>",
						    "<s>",
						    "\033\"'>",
						    1,
						    1};
	struct propagation p = {.golden = "<a>",
				.run = "\"",
				.first = "<em>",
				.fault = "<q>",
				.nodes = &bad,
				.node_count = 1};
	char *page;

	(void)state;
	page = page_of(&p);
	assert_int_equal(count(page, "<script>"), 1);
	assert_null(strstr(page, "<u>"));
	assert_null(strstr(page, "<s>"));
	assert_null(strchr(page, '\033'));
	free(page);
}

static void no_deviation(void **state)
{
	struct propagation p = {.golden = "golden", .run = "run"};
	char *page;

	(void)state;
	page = page_of(&p);
	assert_non_null(strstr(page, "No deviation"));
	assert_null(strstr(page, "<svg"));
	free(page);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(marks_and_arrows),   cmocka_unit_test(source_around_the_lines),
		cmocka_unit_test(rows_fit),	      cmocka_unit_test(a_file_that_became_shorter),
		cmocka_unit_test(names_are_harmless), cmocka_unit_test(no_deviation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
