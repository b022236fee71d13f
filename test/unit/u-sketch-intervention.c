// SPDX-License-Identifier: Apache-2.0
/*
 * Unit tests of sketch/intervention.c with made-up programs: each thread is a list of statements,
 * and a scheduler asks turns_choose() which thread runs next.  A forced order must happen, a
 * prevented order must not, and every program must end.
 */
#include "sketch/turns-parts-int.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { THREADS = 4, LENGTH = 12, FIRST = 0, SECOND = 1, THIRD = 2, OTHERS = 3, ADDRESS = 64 };

static uint64_t seed = 5;

static uint32_t below(uint32_t n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % n;
}

/* ---- made-up programs ---- */

struct program {
	uint32_t statements[THREADS][LENGTH];
	size_t length[THREADS];
	struct sketch_runs runs;
};

static uint32_t statement(struct sketch_runs *runs, uint32_t line, enum slice_role role)
{
	return sketch_statement(
		runs, &(struct slice_statement){.file = (char *)"a.c",
						.function = (char *)"f",
						.line = line,
						.kind = role == SLICE_WRITES ? SLICE_WRITE : SLICE_READ,
						.role = role});
}

/* Begins a program.  Statements 0 to 2 belong to the order; the others access other memory. */
static void begin(struct program *p, const char *roles)
{
	*p = (struct program){0};
	for (uint32_t i = 0; i < OTHERS; i++)
		statement(&p->runs, i + 1, i < strlen(roles) && roles[i] == 'W' ? SLICE_WRITES : SLICE_READS);
	for (uint32_t i = 0; i < 4; i++)
		statement(&p->runs, 100 + i, i % 2 ? SLICE_WRITES : SLICE_READS);
}

static void put(struct program *p, uint32_t thread, uint32_t number)
{
	assert_true(p->length[thread] < LENGTH);
	p->statements[thread][p->length[thread]++] = number;
}

static void put_others(struct program *p, uint32_t thread, uint32_t most)
{
	for (uint32_t n = below(most + 1); n > 0; n--)
		put(p, thread, OTHERS + below(4));
}

/* ---- the scheduler, which runs a program ---- */

struct simulation {
	struct sketch_turns turns;
	struct turns_now now;
	struct replay_stander standers[THREADS];
	struct sketch_predictor order;
	size_t at[THREADS];
};

static const char *const names[THREADS] = {"T_0", "T_0_0", "T_0_1", "T_0_2"};

static void look_around(struct simulation *m, const struct program *p)
{
	for (uint32_t i = 0; i < THREADS; i++) {
		bool there = m->at[i] < p->length[i];

		m->standers[i] = (struct replay_stander){.thread = names[i], .ready = there};
		m->now.threads[i].statement = there ? p->statements[i][m->at[i]] : TURNS_NONE;
	}
}

static uint32_t number_of(const char *name)
{
	for (uint32_t i = 0; i < THREADS; i++)
		if (!strcmp(names[i], name))
			return i;
	fail_msg("%s: no thread has this name", name);
	return 0;
}

static bool is_done(const struct simulation *m, const struct program *p)
{
	for (uint32_t i = 0; i < THREADS; i++)
		if (m->at[i] < p->length[i])
			return false;
	return true;
}

/* Runs the program to its end under the intervention.  The run is added to its runs. */
static struct sketch_run *simulate(struct program *p, enum turns_intervention what,
				   enum sketch_pattern pattern, size_t count, uint64_t random)
{
	static struct simulation m;
	struct sketch_run *run = sketch_run_add(&p->runs);

	m = (struct simulation){.turns.runs = &p->runs,
				.order = {.type = SKETCH_ORDER,
					  .pattern = pattern,
					  .count = count,
					  .statements = {FIRST, SECOND, THIRD}}};
	m.now.turns = &m.turns;
	m.now.order = (struct turns_order){what, &m.order, &p->runs};
	m.now.seed = random | 1;
	turns_init(&m.now);
	while (!is_done(&m, p)) {
		struct replay_stand stand = {.threads = m.standers, .thread_count = THREADS};
		const char *next;
		uint32_t who, number;

		look_around(&m, p);
		next = turns_choose(&m.now, &stand);
		assert_non_null(next);
		who = number_of(next);
		assert_true(m.standers[who].ready);
		number = p->statements[who][m.at[who]++];
		sketch_event_add(run, &(struct sketch_event){.thread = who,
							     .statement = number,
							     .address = number < OTHERS ? ADDRESS : number});
		turns_did(&m.now, who, number);
	}
	return run;
}

