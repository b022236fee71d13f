// SPDX-License-Identifier: Apache-2.0
/*
 * Unit tests of how the program's data in the shared memory becomes reports for the hive.  Every
 * combination of what is known about a task is compared with the rules as a table.  Contexts must
 * be sent only once.
 */
#include "base/alloc.h"
#include "base/error.h"
#include "site/agent-int.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

struct fixture {
	struct site_opts opts;
	struct site_agent a;
};

/* Makes an agent whose program has a task about the first of two candidates. */
static void begin(struct fixture *f, enum raddle_guard_order order)
{
	static const char table[] = RADDLE_GUARD_TITLE
		"0123456789abcdef\na 1\na 2\na 3\nc 00000000000000aa 0 1\nc 00000000000000bb 1 2\n";
	struct agent_task *t = &f->a.tasks[0];

	*f = (struct fixture){.a = {.lines = RD_BUF_INIT, .run = "00000000000000ff"}};
	f->a.opts = &f->opts;
	assert_int_equal(
		guard_table_parse(&f->a.table, &(struct guard_text){table, NULL, strlen(table), 0}, "test"),
		RD_OK);
	assert_int_equal(site_session_open(&f->a.session, &f->a.table), RD_OK);
	f->a.sent_contexts = rd_xcalloc(f->a.table.count + 1, 1);
	strcpy(t->task.id, "00000000000000aa.pv0.1");
	strcpy(t->task.candidate, "00000000000000aa");
	t->task.order = order;
	t->generation = site_session_give(&f->a.session, &(struct site_order){.order = order, .tau_us = 10});
	f->a.task_count = 1;
}

static void end(struct fixture *f)
{
	site_session_close(&f->a.session);
	guard_table_release(&f->a.table);
	rd_buf_release(&f->a.lines);
	free(f->a.sent_contexts);
}

/* Returns the only report, or NULL if there is none.  The caller releases it. */
static json_t *only_report(struct fixture *f)
{
	json_t *root;

	if (!f->a.lines.length)
		return NULL;
	assert_ptr_equal(strchr(f->a.lines.data, '\n'), f->a.lines.data + f->a.lines.length - 1);
	root = json_loads(f->a.lines.data, 0, NULL);
	assert_non_null(root);
	return root;
}

static const char *text_of(const json_t *report, const char *key)
{
	const char *text = json_string_value(json_object_get(report, key));

	return text ? text : "";
}

/* ---- reports that the program itself has made ---- */

static void put_report(struct fixture *f, uint32_t result, uint32_t order, uint32_t proof)
{
	struct raddle_guard_report *r = &f->a.session.shared->reports[0];

	f->a.session.next = 0;
	*r = (struct raddle_guard_report){.generation = f->a.tasks[0].generation,
					  .result = result,
					  .order = order,
					  .proof = proof,
					  .tau_us = 777,
					  .pause_us = 55};
	atomic_store(&r->ready, 1);
}

static void results_become_reports(void **state)
{
	static const char *const names[] = {"", "race", "no-race", "timeout"};

	(void)state;
	for (uint32_t i = 0; i < 3 * 2 * 2 * 2; i++) {
		uint32_t result = 1 + i % 3, order = i / 3 % 2, proof = i / 6 % 2;
		bool collision = proof == RADDLE_GUARD_COLLISION, is_race = result == RADDLE_GUARD_RACE;
		struct fixture f;
		json_t *report;

		begin(&f, RADDLE_GUARD_PRIMARY);
		f.a.tasks[0].capped = i / 12;
		put_report(&f, result, order, proof);
		agent_collect(&f.a);
		report = only_report(&f);
		assert_string_equal(text_of(report, "result"), names[result]);
		assert_string_equal(text_of(report, "candidate"), "00000000000000aa");
		assert_string_equal(text_of(report, "task"), "00000000000000aa.pv0.1");
		assert_string_equal(text_of(report, "run"), "00000000000000ff");
		assert_string_equal(text_of(report, "order"), order ? "alternate" : "primary");
		assert_string_equal(text_of(report, "proof"), !is_race	  ? ""
							      : collision ? "collision"
									  : "happens-before");
		assert_int_equal(json_integer_value(json_object_get(report, "pause_us")), 55);
		assert_int_equal(json_integer_value(json_object_get(report, "tau_us")),
				 result == RADDLE_GUARD_TIMEOUT ? 777 : 0);
		assert_int_equal(json_is_true(json_object_get(report, "tau_capped")),
				 result == RADDLE_GUARD_TIMEOUT && f.a.tasks[0].capped);
		assert_int_equal(f.a.tasks[0].raced, is_race ? 1u << order : 0);
		assert_true(f.a.tasks[0].reported && f.a.memory.settled);
		assert_int_equal(f.a.memory.steered, result == RADDLE_GUARD_TIMEOUT || collision);
		json_decref(report);
		end(&f);
	}
}

/* A report of an ended task, or of no task, is not used for the current one. */
static void reports_of_other_tasks_are_dropped(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f, RADDLE_GUARD_PRIMARY);
	put_report(&f, RADDLE_GUARD_RACE, 0, 0);
	f.a.session.shared->reports[0].generation++;
	agent_collect(&f.a);
	assert_int_equal(f.a.lines.length, 0);
	assert_false(f.a.tasks[0].reported || f.a.memory.settled);
	end(&f);
}

/* ---- failures of the program and their consequences ---- */

/* A failure is attributed to a race that was seen.  If no race was seen but a thread is or was
 * held, the failure is reported as suspected.  Otherwise it is not reported. */
