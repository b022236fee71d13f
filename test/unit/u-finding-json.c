// SPDX-License-Identifier: Apache-2.0
/* Unit tests of the finding document and of baselines. */
#include "finding-fixture.h"

#include "finding/filter.h"
#include "golden.h"

#include "base/error.h"

#include <jansson.h>

static void drop_message(void *context, enum rd_level level, const char *message)
{
	(void)level;
	snprintf(context, 256, "%s", message);
}

static char last_message[256];

static char *text_of(const struct finding_set *set, size_t *length)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, length);

	assert_int_equal(finding_write(set, out), 0);
	assert_int_equal(fclose(out), 0);
	return text;
}

static void written_as_ever(void **state)
{
	struct finding_set *set = fixture_set();
	size_t length;
	char *text = text_of(set, &length);

	(void)state;
	golden_check("findings-v1.json", text, length);
	free(text);
	finding_set_free(set);
}

static void round_trip(void **state)
{
	struct finding_set *set = fixture_set(), *back;
	size_t length, again_length;
	char *text = text_of(set, &length), *again;

	(void)state;
	set->items[0]->known = true;
	set->items[0]->recorded = true;
	set->items[0]->observed = true;
	set->items[0]->unordered = true;
	set->stdin_path = "input";
	set->with = "client 'x'";
	set->plugins = "a.so:b.so";
	set->setup = "rm -f db";
	set->timeout = 7;
	set->items[1]->suppressed = "deadlock:transfer";
	free(text);
	text = text_of(set, &length);
	assert_int_equal(finding_parse(&back, text, length, "memory"), 0);
	again = text_of(back, &again_length);
	assert_string_equal(text, again);
	assert_string_equal(back->with, "client 'x'");
	assert_string_equal(back->plugins, "a.so:b.so");
	assert_string_equal(back->setup, "rm -f db");
	assert_int_equal(back->timeout, 7);
	assert_true(back->items[0]->recorded && back->items[0]->observed && back->items[0]->unordered);
	assert_false(back->items[1]->unordered);
	assert_string_equal(back->items[0]->id, set->items[0]->id);
	assert_int_equal(back->items[0]->schedule->op_count, 7);
	free(text);
	free(again);
	finding_set_free(set);
	finding_set_free(back);
}

/* The format of classes and witnesses does not change, and all of them are read back. */
static void classified(void **state)
{
	struct finding_set *set = fixture_classified(), *back;
	size_t length, again_length;
	char *text = text_of(set, &length), *again;

	(void)state;
	golden_check("findings-classes-v1.json", text, length);
	assert_int_equal(finding_parse(&back, text, length, "memory"), 0);
	again = text_of(back, &again_length);
	assert_string_equal(text, again);
	struct finding *f = back->items[0];
	assert_int_equal(f->class, FINDING_SPEC_VIOLATED);
	assert_int_equal(f->classes[FINDING_SC], FINDING_K_WITNESS_HARMLESS);
	assert_int_equal(f->classes[FINDING_TSO], FINDING_SPEC_VIOLATED);
	assert_int_equal(f->classes[FINDING_WEAK], FINDING_NO_CLASS);
	assert_int_equal(f->witness_count, 3);
	assert_int_equal(f->witnesses[0].model, FINDING_TSO);
	assert_int_equal(f->witnesses[0].schedule->op_count, 7);
	assert_string_equal(f->witnesses[0].schedule->finding, f->id);
	assert_string_equal(f->input, "{\"argv\":[\"3\"]}");
	assert_int_equal(f->witnesses[1].class, FINDING_OUTPUT_DIFFERS);
	assert_null(f->witnesses[2].input);
	assert_int_equal(back->items[1]->status, FINDING_CANDIDATE);
	assert_int_equal(finding_set_count(back, FINDING_CANDIDATE, true), 1);
	free(text);
	free(again);
	finding_set_free(set);
	finding_set_free(back);
}

