// SPDX-License-Identifier: Apache-2.0
/*
 * Unit tests of sketch/decide.h, on a program of two functions:
 *
 *   main: 1: read x   2: branch on x   3: call f   5: return
 *   f:    4: write y
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
	facts_add_string(m->f, "a.c"); /* string number 2 */
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

/* Adds a run: thread 0 reads x, thread 1 writes it, thread 0 writes y.  The branch came before
 * thread 1's write. */
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

	/* No branch of f decides about the write.  The branch of main does, through the call. */
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

/* A failing statement without an event also gets the branches that decide about it.  A branch that
 * was watched is not added a second time. */
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

/* ---- branches that events imply, compared with a slow search ---- */

enum { STATEMENTS = 8, BRANCHES = 4, EVENTS = 14, THREADS = 2 };

static uint64_t seed = 41;

static uint32_t random_below(uint32_t n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % n;
}

/* Statements 0 to 3 are branches, some of which were watched.  The other statements have random
 * lists of branches that decide about them, and some are on the same line as a branch. */
static void some_decisions(struct decide *d, struct sketch_runs *runs)
{
	for (uint32_t i = 0; i < STATEMENTS; i++)
		statement(runs, i < BRANCHES ? i + 1 : 1 + random_below(12),
			  i < BRANCHES ? SLICE_BRANCH : (enum slice_kind)random_below(2));
	*d = (struct decide){.statements = calloc(runs->statement_count, sizeof *d->statements),
			     .count = runs->statement_count,
			     .failure = random_below(2) ? UINT32_MAX : BRANCHES};
	assert_non_null(d->statements);
	for (uint32_t i = 0; i < d->count; i++) {
		for (uint32_t b = 0; b < BRANCHES; b++)
			if (b != i && random_below(2))
				decide_list_add(&d->statements[i].above, b);
		d->statements[i].seen = i < BRANCHES && random_below(4) == 0;
	}
}

static bool is_above(const struct decide *d, uint32_t branch, uint32_t at)
{
	for (size_t i = 0; i < d->statements[at].above.count; i++)
		if (d->statements[at].above.items[i] == branch)
			return true;
	return false;
}

static bool on_line(const struct sketch_runs *runs, uint32_t a, uint32_t b)
{
	return runs->statements[a].line == runs->statements[b].line;
}

/* Whether a thread at this statement has taken the branch and has not left its side since then. */
static bool stays(const struct decide *d, const struct sketch_runs *runs, uint32_t branch, uint32_t at)
{
	return is_above(d, branch, at) && !on_line(runs, at, branch);
}

/* Whether the branch must be added before event `at` of the thread, found by looking back through
 * the existing events: the branch decides about this event, and the thread's previous event was not
 * on the same side of the branch. */
static bool is_implied(const struct decide *d, const struct sketch_runs *runs, const struct sketch_run *run,
		       size_t at, uint32_t thread, uint32_t target, uint32_t branch)
{
	if (!stays(d, runs, branch, target) || d->statements[branch].seen)
		return false;
	for (size_t i = at; i-- > 0;)
		if (run->events[i].thread == thread)
			return !stays(d, runs, branch, run->events[i].statement);
	return true;
}

static size_t last_before(const struct sketch_run *run, size_t at, uint32_t thread)
{
	for (size_t i = at; i-- > 0;)
		if (run->events[i].thread == thread)
			return i;
	return SIZE_MAX;
}

struct wanted {
	size_t before; /* position in the events of the old run */
	uint32_t thread, branch;
};

/* Finds the branches that are added, outer branches first. */
static size_t find_implied(const struct decide *d, const struct sketch_runs *runs,
			   const struct sketch_run *run, struct wanted *out)
{
	size_t count = 0;

	for (size_t i = 0; i <= run->count; i++) {
		bool end = i == run->count;
		uint32_t thread = end ? run->failed_thread : run->events[i].thread,
			 target = end ? d->failure : run->events[i].statement;
		size_t last;

		if (end && (run->outcome == SKETCH_PASSED || target == UINT32_MAX))
			break;
		last = last_before(run, i, thread);
		for (size_t n = d->statements[target].above.count; n-- > 0;) {
			uint32_t branch = d->statements[target].above.items[n];

			if (is_implied(d, runs, run, i, thread, target, branch))
				out[count++] =
					(struct wanted){last != SIZE_MAX ? last + 1 : i, thread, branch};
		}
	}
	return count;
}

/* Each implied branch is where it was found, and the other events are unchanged. */
static void check_implied(const struct sketch_run *old, const struct sketch_run *now,
			  const struct wanted *wanted, size_t count)
{
	size_t at = 0;

	assert_int_equal(now->count, old->count + count);
	for (size_t i = 0; i <= old->count; i++) {
		for (size_t n = 0; n < count; n++)
			if (wanted[n].before == i) {
				assert_int_equal(now->events[at].thread, wanted[n].thread);
				assert_int_equal(now->events[at].statement, wanted[n].branch);
				assert_int_equal(now->events[at++].size, 0);
			}
		if (i < old->count)
			assert_memory_equal(&now->events[at++], &old->events[i], sizeof *old->events);
	}
}

static void test_imply(void **state)
{
	size_t implied = 0;

	(void)state;
	for (int round = 0; round < 3000; round++) {
		struct sketch_runs runs = {0};
		struct sketch_event events[EVENTS];
		struct wanted wanted[(EVENTS + 1) * BRANCHES];
		struct sketch_run *run, old;
		struct decide d;
		size_t count;

		some_decisions(&d, &runs);
		run = sketch_run_add(&runs);
		run->outcome = random_below(2) ? SKETCH_CRASH : SKETCH_PASSED;
		run->failed_thread = random_below(THREADS);
		for (uint32_t n = random_below(EVENTS); n > 0; n--) {
			uint32_t s = random_below((uint32_t)d.count);

			if (s >= BRANCHES ||
			    d.statements[s].seen) /* only branches that were watched have events */
				sketch_event_add(run,
						 &(struct sketch_event){random_below(THREADS), s, 64, n, 4});
		}
		if (run->count)
			memcpy(events, run->events, run->count * sizeof *events);
		old = *run;
		old.events = events;
		count = find_implied(&d, &runs, &old, wanted);
		decide_imply(&d, &runs);
		check_implied(&old, run, wanted, count);
		implied += count;
		decide_close(&d);
		sketch_runs_release(&runs);
	}
	assert_true(implied > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_branch), cmocka_unit_test(test_failure),
					   cmocka_unit_test(test_imply)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
