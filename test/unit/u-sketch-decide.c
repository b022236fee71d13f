// SPDX-License-Identifier: Apache-2.0
/*
 * Unit tests of sketch/decide.h, on a program of two functions:
 *
 *	main: 1: read x   2: branch on it   3: call f   5: return
 *	f:    4: write y
 */
#include "candidates-fixture.h"

#include "sketch/decide.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint32_t put(struct made *m, uint32_t kind, uint32_t line)
{
	uint32_t v = made_value(m, kind, 0);

	m->f->values[v].file = 2;
	m->f->values[v].line = line;
	m->f->values[v].number = 4;
	return v;
}

static void make_main(struct made *m)
{
	uint32_t x = made_constant(m, FACTS_CONSTANT_GLOBAL, 0, 0),
		 f = made_constant(m, FACTS_CONSTANT_FUNCTION, 1, 0), read, call, base;

	base = (uint32_t)m->f->block_count;
	made_function(m, "main", 0, 0);
	made_block(m);
	read = put(m, FACTS_LOAD, 1);
	made_operand(m, x, 0);
	put(m, FACTS_BRANCH, 2);
	made_operand(m, read, 0);
	facts_add_successor(m->f)->block = base + 1;
	facts_add_successor(m->f)->block = base + 2;
	made_block(m);
	call = put(m, FACTS_CALL, 3);
	made_operand(m, f, 0);
	made_call_edge(m, call, 1, FACTS_EDGE_CALL);
	put(m, FACTS_JUMP, 3);
	facts_add_successor(m->f)->block = base + 2;
	made_block(m);
	put(m, FACTS_RETURN, 5);
}

static void make_program(struct made *m)
{
	made_begin(m, 1);
	facts_add_string(m->f, "a.c"); /* number 2 */
	made_global(m, "x", 0);
	made_global(m, "y", 0);
	make_main(m);
	uint32_t y = made_constant(m, FACTS_CONSTANT_GLOBAL, 1, 0),
		 one = made_constant(m, FACTS_CONSTANT_INTEGER, 0, 1);
	made_function(m, "f", 0, 0);
	made_block(m);
	put(m, FACTS_STORE, 4);
	made_operand(m, one, 0);
	made_operand(m, y, 0);
	put(m, FACTS_RETURN, 4);
}

static uint32_t statement(struct sketch_runs *runs, uint32_t line, enum slice_kind kind)
{
	return sketch_statement(
		runs, &(struct slice_statement){
			      .file = (char *)"a.c", .function = (char *)"main", .line = line, .kind = kind});
}

/* Thread 0 reads x, thread 1 writes it, thread 0 writes y: the branch came before thread 1. */
static void add_run(struct sketch_runs *runs, uint64_t x)
{
	struct sketch_run *run = sketch_run_add(runs);
	uint32_t read = statement(runs, 1, SLICE_READ), other = statement(runs, 9, SLICE_WRITE),
		 write = statement(runs, 4, SLICE_WRITE);

	sketch_event_add(run, &(struct sketch_event){0, read, 100, x, 4});
	sketch_event_add(run, &(struct sketch_event){1, other, 100, 7, 4});
	sketch_event_add(run, &(struct sketch_event){0, write, 200, 1, 4});
}

static void expect_event(const struct sketch_runs *runs, size_t at, uint32_t thread, uint32_t line,
			 enum slice_kind kind)
{
	const struct sketch_event *e = &runs->items[0].events[at];

	assert_int_equal(e->thread, thread);
	assert_int_equal(runs->statements[e->statement].line, line);
	assert_int_equal(runs->statements[e->statement].kind, kind);
}

static void test_branch(void **state)
{
	struct made m;
	struct sketch_runs runs = {0};
	struct decide d;
	uint32_t read, write, branch;

	(void)state;
	make_program(&m);
	add_run(&runs, 1);
	add_run(&runs, 2);
	read = statement(&runs, 1, SLICE_READ);
	write = statement(&runs, 4, SLICE_WRITE);
	decide_open(&d, m.f, &runs, &(struct sketch_failure){0});
	assert_int_equal(d.failure, UINT32_MAX);

	/* No branch of f decides about the write; that of main does, through the call. */
	assert_int_equal(d.statements[write].by.count, 1);
	branch = d.statements[write].by.items[0];
	assert_int_equal(runs.statements[branch].line, 2);
	assert_int_equal(runs.statements[branch].kind, SLICE_BRANCH);
	assert_int_equal(d.statements[read].by.count, 0);
	assert_int_equal(d.statements[branch].looks.count, 1);
	assert_int_equal(d.statements[branch].looks.items[0], read);
	assert_true(d.statements[read].varies);
	assert_false(d.statements[write].varies);

	decide_imply(&d, &runs);
	assert_int_equal(runs.items[0].count, 4);
	expect_event(&runs, 0, 0, 1, SLICE_READ);
	expect_event(&runs, 1, 0, 2, SLICE_BRANCH);
	expect_event(&runs, 2, 1, 9, SLICE_WRITE);
	expect_event(&runs, 3, 0, 4, SLICE_WRITE);
	decide_close(&d);
	sketch_runs_release(&runs);
	facts_free(m.f);
}

/* A failing statement without an event has what decides about it as well; a branch that was watched is not
 * added a second time. */
static void test_failure(void **state)
{
	struct made m;
	struct sketch_runs runs = {0};
	struct decide d;
	struct sketch_failure failure = {.kind = SKETCH_CRASH, .file = (char *)"a.c", .line = 4};

	(void)state;
	make_program(&m);
	for (int watched = 0; watched < 2; watched++) {
		struct sketch_run *run = sketch_run_add(&runs);

		run->outcome = SKETCH_CRASH;
		sketch_event_add(run, &(struct sketch_event){0, statement(&runs, 1, SLICE_READ), 100, 1, 4});
		if (watched)
			sketch_event_add(
				run, &(struct sketch_event){0, statement(&runs, 2, SLICE_BRANCH), 0, 1, 4});
		decide_open(&d, m.f, &runs, &failure);
		assert_int_equal(d.statements[d.failure].by.count, 1);
		decide_imply(&d, &runs);
		decide_close(&d);
		assert_int_equal(run->count, 2);
		assert_int_equal(runs.statements[run->events[1].statement].kind, SLICE_BRANCH);
		assert_int_equal(run->events[1].size, watched ? 4 : 0);
		sketch_runs_release(&runs);
	}
	facts_free(m.f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_branch), cmocka_unit_test(test_failure)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
