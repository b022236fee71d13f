// SPDX-License-Identifier: Apache-2.0
/*
 * Unit tests of stories with made-up runs: which memory they are about, which events become steps,
 * and how the last steps are marked.
 */
#include "finding-fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/random.h"
#include "finding/timeline.h"
#include "sketch/story-int.h"

#include <stdio.h>
#include <stdlib.h>

static const char *const names[TURNS_THREADS] = {"T_0", "T_0_0", "T_0_1"};

struct made {
	struct finding_set *set;
	struct finding *f;
	struct sketch_runs runs;
	struct sketch_run *run;
	struct story_memory memory;
};

/* Begins a run of a finding whose thread T_0 fails at a.c:20. */
static void begin(struct made *m, enum finding_kind kind)
{
	*m = (struct made){.set = finding_set_new()};
	m->f = finding_add(m->set, kind);
	m->f->cycle = finding_array(m->set, 1, sizeof *m->f->cycle);
	m->f->cycle_count = 1;
	m->f->cycle[0] =
		(struct finding_wait){.thread = "T_0", .kind = kind == FINDING_FAILURE ? "signal" : "cond"};
	m->f->cycle[0].wants = kind == FINDING_FAILURE ? "SIGABRT" : "ready";
	m->f->cycle[0].stack = fixture_stack(m->set, FRAMES({"main", "src/a.c", 20, 1}));
	m->run = sketch_run_add(&m->runs);
}

static void end(struct made *m)
{
	sketch_runs_release(&m->runs);
	finding_set_free(m->set);
}

static void event(struct made *m, uint32_t thread, uint32_t line, enum slice_kind kind, uint64_t address,
		  uint64_t value)
{
	struct slice_statement s = {.file = (char *)"src/a.c",
				    .function = (char *)"f",
				    .line = line,
				    .kind = kind,
				    .variable = kind == SLICE_SYNC ? NULL : (char *)"x",
				    .operation = kind == SLICE_SYNC ? (char *)"cond-signal" : NULL};

	sketch_event_add(m->run, &(struct sketch_event){.thread = thread,
							.statement = sketch_statement(&m->runs, &s),
							.address = address,
							.value = value,
							.size = kind == SLICE_SYNC ? 0 : 4});
}

static void tell(struct made *m)
{
	story_learn(&m->memory, m->f, &m->runs, m->run);
	story_steps(&m->memory, &m->runs, m->run, names, m->set, m->f);
}

static void expect(const struct made *m, size_t i, const char *thread, uint32_t line, const char *words,
		   bool last)
{
	assert_in_range(i, 0, m->f->step_count - 1);
	assert_string_equal(m->f->steps[i].thread, thread);
	assert_int_equal(m->f->steps[i].place.line, line);
	assert_string_equal(m->f->steps[i].event, words);
	assert_int_equal(m->f->steps[i].last, last);
}

/* Only the memory matters that the failing line accesses.  A read and a write of one statement are one
 * step. */
static void a_failed_assertion(void **state)
{
	struct made m;

	(void)state;
	begin(&m, FINDING_FAILURE);
	event(&m, 1, 5, SLICE_READ, 64, 100);
	event(&m, 2, 5, SLICE_READ, 64, 100);
	event(&m, 2, 6, SLICE_READ, 64, 100);
	event(&m, 2, 6, SLICE_WRITE, 64, 40);
	event(&m, 1, 9, SLICE_WRITE, 128, 1); /* other memory */
	event(&m, 1, 6, SLICE_WRITE, 64, (uint64_t)-20);
	event(&m, 0, 20, SLICE_READ, 64, (uint64_t)-20);
	tell(&m);
	assert_int_equal(m.memory.count, 1);
	assert_int_equal(m.f->step_count, 6);
	expect(&m, 0, "T_0_0", 5, "x is 100", false);
	expect(&m, 1, "T_0_1", 5, "x is 100", false);
	expect(&m, 2, "T_0_1", 6, "x: 100 -> 40", false);
	expect(&m, 3, "T_0_0", 6, "x = -20", false);
	expect(&m, 4, "T_0", 20, "x is -20", false);
	expect(&m, 5, "T_0", 20, "fails here", true);
	end(&m);
}

/* Two threads may read and write at one line; these are two steps. */
static void an_update_belongs_to_one_thread(void **state)
{
	struct made m;

	(void)state;
	begin(&m, FINDING_FAILURE);
	event(&m, 1, 6, SLICE_READ, 64, 0);
	event(&m, 2, 6, SLICE_WRITE, 64, 1);
	event(&m, 0, 20, SLICE_READ, 64, 1);
	tell(&m);
	expect(&m, 0, "T_0_0", 6, "x is 0", false);
	expect(&m, 1, "T_0_1", 6, "x = 1", false);
	end(&m);
}