/* A document may have the member `witness` without `witnesses`. */
static void a_single_witness(void **state)
{
	static const char text[] = "{\"version\":1,\"findings\":[{\"classes\":{\"weak\":\"output-differs\"},"
				   "\"witness\":{\"input\":{\"a\":1},\"schedule\":\"s\"}}]}";
	struct finding_set *set;

	(void)state;
	assert_int_equal(finding_parse(&set, text, strlen(text), "memory"), 0);
	assert_int_equal(set->items[0]->class, FINDING_OUTPUT_DIFFERS);
	assert_int_equal(set->items[0]->witness_count, 1);
	assert_string_equal(set->items[0]->witnesses[0].schedule_path, "s");
	assert_string_equal(set->items[0]->input, "{\"a\":1}");
	finding_set_free(set);
}

/* Two findings at the same places are merged, with the classes and witnesses of both. */
static void merged_classes(void **state)
{
	struct finding_set *set = finding_set_new();
	struct finding *a = fixture_race(set, "hits", 12), *b = fixture_race(set, "hits", 12);
	struct finding_witness w = {.class = FINDING_SPEC_VIOLATED, .input = "{}"};

	(void)state;
	a->status = FINDING_CONFIRMED;
	finding_classify(a, FINDING_SC, FINDING_SINGLE_ORDERING);
	finding_classify(b, FINDING_SC, FINDING_SPEC_VIOLATED);
	finding_classify(b, FINDING_PSO, FINDING_OUTPUT_DIFFERS);
	finding_add_witness(set, b, &w);
	finding_set_finish(set);
	assert_int_equal(set->count, 1);
	a = set->items[0];
	assert_int_equal(a->status, FINDING_CONFIRMED);
	assert_int_equal(a->class, FINDING_SPEC_VIOLATED);
	assert_int_equal(a->classes[FINDING_SC], FINDING_SPEC_VIOLATED);
	assert_int_equal(a->classes[FINDING_PSO], FINDING_OUTPUT_DIFFERS);
	assert_int_equal(a->witness_count, 1);
	assert_string_equal(a->input, "{}");
	finding_set_free(set);
}

/* The ids in a golden document are the ids that its findings would get now. */
static void golden_ids(void **state)
{
	char *path = golden_path("findings-v1.json");
	struct finding_set *set;

	(void)state;
	assert_int_equal(finding_read(&set, path), 0);
	for (size_t i = 0; i < set->count; i++) {
		char id[FINDING_ID_SIZE];

		strcpy(id, set->items[i]->id);
		finding_set_finish(set);
		assert_string_equal(set->items[i]->id, id);
	}
	finding_set_free(set);
	free(path);
}

/* The members that doc/format/finding.md promises exist, with the promised types. */
static void promised_members(void **state)
{
	struct finding_set *set = fixture_set();
	size_t length;
	char *text = text_of(set, &length);
	json_t *document = json_loadb(text, length, 0, NULL);
	json_t *f = json_array_get(json_object_get(document, "findings"), 0);
	json_t *a = json_array_get(json_object_get(f, "accesses"), 0);
	json_t *d = json_array_get(json_object_get(document, "findings"), 1);
	json_t *w = json_array_get(json_object_get(d, "cycle"), 0);

	(void)state;
	assert_int_equal(json_integer_value(json_object_get(document, "version")), 1);
	assert_true(json_is_object(json_object_get(document, "stats")));
	assert_string_equal(json_string_value(json_object_get(f, "kind")), "race");
	assert_string_equal(json_string_value(json_object_get(f, "status")), "confirmed");
	assert_string_equal(json_string_value(json_object_get(f, "class")), "output-differs");
	assert_true(json_is_null(json_object_get(f, "consequence")));
	assert_string_equal(json_string_value(json_object_get(f, "object")), "hits");
	assert_string_equal(json_string_value(json_object_get(f, "schedule")), "found/race-1.schedule");
	assert_int_equal(json_integer_value(json_object_get(f, "k")), 10);
	assert_true(json_is_object(json_object_get(f, "input")));
	assert_string_equal(json_string_value(json_object_get(a, "thread")), "T_0_0");
	assert_string_equal(json_string_value(json_object_get(a, "op")), "write");
	assert_string_equal(json_string_value(json_object_get(a, "file")), "src/counter.c");
	assert_int_equal(json_integer_value(json_object_get(a, "line")), 12);
	assert_string_equal(json_string_value(json_object_get(a, "function")), "add_one");
	assert_int_equal(json_array_size(json_object_get(a, "stack")), 2);
	assert_true(json_is_null(json_object_get(d, "input")));
	assert_string_equal(json_string_value(json_object_get(w, "wants")), "accounts[1].lock");
	assert_int_equal(json_array_size(json_object_get(w, "holds")), 1);
	assert_int_equal(json_integer_value(json_object_get(w, "line")), 55);
	json_decref(document);
	free(text);
	finding_set_free(set);
}