static void failures_are_reported_by_what_is_known(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < 4 * 4 * 2 * 2 * 2; i++) {
		uint32_t own = i % 4, shared = i / 4 % 4, active = i / 16 % 2, raced = own | shared;
		bool steered = i / 32 % 2;
		enum raddle_guard_order order = i / 64 ? RADDLE_GUARD_ALTERNATE : RADDLE_GUARD_PRIMARY;
		struct raddle_guard_task *task;
		struct fixture f;
		json_t *report;

		begin(&f, order);
		task = site_session_task(&f.a.session, f.a.tasks[0].generation);
		atomic_store(&task->raced, shared | 0xf0); /* the other bits mean nothing */
		atomic_store(&task->active, active);
		f.a.tasks[0].raced = own;
		f.a.memory.steered = steered;
		f.a.sent_contexts[0] = 5;
		agent_consequence(&f.a, "crash", 11);
		report = only_report(&f);
		assert_int_equal(report != NULL, raced || active || steered);
		assert_int_equal(f.a.tasks[0].reported, report != NULL);
		if (report) {
			bool alternate = raced >> order & 1 ? order == RADDLE_GUARD_ALTERNATE
							    : order != RADDLE_GUARD_ALTERNATE;

			assert_string_equal(text_of(report, "result"), raced ? "race" : "not-seen");
			assert_string_equal(text_of(report, "consequence"), "crash");
			assert_int_equal(json_integer_value(json_object_get(report, "signal")), 11);
			if (raced)
				assert_string_equal(text_of(report, "order"),
						    alternate ? "alternate" : "primary");
			assert_int_equal(json_is_object(json_object_get(report, "context")), !raced);
		}
		json_decref(report);
		end(&f);
	}
}

/* ---- tasks without a result ---- */

static void the_end_of_a_task(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 16; i++) {
		bool reported = i & 1, ordered = i & 2, at_end = i & 4, gone = i & 8;
		struct raddle_guard_task *task;
		struct fixture f;
		json_t *report;
		const char *expected = reported || gone ? NULL
				       : ordered	? "no-race"
				       : at_end		? "not-seen"
							: NULL;

		begin(&f, RADDLE_GUARD_ALTERNATE);
		task = site_session_task(&f.a.session, f.a.tasks[0].generation);
		atomic_store(&task->ordered, ordered);
		f.a.tasks[0].reported = reported;
		if (gone)
			site_session_quiet(&f.a.session);
		agent_finish_tasks(&f.a, at_end);
		report = only_report(&f);
		assert_int_equal(report != NULL, expected != NULL);
		if (report)
			assert_string_equal(text_of(report, "result"), expected);
		assert_int_equal(f.a.memory.settled, expected && ordered);
		json_decref(report);
		end(&f);
	}
}

/* ---- contexts ---- */

/* A context is sent when it has grown, with everything that is known. */
static void contexts_are_sent_when_they_grow(void **state)
{
	static const struct {
		uint32_t now;
		bool sent;
		uint32_t known;
	} steps[] = {{0, false, 0},    {1, true, 1},   {1, false, 1}, {2, true, 3},
		     {0x10, false, 3}, {15, true, 15}, {4, false, 15}};
	struct fixture f;

	(void)state;
	begin(&f, RADDLE_GUARD_PRIMARY);
	for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
		json_t *report;

		rd_buf_clear(&f.a.lines);
		atomic_store(&f.a.session.pairs[1].context, steps[i].now);
		agent_contexts(&f.a);
		report = only_report(&f);
		assert_int_equal(report != NULL, steps[i].sent);
		assert_int_equal(f.a.sent_contexts[1], steps[i].known);
		assert_int_equal(f.a.sent_contexts[0], 0);
		if (report) {
			const json_t *context = json_object_get(report, "context");

			assert_string_equal(text_of(report, "result"), "context");
			assert_string_equal(text_of(report, "candidate"), "00000000000000bb");
			assert_int_equal(json_is_true(json_object_get(context, "first")), steps[i].known & 1);
			assert_int_equal(json_is_true(json_object_get(context, "second")),
					 steps[i].known >> 1 & 1);
			assert_int_equal(json_is_true(json_object_get(context, "two_threads")),
					 steps[i].known >> 3 & 1);
		}
		json_decref(report);
	}
	end(&f);
}

/* Reports are numbered, and the number of waiting reports is limited. */
static void waiting_reports_are_numbered_and_limited(void **state)
{
	struct fixture f;
	uint32_t before;

	(void)state;
	begin(&f, RADDLE_GUARD_PRIMARY);
	for (uint32_t i = 0; i < 3; i++) {
		put_report(&f, RADDLE_GUARD_NO_RACE, 0, 0);
		agent_collect(&f.a);
	}
	assert_non_null(strstr(f.a.lines.data, "\"seq\":0"));
	assert_non_null(strstr(f.a.lines.data, "\"seq\":2"));
	while (f.a.lines.length <= SITE_SPOOL_MAX / 2)
		rd_buf_addc(&f.a.lines, 'x');
	before = f.a.seq;
	put_report(&f, RADDLE_GUARD_RACE, 0, 0);
	agent_collect(&f.a);
	assert_int_equal(f.a.seq, before);
	assert_int_equal(f.a.tasks[0].raced, 1); /* a later crash is still attributed to the race */
	end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(results_become_reports),
		cmocka_unit_test(reports_of_other_tasks_are_dropped),
		cmocka_unit_test(failures_are_reported_by_what_is_known),
		cmocka_unit_test(the_end_of_a_task),
		cmocka_unit_test(contexts_are_sent_when_they_grow),
		cmocka_unit_test(waiting_reports_are_numbered_and_limited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
