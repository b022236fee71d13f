// SPDX-License-Identifier: Apache-2.0
/* Unit tests of plans and records.  What is written is read back unchanged, and wrong input is
 * rejected.  No address leaves a site, nor any value that the site does not allow. */
#include "base/alloc.h"
#include "base/error.h"
#include "sketch/plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char plan_text[] =
	"{\"version\":1,\"kind\":\"assertion\",\"what\":\"x\",\"file\":\"/src/"
	"a.c\",\"line\":9,\"function\":\"f\","
	"\"sigma\":5,\"statements\":["
	"{\"file\":\"/src/"
	"a.c\",\"function\":\"f\",\"line\":9,\"column\":2,\"variable\":\"x\",\"kind\":\"read\","
	"\"role\":\"reads\",\"distance\":0,\"source\":\"use(x);\"},"
	"{\"file\":\"/src/a.c\",\"function\":\"g\",\"line\":4,\"column\":3,\"kind\":\"branch\","
	"\"role\":\"neutral\",\"distance\":3,\"found\":true}]}";

static int read_plan(struct sketch_plan *p, const char *text)
{
	struct rd_json_read r = {.subject = "plan", .name = "test"};
	json_t *root = rd_json_load(&r, text, strlen(text));
	int err = root ? sketch_plan_read(p, &r, root) : r.err;

	json_decref(root);
	return err;
}

static int read_record(struct sketch_plan *p, const char *text, uint32_t *sigma)
{
	struct rd_json_read r = {.subject = "record", .name = "test"};
	json_t *root = rd_json_load(&r, text, strlen(text));
	int err = root ? sketch_record_read(p, &r, root, sigma) : r.err;

	json_decref(root);
	return err;
}

static void plans_come_back(void **state)
{
	struct sketch_plan p, again;
	char *text;
	size_t length;
	FILE *out = open_memstream(&text, &length);
	struct rd_json j;

	(void)state;
	assert_int_equal(read_plan(&p, plan_text), 0);
	rd_json_begin(&j, out);
	rd_json_object(&j, NULL);
	sketch_plan_json(&p, &j);
	rd_json_end(&j);
	fclose(out);
	assert_int_equal(read_plan(&again, text), 0);
	assert_string_equal(p.id, again.id);
	assert_string_equal(p.signature, again.signature);
	assert_int_equal(again.runs.statement_count, 2);
	assert_string_equal(again.sources[0], "use(x);");
	assert_null(again.sources[1]);
	assert_true(again.runs.statements[1].found && again.runs.statements[1].kind == SLICE_BRANCH);
	sketch_plan_release(&p);
	sketch_plan_release(&again);
	free(text);
}

/* A plan with another folder has the same id.  A plan with another distance or line has another
 * id. */
static void ids_tell_plans_apart(void **state)
{
	static const char *const changes[][2] = {{"/src/a.c", "/home/me/a.c"},
						 {"\"line\":4", "\"line\":5"},
						 {"\"distance\":3", "\"distance\":2"}};
	struct sketch_plan p, q;

	(void)state;
	assert_int_equal(read_plan(&p, plan_text), 0);
	for (size_t i = 0; i < 3; i++) {
		struct rd_buf text = RD_BUF_INIT;
		size_t n = strlen(changes[i][0]);

		for (const char *at = plan_text; *at;)
			if (!strncmp(at, changes[i][0], n)) {
				rd_buf_adds(&text, changes[i][1]);
				at += n;
			} else {
				rd_buf_addc(&text, *at++);
			}
		assert_int_equal(read_plan(&q, text.data), 0);
		assert_int_equal(strcmp(p.id, q.id) == 0, i == 0);
		sketch_plan_release(&q);
		rd_buf_release(&text);
	}
	sketch_plan_release(&p);
}

static void wrong_plans_are_refused(void **state)
{
	static const char *const wrong[] = {
		"{}",
		"[]",
		"{\"version\":2}",
		"{\"version\":1,\"kind\":\"crash\",\"file\":\"a\",\"line\":1,\"sigma\":1,\"statements\":[]}",
		"{\"version\":1,\"kind\":\"crash\",\"file\":\"a\",\"line\":1,\"sigma\":1,\"statements\":[{}]"
		"}",
		"{\"version\":1,\"kind\":\"passed\",\"file\":\"a\",\"line\":1,\"sigma\":1,\"statements\":[7]"
		"}"};
	struct sketch_plan p;

	(void)state;
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
		assert_int_not_equal(read_plan(&p, wrong[i]), 0);
}

#define HEAP UINT64_C(0x7f0012345678)
#define SECRET UINT64_C(0xdecade)

/* Adds `count` events of the plan's two statements to the run, and one event of another statement. */
static void fill(struct sketch_run *run, size_t count)
{
	for (size_t i = 0; i < count; i++)
		sketch_event_add(run, &(struct sketch_event){.thread = i % 3,
							     .statement = i % 2,
							     .address = i % 2 ? 0 : HEAP + 8 * (i % 4),
							     .value = i % 2 ? i % 4 == 1 : SECRET,
							     .size = i % 2 ? 4 : 8});
	/* not a statement of the plan */
	sketch_event_add(run, &(struct sketch_event){.statement = 2});
}

static void records_come_back(void **state)
{
	struct sketch_plan p;
	struct sketch_run run = {.outcome = SKETCH_CRASH, .failed_thread = 2};
	uint32_t sigma;

	(void)state;
	assert_int_equal(read_plan(&p, plan_text), 0);
	fill(&run, SKETCH_RECORD_EVENTS + 7);
	for (int values = 0; values < 2; values++) {
		struct rd_buf text = RD_BUF_INIT;
		struct sketch_record what = {.plan = p.id,
					     .run = "0123456789abcdef",
					     .sigma = 4,
					     .statements = p.runs.statement_count,
					     .values = values};

		sketch_record_write(&what, &p.runs, &run, &text);
		assert_int_equal(read_record(&p, text.data, &sigma), 0);
		assert_true(text.length < 64 << 10);
		assert_null(strstr(text.data, "139638")); /* HEAP in decimal begins with this */
		/* SECRET in decimal */
		assert_int_equal(strstr(text.data, "14600926") != NULL, values);
		const struct sketch_run *back = &p.runs.items[p.runs.count - 1];
		size_t skipped = run.count - SKETCH_RECORD_EVENTS;

		assert_int_equal(sigma, 4);
		assert_true(back->cut && back->outcome == SKETCH_CRASH && back->failed_thread == 2);
		assert_string_equal(back->signature, p.signature);
		assert_int_equal(back->count, SKETCH_RECORD_EVENTS - 1);
		for (size_t i = 0; i < back->count; i++) {
			const struct sketch_event *a = &back->events[i], *b = &run.events[i + skipped];

			assert_true(a->thread == b->thread && a->statement == b->statement &&
				    !a->address == !b->address);
			/* equal addresses stay equal, and different ones different */
			for (size_t k = i; k-- > 0 && k + 8 > i;)
				assert_int_equal(a->address == back->events[k].address,
						 b->address == run.events[k + skipped].address);
			assert_int_equal(a->size, values || b->statement == 1 ? b->size : 0);
			if (a->size)
				assert_int_equal(a->value, b->value);
		}
		rd_buf_release(&text);
	}
	free(run.events);
	sketch_plan_release(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plans_come_back),
		cmocka_unit_test(ids_tell_plans_apart),
		cmocka_unit_test(wrong_plans_are_refused),
		cmocka_unit_test(records_come_back),
	};

	rd_log_set(rd_log_discard, NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