static bool has_order(const struct program *p, const struct sketch_run *run, enum sketch_pattern pattern,
		      size_t count)
{
	struct sketch_predictor order = {.type = SKETCH_ORDER,
					 .pattern = pattern,
					 .count = count,
					 .statements = {FIRST, SECOND, count == 3 ? THIRD : 0}};
	size_t at[3];

	return sketch_predictor_at(&p->runs, run, &order, at);
}

/* Chooses two different threads for the parts of the order. */
static void choose_threads(uint32_t *one, uint32_t *other)
{
	*one = below(THREADS);
	*other = (*one + 1 + below(THREADS - 1)) % THREADS;
}

/* ---- forced and prevented orders ---- */

/* One thread executes a, and another one executes b. */
static void test_pairs(void **state)
{
	static const struct {
		const char *roles;
		enum sketch_pattern pattern;
	} rows[] = {{"WR", SKETCH_WR}, {"RW", SKETCH_RW}, {"WW", SKETCH_WW}};

	(void)state;
	for (int round = 0; round < 3000; round++) {
		struct program p;
		uint32_t one, other, row = below(3);

		begin(&p, rows[row].roles);
		choose_threads(&one, &other);
		for (uint32_t i = 0; i < THREADS; i++) {
			put_others(&p, i, 4);
			if (i == one || i == other)
				put(&p, i, i == one ? FIRST : SECOND);
			put_others(&p, i, 4);
		}
		assert_true(has_order(&p, simulate(&p, TURNS_FORCE, rows[row].pattern, 2, below(1000)),
				      rows[row].pattern, 2));
		assert_false(has_order(&p, simulate(&p, TURNS_PREVENT, rows[row].pattern, 2, below(1000)),
				       rows[row].pattern, 2));
		sketch_runs_release(&p.runs);
	}
}

/* One thread executes a and then c, and another one executes b. */
static void test_triples(void **state)
{
	static const struct {
		const char *roles;
		enum sketch_pattern pattern;
	} rows[] = {{"RWR", SKETCH_RWR}, {"WWR", SKETCH_WWR}, {"RWW", SKETCH_RWW}, {"WRW", SKETCH_WRW}};

	(void)state;
	for (int round = 0; round < 3000; round++) {
		struct program p;
		uint32_t one, other, row = below(4);

		begin(&p, rows[row].roles);
		choose_threads(&one, &other);
		for (uint32_t i = 0; i < THREADS; i++) {
			put_others(&p, i, 3);
			if (i == one)
				put(&p, i, FIRST);
			put_others(&p, i, 3);
			if (i == one || i == other)
				put(&p, i, i == one ? THIRD : SECOND);
			put_others(&p, i, 3);
		}
		assert_true(has_order(&p, simulate(&p, TURNS_FORCE, rows[row].pattern, 3, below(1000)),
				      rows[row].pattern, 3));
		assert_false(has_order(&p, simulate(&p, TURNS_PREVENT, rows[row].pattern, 3, below(1000)),
				       rows[row].pattern, 3));
		sketch_runs_release(&p.runs);
	}
}

/* If several threads execute b, the order happens with one of them. */
static void test_many_second(void **state)
{
	(void)state;
	for (int round = 0; round < 1000; round++) {
		struct program p;

		begin(&p, "WR");
		put_others(&p, 0, 3);
		put(&p, 0, FIRST);
		for (uint32_t i = 1; i < THREADS; i++)
			for (uint32_t n = below(3) + (i == 1); n > 0; n--) {
				put_others(&p, i, 2);
				put(&p, i, SECOND);
			}
		assert_true(
			has_order(&p, simulate(&p, TURNS_FORCE, SKETCH_WR, 2, below(1000)), SKETCH_WR, 2));
		sketch_runs_release(&p.runs);
	}
}

/* Programs without the order, or with the order in any number of threads, must end and execute
 * every statement once.  The simulation fails if no thread is chosen. */
