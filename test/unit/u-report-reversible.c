// SPDX-License-Identifier: Apache-2.0
/*
 * Unit tests of the verdict of a reversibility check in words and as JSON, and of the schedule of a
 * reversal, for hand-made runs. u-reversible.c tests what the check finds.
 */
#include "golden.h"

#include "epa-fixture.h"

#include "report/reversible.h"
#include "reversible/schedule.h"

#include <jansson.h>

#define STACK 0x7ffd00000000ull
#define CHILD 0x7f1200000000ull
#define SHARED (FIX_PROGRAM + 0x100)
#define LOCK (FIX_PROGRAM + 0x120)

enum kind { ORDERED, RACE, LOCKED };

/* Makes a run in which two threads access `shared`: after a join, at any time, or each inside a
 * lock.  Unordered threads are read one after the other. */
static void fill(struct fix *f, enum kind kind)
{
	fix_init(f);
	fix_begin(f, STACK, FIX_PROGRAM);
	FIX_EVENT(f, 0, RADDLE_THREAD_CREATE, 1, 0, 0);
	FIX_EVENT(f, 1, RADDLE_THREAD_START, 0, 0, CHILD, 0x10000, 2);
	if (kind == LOCKED)
		FIX_EVENT(f, 1, RADDLE_MUTEX_LOCK, LOCK, 0);
	FIX(f, 1, FIX_STORE, SHARED, 7);
	if (kind == LOCKED)
		FIX_EVENT(f, 1, RADDLE_MUTEX_UNLOCK, LOCK, 0);
	if (kind == ORDERED) {
		FIX_EVENT(f, 1, RADDLE_THREAD_END, 0);
		FIX_EVENT(f, 0, RADDLE_THREAD_JOIN, 1, 0);
	}
	if (kind == LOCKED)
		FIX_EVENT(f, 0, RADDLE_MUTEX_LOCK, LOCK, 0);
	FIX(f, 0, FIX_LOAD2, SHARED, 7);
	if (kind == LOCKED)
		FIX_EVENT(f, 0, RADDLE_MUTEX_UNLOCK, LOCK, 0);
	FIX_EVENT(f, 0, RADDLE_EXIT, 0);
}

struct checked {
	struct fix f;
	struct epa_source *source;
	struct rev_result *result;
	char *text;
	json_t *root;
};

static void check(struct checked *c, enum kind kind)
{
	const struct rev_options how = {.limit = 5};
	struct report_reversible r = {.trace = "golden"};
	char *json = NULL;
	size_t length;
	FILE *out;

	fill(&c->f, kind);
	c->source = fix_source(&c->f);
	assert_int_equal(rev_check(&c->result, c->source, &how), RD_OK);
	r.result = c->result;
	r.sites = epa_source_sites(c->source);
	out = open_memstream(&c->text, &length);
	report_reversible_text(&r, out);
	fclose(out);
	out = open_memstream(&json, &length);
	assert_int_equal(report_reversible_json(&r, out), RD_OK);
	fclose(out);
	c->root = json_loads(json, 0, NULL);
	assert_non_null(c->root);
	free(json);
}

static void release(struct checked *c)
{
	json_decref(c->root);
	free(c->text);
	rev_result_free(c->result);
	epa_source_close(c->source);
	fix_release(&c->f);
}

