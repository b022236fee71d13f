// SPDX-License-Identifier: Apache-2.0
/*
 * Unit tests of the sketch of hand-made runs and of its writers: which steps are shown and why, and
 * that each document meets the requirements of its readers.
 */
#include "report/sketch.h"

#include "base/alloc.h"
#include "base/json-read.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { X = 16, Y = 24, Z = 32 };
enum { CREATE = 1, RESET, USE, LATE, LOOK, JOIN, FAR, INIT };

/* Main creates a thread, resets x, and reads y, which no thread writes.  The thread reads x and
 * fails if x was reset before.  Then it writes z, which no thread reads. */
static void make_runs(struct sketch_runs *r)
{
	static const struct slice_statement table[] = {
		{.line = CREATE, .kind = SLICE_SYNC, .operation = "thread-create", .distance = 1},
		{.line = RESET, .kind = SLICE_WRITE, .role = SLICE_WRITES, .variable = "x", .distance = 1},
		{.line = USE, .kind = SLICE_READ, .role = SLICE_READS, .variable = "x", .distance = 0},
		{.line = LATE, .kind = SLICE_WRITE, .role = SLICE_WRITES, .variable = "z", .distance = 1},
		{.line = LOOK, .kind = SLICE_READ, .role = SLICE_READS, .variable = "y", .distance = 1},
		{.line = JOIN, .kind = SLICE_SYNC, .operation = "thread-join", .distance = 1},
		{.line = FAR, .kind = SLICE_READ, .role = SLICE_READS, .variable = "x", .distance = 9},
		{.line = INIT, .kind = SLICE_WRITE, .role = SLICE_WRITES, .variable = "x", .distance = 1},
	};

	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct slice_statement s = table[i];

		s.file = "a.c";
		s.function = "f";
		assert_int_equal(sketch_statement(r, &s), i);
	}
}

static void add(struct sketch_run *run, uint32_t thread, uint32_t line, uint64_t address, uint64_t value)
{
	sketch_event_add(run, &(struct sketch_event){thread, line - 1, address, value, address ? 8 : 0});
}

static void make_run(struct sketch_runs *r, const char *signature)
{
	struct sketch_run *run = sketch_run_add(r);

	run->failed_thread = 1;
	run->outcome = signature ? SKETCH_CRASH : SKETCH_PASSED;
	run->signature = signature ? rd_xstrdup(signature) : NULL;
	add(run, 0, INIT, X, 7);
	add(run, 0, FAR, X, 7);
	add(run, 0, CREATE, 0, 0);
	if (signature)
		add(run, 0, RESET, X, 0);
	add(run, 0, LOOK, Y, 1);
	add(run, 1, LATE, Z, 3);
	add(run, 0, JOIN, 0, 0);
	add(run, 1, USE, X, signature ? 0 : 7);
	if (!signature)
		add(run, 0, RESET, X, 0);
}

struct drawn {
	struct sketch_runs runs;
	struct sketch_set set;
	struct sketch sketch;
};

static void draw(struct drawn *d)
{
	struct sketch_failure failure = {.kind = SKETCH_CRASH, .what = "SIGSEGV", .file = "a.c", .line = USE};
	char *signature = sketch_signature(&failure);
	struct sketch_predictors p;

	*d = (struct drawn){0};
	make_runs(&d->runs);
	for (int i = 0; i < 12; i++)
		make_run(&d->runs, i % 3 ? NULL : signature);
	sketch_predict(&d->runs, signature, &p);
	sketch_draw(&d->sketch, &d->runs, &failure, &p, &(struct sketch_reach){.sigma = 2, .near = 2});
	d->set = (struct sketch_set){.items = &d->sketch, .count = 1, .program = "./a", .runs = 12};
	free(signature);
}

static void release(struct drawn *d)
{
	sketch_predictors_release(&d->sketch.predictors);
	rd_arena_free(d->sketch.arena);
	sketch_runs_release(&d->runs);
}

static void what_matters_is_shown(void **state)
{
	static const uint32_t wanted[] = {INIT, CREATE, RESET, USE};
	struct drawn d;

	(void)state;
	draw(&d);
	assert_int_equal(d.sketch.failing, 4);
	assert_int_equal(d.sketch.passing, 8);
	assert_int_equal(d.sketch.fails.count, 4);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(d.sketch.fails.items[i].line, wanted[i]);
	assert_int_equal(d.sketch.predictors.items[0].pattern, SKETCH_WR);
	assert_true(d.sketch.fails.items[3].marks & SKETCH_MARK_FAILURE);
	assert_true(d.sketch.fails.items[3].marks & SKETCH_MARK_PREDICTOR);
	assert_true(d.sketch.fails.items[2].marks & SKETCH_MARK_PREDICTOR);
	assert_false(d.sketch.fails.items[0].marks & SKETCH_MARK_PREDICTOR);
	assert_int_equal(d.sketch.fails.items[3].writers[0], 3); /* step 3 is the reset */
	assert_string_equal(d.sketch.texts[0], "a.c:2 before a.c:3 of another thread");
	release(&d);
}