static void repeated_steps_are_counted(void **state)
{
	struct made m;

	(void)state;
	begin(&m, FINDING_FAILURE);
	for (unsigned i = 0; i < 5; i++)
		event(&m, 1, 5, SLICE_READ, 64, 7);
	event(&m, 0, 20, SLICE_READ, 64, 7);
	tell(&m);
	assert_int_equal(m.f->step_count, 3);
	expect(&m, 0, "T_0_0", 5, "x is 7, 5 times", false);
	end(&m);
}

/* The wait of a deadlock is the last operation of its thread, not a further step. */
static void a_wait_that_never_ends(void **state)
{
	struct made m;

	(void)state;
	begin(&m, FINDING_DEADLOCK);
	event(&m, 1, 8, SLICE_SYNC, 64, 0);
	event(&m, 0, 20, SLICE_SYNC, 64, 0);
	tell(&m);
	assert_int_equal(m.f->step_count, 2);
	expect(&m, 0, "T_0_0", 8, "signal", false);
	expect(&m, 1, "T_0", 20, "waits for ready", true);
	end(&m);
}

/* The last steps are kept, so a long run still fits on a screen. */
static void only_the_last_steps(void **state)
{
	struct made m;

	(void)state;
	begin(&m, FINDING_FAILURE);
	for (unsigned i = 0; i < 500; i++)
		event(&m, 1 + i % 2, 5, SLICE_WRITE, 64, i);
	event(&m, 0, 20, SLICE_READ, 64, 499);
	tell(&m);
	assert_in_range(m.f->step_count, 10, 20);
	expect(&m, m.f->step_count - 3, "T_0_1", 5, "x = 499", false);
	expect(&m, m.f->step_count - 1, "T_0", 20, "fails here", true);
	end(&m);
}

/* A run that never reached the place of the failure is about no memory. */
static void nothing_learnt(void **state)
{
	struct made m;

	(void)state;
	begin(&m, FINDING_FAILURE);
	event(&m, 1, 5, SLICE_WRITE, 64, 1);
	event(&m, 0, 21, SLICE_READ, 64, 1);
	story_learn(&m.memory, m.f, &m.runs, m.run);
	assert_int_equal(m.memory.count, 0);
	assert_false(story_is_place(m.f, "b.c", 20));
	assert_true(story_is_place(m.f, "elsewhere/a.c", 20)); /* the tree may have been moved */
	end(&m);
}

/* Of many addresses at the place, the last ones are taken, each once. */
static void the_last_addresses(void **state)
{
	struct made m;

	(void)state;
	begin(&m, FINDING_FAILURE);
	for (unsigned i = 0; i < 40; i++)
		event(&m, 0, 20, SLICE_READ, 64 * (1 + i % 10), i);
	story_learn(&m.memory, m.f, &m.runs, m.run);
	assert_int_equal(m.memory.count, STORY_ADDRESSES);
	for (size_t i = 0; i < m.memory.count; i++)
		assert_int_equal(m.memory.addresses[i], 64 * (10 - i));
	end(&m);
}

/* Whatever happened: each step is an event of the run, in its order, and the end is marked once. */
static void any_run(void **state)
{
	struct rd_random random = {.state = 5};

	(void)state;
	for (unsigned round = 0; round < 200; round++) {
		struct made m;
		size_t marked = 0;

		begin(&m, FINDING_FAILURE);
		for (unsigned i = 0; i < 1 + round % 40; i++)
			event(&m, (uint32_t)rd_random_below(&random, 3),
			      (uint32_t)rd_random_below(&random, 30),
			      rd_random_below(&random, 2) ? SLICE_READ : SLICE_WRITE,
			      64 * (1 + rd_random_below(&random, 4)), rd_random_below(&random, 3));
		event(&m, 0, 20, SLICE_READ, 64, 0);
		tell(&m);
		for (size_t i = 0; i < m.f->step_count; i++) {
			marked += m.f->steps[i].last;
			assert_non_null(m.f->steps[i].thread);
			assert_non_null(m.f->steps[i].event);
		}
		assert_int_equal(marked, 1);
		assert_true(m.f->steps[m.f->step_count - 1].last);
		end(&m);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_failed_assertion),
		cmocka_unit_test(an_update_belongs_to_one_thread),
		cmocka_unit_test(repeated_steps_are_counted),
		cmocka_unit_test(a_wait_that_never_ends),
		cmocka_unit_test(only_the_last_steps),
		cmocka_unit_test(nothing_learnt),
		cmocka_unit_test(the_last_addresses),
		cmocka_unit_test(any_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