static const char *string_of(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

static void ordered_runs(void **state)
{
	struct checked c;

	(void)state;
	check(&c, ORDERED);
	assert_memory_equal(c.text, "yes: every schedule has its dependent events in the same order", 62);
	assert_string_equal(string_of(c.root, "verdict"), "yes");
	assert_int_equal(json_array_size(json_object_get(c.root, "reversals")), 0);
	assert_string_equal(string_of(c.root, "trace"), "golden");
	release(&c);
}

static void races(void **state)
{
	struct checked c;
	const json_t *first, *events;

	(void)state;
	check(&c, RACE);
	assert_memory_equal(c.text, "no: dependent events can change places", 38);
	assert_non_null(strstr(c.text, "\n1. shared[0]\n"));
	assert_non_null(strstr(c.text, "  first  T_0: read of 8 bytes at u.c:150:1 in f\n"));
	assert_non_null(strstr(c.text, "  then   T_0_0: write of 8 bytes at u.c:30:1 in f\n"));
	assert_non_null(strstr(c.text, "nothing orders them: a data race\n"));
	assert_string_equal(string_of(c.root, "verdict"), "no");
	first = json_array_get(json_object_get(c.root, "reversals"), 0);
	assert_string_equal(string_of(first, "object"), "shared[0]");
	events = json_object_get(first, "events");
	assert_string_equal(string_of(json_array_get(events, 1), "thread"), "T_0_0");
	assert_int_equal(json_integer_value(json_object_get(json_array_get(events, 0), "line")), 150);
	release(&c);
}

/* A lock excludes the two accesses from each other, but does not order them. */
static void locks(void **state)
{
	struct checked c;

	(void)state;
	check(&c, LOCKED);
	assert_non_null(strstr(c.text, "a lock keeps them apart, but not in order"));
	assert_null(strstr(c.text, "data race"));
	release(&c);
}

static void lines_are_wrapped(void **state)
{
	struct checked c;
	char *rest;

	(void)state;
	check(&c, LOCKED);
	for (char *line = strtok_r(c.text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		assert_true(strlen(line) < 100);
	release(&c);
}

/* ---- schedules of reversals ---- */

/* Both threads are stopped at their accesses, and the one that came second goes first. */
static void schedule_of_a_race(void **state)
{
	struct checked c;
	struct schedule s;

	(void)state;
	check(&c, RACE);
	assert_int_equal(c.result->reversal_count, 1);
	assert_true(rev_schedule(c.result, epa_source_sites(c.source), &c.result->reversals[0], &s));
	assert_null(schedule_check(&s));
	assert_int_equal(s.goal_count, 2);
	assert_string_equal(s.goals[0].thread, "T_0_0");
	assert_string_equal(s.goals[1].thread, "T_0");
	assert_true(s.goals[0].write);
	assert_false(s.goals[1].write);
	assert_int_equal(s.goals[0].place.line, 30);
	schedule_release(&s);
	release(&c);
}

/* The first thread is stopped before its critical section until the second one has left its own. */
static void schedule_of_an_order(void **state)
{
	struct checked c;
	struct schedule s;
	bool locked = false;

	(void)state;
	check(&c, LOCKED);
	assert_true(rev_schedule(c.result, epa_source_sites(c.source), &c.result->reversals[0], &s));
	assert_int_equal(s.goal_count, 0);
	for (size_t i = 0; i < s.op_count; i++) {
		bool lock = !strcmp(s.ops[i].kind, "mutex-lock");

		assert_false(lock && !strcmp(s.ops[i].thread, "T_0_0"));
		locked |= lock;
	}
	assert_true(locked);
	schedule_release(&s);
	release(&c);
}

static void no_schedule_without_operations(void **state)
{
	const struct rev_reversal none = {0};
	struct checked c;
	struct schedule s;

	(void)state;
	check(&c, ORDERED);
	assert_false(rev_schedule(c.result, epa_source_sites(c.source), &none, &s));
	schedule_release(&s);
	release(&c);
}

/* ---- certificates of a verdict ---- */

static void certificates(void **state)
{
	const struct rev_certificate c = {.step_count = 4, .proved_count = 1};
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	(void)state;
	report_certificate_text("proof", &c, NULL, out);
	report_certificate_text("proof", &c, "step 3 is wrong", out);
	fclose(out);
	assert_string_equal(text,
			    "proof holds: 4 steps and 1 pairs of the solver order all dependent events\n"
			    "proof does not hold: step 3 is wrong\n");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ordered_runs),
		cmocka_unit_test(races),
		cmocka_unit_test(locks),
		cmocka_unit_test(lines_are_wrapped),
		cmocka_unit_test(schedule_of_a_race),
		cmocka_unit_test(schedule_of_an_order),
		cmocka_unit_test(certificates),
		cmocka_unit_test(no_schedule_without_operations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