/* If the place of a failure is unknown, the sketch ends with the last step of the failing run. */
static void a_failure_without_a_place(void **state)
{
	struct sketch_failure failure = {.kind = SKETCH_EXIT, .what = "status 3"};
	char *signature = sketch_signature(&failure);
	struct sketch_predictors p;
	struct sketch_runs runs = {0};
	struct sketch s;

	(void)state;
	make_runs(&runs);
	for (int i = 0; i < 4; i++)
		make_run(&runs, i % 2 ? NULL : signature);
	sketch_predict(&runs, signature, &p);
	sketch_draw(&s, &runs, &failure, &p, &(struct sketch_reach){.sigma = 2, .near = 2});
	assert_int_equal(s.fails.items[s.fails.count - 1].line, USE);
	assert_true(s.fails.items[s.fails.count - 1].marks & SKETCH_MARK_FAILURE);
	sketch_predictors_release(&s.predictors);
	rd_arena_free(s.arena);
	sketch_runs_release(&runs);
	free(signature);
}

static const char *no_source(void *context, const struct sketch_step *step)
{
	(void)context;
	return step->line == RESET ? "x = \"<0>\";" : NULL;
}

static char *write_with(const struct drawn *d, int (*write)(const struct sketch_report *, FILE *))
{
	struct sketch_report r = {.set = &d->set, .source = no_source};
	char *text;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	assert_int_equal(write(&r, out), 0);
	fclose(out);
	return text;
}

static json_t *parse(char *text)
{
	json_t *root = json_loads(text, 0, NULL);

	assert_non_null(root);
	free(text);
	return root;
}

static const char *word(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key));
}

/* Every event has a phase, a process and a thread.  Threads have names.  Every arrow ends after it
 * begins. */
static void perfetto_can_be_read(void **state)
{
	struct drawn d;
	size_t i, slices = 0, failures = 0, arrows = 0;
	json_t *root, *e;
	json_int_t begun[64] = {0};
	bool named[8] = {false};

	(void)state;
	draw(&d);
	root = parse(write_with(&d, sketch_perfetto));
	json_array_foreach(json_object_get(root, "traceEvents"), i, e)
	{
		const char *phase = word(e, "ph");
		json_int_t pid = json_integer_value(json_object_get(e, "pid")),
			   tid = json_integer_value(json_object_get(e, "tid")),
			   ts = json_integer_value(json_object_get(e, "ts")),
			   id = json_integer_value(json_object_get(e, "id"));

		assert_true(phase && strlen(phase) == 1 && word(e, "name") && pid >= 1 && pid <= 2 &&
			    tid >= 1 && tid <= 2);
		if (*phase == 'M') {
			named[pid * 2 + tid] |= !strcmp(word(e, "name"), "thread_name");
			continue;
		}
		assert_true(named[pid * 2 + tid] && ts > 0);
		slices += *phase == 'X' && json_integer_value(json_object_get(e, "dur")) > 0;
		failures += !strcmp(word(e, "cat"), "failure");
		if (*phase == 's')
			begun[id] = ts;
		if (*phase == 'f')
			assert_true(begun[id] && begun[id] < ts && ++arrows);
	}
	assert_int_equal(slices, d.sketch.fails.count + d.sketch.passes.count);
	assert_int_equal(failures, 1);
	assert_true(arrows >= 2);
	json_decref(root);
	release(&d);
}

static void json_and_sarif_can_be_read(void **state)
{
	struct drawn d;
	json_t *root, *sketch, *flow;

	(void)state;
	draw(&d);
	root = parse(write_with(&d, sketch_json));
	sketch = json_array_get(json_object_get(root, "sketches"), 0);
	assert_int_equal(json_array_size(json_object_get(sketch, "steps")), 4);
	assert_string_equal(word(json_array_get(json_object_get(sketch, "steps"), 2), "source"),
			    "x = \"<0>\";");
	json_decref(root);
	root = parse(write_with(&d, sketch_sarif));
	assert_string_equal(word(root, "version"), "2.1.0");
	flow = json_array_get(json_object_get(json_array_get(json_object_get(root, "runs"), 0), "results"),
			      0);
	flow = json_array_get(json_object_get(flow, "codeFlows"), 0);
	assert_int_equal(json_array_size(json_object_get(flow, "threadFlows")), 2);
	json_decref(root);
	release(&d);
}

static void page_and_text_have_the_steps(void **state)
{
	struct drawn d;
	char *page, *text;

	(void)state;
	draw(&d);
	page = write_with(&d, sketch_html);
	text = write_with(&d, sketch_text);
	assert_non_null(strstr(page, "&lt;0&gt;"));
	assert_null(strstr(page, "\"<0>\""));
	assert_null(strstr(page, "http://"));
	assert_non_null(strstr(text, "a.c:2 before a.c:3 of another thread"));
	assert_non_null(strstr(text, "x = \"<0>\";"));
	for (const char *line = text; *line; line += strcspn(line, "\n") + 1)
		assert_true(strcspn(line, "\n") <= 100);
	free(page);
	free(text);
	release(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_matters_is_shown),	cmocka_unit_test(a_failure_without_a_place),
		cmocka_unit_test(perfetto_can_be_read),		cmocka_unit_test(json_and_sarif_can_be_read),
		cmocka_unit_test(page_and_text_have_the_steps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