static void test_ends(void **state)
{
	(void)state;
	for (int round = 0; round < 3000; round++) {
		struct program p;
		size_t all = 0;

		begin(&p, "RWR");
		for (uint32_t i = 0; i < THREADS; i++) {
			for (uint32_t n = below(LENGTH); n > 0; n--)
				put(&p, i, below(OTHERS + 4));
			all += p.length[i];
		}
		for (uint32_t count = 2; count <= 3; count++)
			for (int what = TURNS_FORCE; what <= TURNS_PREVENT; what++) {
				const struct sketch_run *run =
					simulate(&p, (enum turns_intervention)what,
						 count == 3 ? SKETCH_RWR : SKETCH_RW, count, below(1000));

				assert_int_equal(run->count, all);
			}
		sketch_runs_release(&p.runs);
	}
}

/* Statements are the same if file name, line and role are, even if runs number them differently. */
static void test_other_numbers(void **state)
{
	struct sketch_runs mine = {0}, of = {0};
	struct sketch_predictor order = {.pattern = SKETCH_WR, .count = 2};
	struct sketch_turns turns = {.runs = &mine};
	static struct turns_now now;
	struct replay_stander threads[2] = {{.thread = "T_0", .ready = true},
					    {.thread = "T_0_0", .ready = true}};
	struct replay_stand stand = {.threads = threads, .thread_count = 2};

	(void)state;
	statement(&of, 50, SLICE_READS);
	order.statements[0] = statement(&of, 1, SLICE_WRITES);
	order.statements[1] = statement(&of, 2, SLICE_READS);
	now = (struct turns_now){.turns = &turns, .seed = 1, .order = {TURNS_FORCE, &order, &of}};
	turns_init(&now);
	now.threads[1].statement = statement(&mine, 2, SLICE_READS);
	now.threads[0].statement =
		statement(&mine, 1, SLICE_READS); /* a read on the line of a, which is a write */
	for (int i = 0; i < 20; i++)		  /* the thread before b is stopped */
		assert_string_equal(turns_choose(&now, &stand), "T_0");
	turns_did(&now, 0, now.threads[0].statement);
	assert_false(now.threads[0].did_first);
	now.threads[0].statement = statement(&mine, 1, SLICE_WRITES);
	assert_string_equal(turns_choose(&now, &stand), "T_0");
	turns_did(&now, 0, now.threads[0].statement);
	now.threads[0].statement = TURNS_NONE;
	for (int i = 0; i < 20; i++) /* now b is executed */
		assert_string_equal(turns_choose(&now, &stand), "T_0_0");
	sketch_runs_release(&mine);
	sketch_runs_release(&of);
}

/* A run that is only watched follows its schedule. */
static void test_watch(void **state)
{
	struct sketch_runs runs = {0};
	struct sketch_turns turns = {.runs = &runs};
	static struct turns_now now;
	struct replay_stander thread = {.thread = "T_0", .ready = true};
	struct replay_stand stand = {.threads = &thread, .thread_count = 1};

	(void)state;
	now = (struct turns_now){.turns = &turns, .seed = 1};
	turns_init(&now);
	now.threads[0].statement = statement(&runs, 1, SLICE_WRITES);
	assert_null(turns_choose(&now, &stand));
	turns_did(&now, 0, 0);
	assert_false(now.threads[0].did_first || now.threads[0].did_second || now.threads[0].inside);
	sketch_runs_release(&runs);
}

/* If no thread is runnable, none is chosen. */
static void test_none_ready(void **state)
{
	struct sketch_runs runs = {0};
	struct sketch_predictor order = {.pattern = SKETCH_WR, .count = 2};
	struct sketch_turns turns = {.runs = &runs};
	static struct turns_now now;
	/* number 1 has no name, so it is not a thread */
	struct replay_stander threads[2] = {{.thread = "T_0"}, {.ready = true}};
	struct replay_stand stand = {.threads = threads, .thread_count = 2};

	(void)state;
	statement(&runs, 1, SLICE_WRITES);
	now = (struct turns_now){.turns = &turns, .seed = 1, .order = {TURNS_FORCE, &order, &runs}};
	turns_init(&now);
	assert_null(turns_choose(&now, &stand));
	sketch_runs_release(&runs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pairs),	    cmocka_unit_test(test_triples),
		cmocka_unit_test(test_many_second), cmocka_unit_test(test_ends),
		cmocka_unit_test(test_watch),	    cmocka_unit_test(test_other_numbers),
		cmocka_unit_test(test_none_ready),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
