// SPDX-License-Identifier: Apache-2.0
/*
 * Unit tests of the report of a comparison: text, JSON and page for hand-made runs.  Tests of epa/
 * check what is found.  Here the three formats must agree about it.
 */
#include "page.h"

#include "epa-fixture.h"

#include "report/comparison.h"

#include <jansson.h>

#define STACK 0x7ffd00000000ull

struct forms {
	char *text, *json, *page;
	json_t *root;
};

/* Makes a run in which thread 0 loads a value, stores it elsewhere, and loads it from there. */
static void fill(struct fix *f, uint64_t program, uint64_t loaded, uint64_t stored)
{
	fix_begin(f, STACK, program);
	FIX(f, 0, FIX_LOAD, program + 0x100, loaded);
	FIX(f, 0, FIX_STORE, program + 0x108, stored);
	FIX(f, 0, FIX_LOAD2, program + 0x108, stored);
	FIX_EVENT(f, 0, RADDLE_EXIT, 0);
}

static void write_forms(struct forms *w, const struct epa_process *p, const struct epa_comparison *c,
			uint64_t limit)
{
	size_t length;
	struct rd_json j;
	FILE *out = open_memstream(&w->text, &length);

	report_comparison_text(p, c, limit, out);
	fclose(out);
	out = open_memstream(&w->json, &length);
	report_comparison_json_begin(&j, p->golden, p->reference, out);
	report_comparison_json(&j, p, c);
	report_comparison_json_end(&j);
	fclose(out);
	out = open_memstream(&w->page, &length);
	assert_int_equal(report_comparison_html(p, c, out), RD_OK);
	fclose(out);
	w->root = json_loads(w->json, 0, NULL);
	assert_non_null(w->root);
}

static struct forms compared(uint64_t loaded, uint64_t stored, bool propagation, uint64_t limit)
{
	struct epa_compare_options how = {.propagation = propagation};
	struct epa_source *golden, *run;
	struct epa_reference *ref;
	struct epa_comparison c;
	struct forms w;
	struct fix a, b;

	fix_init(&a);
	fix_init(&b);
	fill(&a, FIX_PROGRAM, 5, 6);
	fill(&b, FIX_PROGRAM + 0x7000, loaded, stored);
	golden = fix_source(&a);
	run = fix_source(&b);
	assert_int_equal(epa_reference_open(&ref, golden), RD_OK);
	assert_int_equal(epa_compare(ref, run, &how, &c), RD_OK);
	write_forms(&w, &(struct epa_process){"P_0", "golden", "run", ref, false}, &c, limit);
	epa_comparison_release(&c);
	epa_reference_close(ref);
	epa_source_close(golden);
	epa_source_close(run);
	fix_release(&a);
	fix_release(&b);
	return w;
}

static void release(struct forms *w)
{
	json_decref(w->root);
	RD_FREE(w->text, w->json, w->page);
}

static json_t *run_of(const struct forms *w)
{
	return json_array_get(json_object_get(w->root, "runs"), 0);
}

static const char *string_of(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

static void equal_runs(void **state)
{
	struct forms w = compared(5, 6, true, UINT64_MAX);

	(void)state;
	assert_non_null(strstr(w.text, "run: no deviation in "));
	assert_int_equal(count(w.text, "\n"), 1);
	assert_true(json_is_false(json_object_get(run_of(&w), "deviated")));
	assert_true(json_is_null(json_object_get(run_of(&w), "first")));
	assert_int_equal(json_array_size(json_object_get(run_of(&w), "nodes")), 0);
	assert_string_equal(string_of(json_object_get(w.root, "golden"), "path"), "golden");
	check_nesting(w.page);
	release(&w);
}

static void first_deviation(void **state)
{
	struct forms w = compared(7, 9, true, UINT64_MAX);
	const json_t *first = json_object_get(run_of(&w), "first");

	(void)state;
	assert_non_null(strstr(w.text, "run: data deviation in T_0, record "));
	assert_non_null(strstr(w.text, " at u.c:20"));
	assert_string_equal(string_of(first, "kind"), "data");
	assert_string_equal(string_of(first, "golden_value"), "5");
	assert_string_equal(string_of(first, "run_value"), "7");
	assert_string_equal(string_of(first, "file"), "u.c");
	assert_int_equal(json_integer_value(json_object_get(first, "line")), 20);
	assert_string_equal(string_of(first, "what"), "x");
	release(&w);
}

/* The error spread from the load to the store, and from there to the second load. */
static void propagation(void **state)
{
	struct forms w = compared(7, 9, true, UINT64_MAX);
	const json_t *nodes = json_object_get(run_of(&w), "nodes"), *edge;
	bool memory = false;
	size_t i;

	(void)state;
	assert_int_equal(json_array_size(nodes), 3);
	assert_non_null(strstr(w.text, "The error reached 3 places in 1 thread: 3 data"));
	json_array_foreach(json_object_get(run_of(&w), "edges"), i, edge)
	{
		assert_true(json_integer_value(json_object_get(edge, "from")) < 3);
		assert_true(json_integer_value(json_object_get(edge, "to")) < 3);
		memory |= !strcmp(string_of(edge, "through"), "memory");
	}
	assert_true(memory);
	assert_non_null(strstr(w.text, " through memory\n"));
	check_nesting(w.page);
	assert_non_null(strstr(w.page, "data deviation in T_0"));
	release(&w);
}

static void limit_of_places(void **state)
{
	struct forms w = compared(7, 9, true, 1);

	(void)state;
	assert_non_null(strstr(w.text, "      2 more; --limit shows them\n"));
	/* JSON always has all nodes */
	assert_int_equal(json_array_size(json_object_get(run_of(&w), "nodes")), 3);
	release(&w);
}

/* Without propagation, only the first deviation is counted. */
static void only_the_first(void **state)
{
	struct forms w = compared(7, 9, false, UINT64_MAX);
	const json_t *counts = json_object_get(run_of(&w), "counts");

	(void)state;
	assert_int_equal(json_integer_value(json_object_get(counts, "data")), 1);
	assert_int_equal(json_integer_value(json_object_get(counts, "control")), 0);
	assert_null(strstr(w.text, "The error reached"));
	release(&w);
}

static void lines_fit_80_columns(void **state)
{
	struct forms w = compared(0x123456789abcdef, 9, true, UINT64_MAX);
	char *rest;

	(void)state;
	for (char *line = strtok_r(w.text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		assert_true(strlen(line) <= 80);
	release(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_runs),	  cmocka_unit_test(first_deviation),
		cmocka_unit_test(propagation),	  cmocka_unit_test(limit_of_places),
		cmocka_unit_test(only_the_first), cmocka_unit_test(lines_fit_80_columns),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