static void least_document(void **state)
{
	static const char text[] =
		"{\"version\":1,\"findings\":[{\"kind\":\"race\",\"new\":[{}],\"accesses\":["
		"{\"op\":\"write\",\"file\":\"a.c\",\"line\":3}]}]}";
	struct finding_set *set;

	(void)state;
	assert_int_equal(finding_parse(&set, text, strlen(text), "memory"), 0);
	assert_int_equal(set->items[0]->status, FINDING_UNCONFIRMED);
	assert_int_equal(set->items[0]->count, 1);
	assert_int_equal(finding_top(&set->items[0]->accesses[0].stack)->line, 3);
	finding_set_free(set);
}

static void bad_documents(void **state)
{
	static const struct {
		const char *text, *message;
		int err;
	} cases[] = {
		{"", "line 1", RD_EFORMAT},
		{"[]", "not a finding document", RD_EFORMAT},
		{"{\"version\":1}", "not a finding document", RD_EFORMAT},
		{"{\"version\":2,\"findings\":[]}", "version 2", RD_EVERSION},
		{"{\"version\":1,\"findings\":[1]}", "finding 1", RD_EFORMAT},
		{"{\"version\":1,\"findings\":[{},{\"kind\":\"x\"}]}", "finding 2: \"kind\"", RD_EFORMAT},
		{"{\"version\":1,\"findings\":[{\"id\":\"12\"}]}", "\"id\" is not 16", RD_EFORMAT},
		{"{\"version\":1,\"findings\":[{\"count\":-1}]}", "\"count\" is out of range", RD_EFORMAT},
		{"{\"version\":1,\"findings\":[{\"accesses\":{}}]}", "\"accesses\"", RD_EFORMAT},
		{"{\"version\":1,\"findings\":[{\"accesses\":[{\"file\":\"a\",\"line\":4294967296}]}]}",
		 "\"line\" is out of range", RD_EFORMAT},
		{"{\"version\":1,\"findings\":[{\"sound\":1}]}", "\"sound\"", RD_EFORMAT},
		{"{\"version\":1,\"findings\":[{\"notes\":[1]}]}", "\"notes\"", RD_EFORMAT},
		{"{\"version\":1,\"findings\":[{\"classes\":{\"arm\":null}}]}", "unknown memory model",
		 RD_EFORMAT},
		{"{\"version\":1,\"findings\":[{\"classes\":{\"sc\":\"bad\"}}]}",
		 "\"sc\" has an unknown value", RD_EFORMAT},
		{"{\"version\":1,\"findings\":[{\"class\":\"single-ordering\","
		 "\"classes\":{\"sc\":\"spec-violated\"}}]}",
		 "\"class\" is not the worst", RD_EFORMAT},
		{"{\"version\":1,\"findings\":[{\"witnesses\":[1]}]}", "\"witnesses\" has an element",
		 RD_EFORMAT},
		{"{\"version\":1,\"findings\":[{\"witness\":{\"model\":\"x\"}}]}", "\"model\"", RD_EFORMAT},
		{"{\"version\":1,\"findings\":[{\"witnesses\":[{\"schedule_inline\":{\"ops\":[{}]}}]}]}",
		 "\"thread\" is missing", RD_EFORMAT},
		{"{\"version\":1,\"findings\":[{\"schedule_inline\":{\"ops\":[{\"kind\":\"x\"}]}}]}",
		 "\"thread\" is missing", RD_EFORMAT},
		{"{\"version\":1,\"findings\":[{\"input\":"
		 "{\"a\":[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]}}]}",
		 "nested too deep", RD_EFORMAT},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct finding_set *set = NULL;
		const char *text = cases[i].text;

		last_message[0] = '\0';
		assert_int_equal(finding_parse(&set, text, strlen(text), "f"), cases[i].err);
		assert_non_null(strstr(last_message, cases[i].message));
		finding_set_free(set);
	}
}

/* For every prefix and every changed byte, a document is read or refused.  Only the newline at the end
 * may be missing. */
static void damaged_documents(void **state)
{
	struct finding_set *set = fixture_set(), *back;
	size_t length;
	char *text = text_of(set, &length);

	(void)state;
	for (size_t i = 0; i + 1 < length; i += 13) {
		char saved = text[i];

		back = NULL;
		assert_int_not_equal(finding_parse(&back, text, i, "cut"), 0);
		assert_null(back);
		text[i] = (char)(i * 37);
		if (finding_parse(&back, text, length, "changed") == 0)
			finding_set_free(back);
		text[i] = saved;
	}
	free(text);
	finding_set_free(set);
}

/* ---- baselines: files of known findings ---- */

static void baseline_of_document(void **state)
{
	struct finding_set *old = fixture_set(), *set = finding_set_new();
	size_t length, fixed = 99;
	char *text = text_of(old, &length);

	(void)state;
	fixture_race(set, "hits", 99)->status = FINDING_CONFIRMED;
	fixture_race(set, "misses", 12)->status = FINDING_CONFIRMED;
	finding_set_finish(set);
	assert_int_equal(finding_baseline_parse(set, text, length, "old", &fixed), 0);
	assert_int_equal(fixed, 3);
	assert_int_equal(finding_set_count(set, FINDING_CONFIRMED, true), 1);
	assert_true(finding_find(set, old->items[0]->id)->known);
	free(text);
	finding_set_free(old);
	finding_set_free(set);
}

static void baseline_of_text(void **state)
{
	struct finding_set *set = fixture_set();
	size_t fixed;
	char *text = rd_xasprintf("# known\n\n  %s  # the counter\n\t%s\r\n0123456789abcdef",
				  set->items[0]->id, set->items[1]->id);

	(void)state;
	assert_int_equal(finding_baseline_parse(set, text, strlen(text), "old", &fixed), 0);
	assert_int_equal(fixed, 1);
	assert_true(set->items[0]->known);
	assert_true(set->items[1]->known);
	assert_false(set->items[2]->known);
	free(text);
	finding_set_free(set);
}

static void bad_baselines(void **state)
{
	static const char *const cases[] = {"hello\n",
					    "0123\n",
					    "0123456789abcdef0\n",
					    "{",
					    "# a\n0123456789abcdef x",
					    "a: 0123456789abcdef"};
	struct finding_set *set = fixture_set();

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		assert_int_equal(finding_baseline_parse(set, cases[i], strlen(cases[i]), "b", NULL),
				 RD_EFORMAT);
	assert_int_equal(finding_baseline_parse(set, "#\0#", 3, "b", NULL), RD_EFORMAT);
	assert_int_equal(finding_baseline_parse(set, "", 0, "b", NULL), 0);
	assert_int_equal(finding_baseline_read(set, "missing", NULL), RD_ESYSTEM);
	finding_set_free(set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(classified),		cmocka_unit_test(a_single_witness),
		cmocka_unit_test(merged_classes),	cmocka_unit_test(written_as_ever),
		cmocka_unit_test(round_trip),		cmocka_unit_test(golden_ids),
		cmocka_unit_test(promised_members),	cmocka_unit_test(least_document),
		cmocka_unit_test(bad_documents),	cmocka_unit_test(damaged_documents),
		cmocka_unit_test(baseline_of_document), cmocka_unit_test(baseline_of_text),
		cmocka_unit_test(bad_baselines),
	};

	rd_log_set(drop_message, last_message);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
