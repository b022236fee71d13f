// SPDX-License-Identifier: Apache-2.0
/*
 * Unit tests of sketch/choose-int.h with made-up runs.  They test when there are enough runs, how σ
 * grows, which order is tried next, and whether a run has an order.  Distances of statements from
 * the failure are compared with a slow reference.
 */
#include "sketch/choose-int.h"

#include "base/alloc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ROUNDS = 2000 };

static uint64_t seed = 17;

static uint32_t below(uint32_t n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % n;
}

/* Adds runs as given by a text: f fails with the signature, o fails in another way, p passes. */
static void add_runs(struct sketch_runs *runs, const char *text, size_t times)
{
	for (size_t n = 0; n < times; n++)
		for (const char *c = text; *c; c++) {
			struct sketch_run *run = sketch_run_add(runs);

			run->outcome = *c == 'p' ? SKETCH_PASSED : SKETCH_CRASH;
			run->signature = *c == 'p' ? NULL : rd_xstrdup(*c == 'f' ? "this" : "other");
		}
}

/* ---- when there are enough runs ---- */

static bool is_enough(const char *first, size_t times, const char *then, size_t more)
{
	struct sketch_runs runs = {0};
	bool enough;

	add_runs(&runs, first, times);
	add_runs(&runs, then, more);
	enough = choose_has_enough(&runs, "this", CHOOSE_FAILING);
	sketch_runs_release(&runs);
	return enough;
}

static void test_enough(void **state)
{
	(void)state;
	assert_false(is_enough("", 0, "", 0));
	assert_true(is_enough("f", 5, "p", 30));
	assert_false(is_enough("f", 4, "p", 300));
	assert_false(is_enough("f", 500, "p", 29));
	assert_false(is_enough("o", 50, "p", 30));
	/* If all runs fail, 40 runs are enough. */
	assert_false(is_enough("f", 39, "", 0));
	assert_true(is_enough("f", 40, "", 0));
	assert_true(is_enough("f", 5, "o", 35));
	assert_false(is_enough("f", 40, "p", 1));
}

static void test_needless(void **state)
{
	struct sketch_runs runs = {0};

	(void)state;
	add_runs(&runs, "f", 6);
	assert_false(choose_is_needless(&runs, "this", 5)); /* no run has passed yet */
	add_runs(&runs, "p", 1);
	assert_false(choose_is_needless(&runs, "this", 5)); /* the last run passed */
	add_runs(&runs, "f", 1);
	assert_true(choose_is_needless(&runs, "this", 5));
	assert_false(choose_is_needless(&runs, "this", 7));
	assert_int_equal(choose_count(&runs, "this").failing, 7);
	assert_int_equal(choose_count(&runs, "this").passing, 1);
	assert_int_equal(choose_count(&runs, "another").failing, 0);
	sketch_runs_release(&runs);
}

/* Collecting runs with these rules ends after a limited number of runs, whatever their results
 * are. */
static void test_collect(void **state)
{
	(void)state;
	for (int round = 0; round < 300; round++) {
		struct sketch_runs runs = {0};
		uint32_t share = 1 + below(9);
		unsigned made = 0;

		for (; made < 2000 && !choose_has_enough(&runs, "this", CHOOSE_FAILING); made++) {
			add_runs(&runs, below(10) < share ? "f" : "p", 1);
			if (choose_is_needless(&runs, "this", CHOOSE_FAILING)) {
				runs.count--;
				free(runs.items[runs.count].signature);
			}
		}
		assert_true(made < 2000);
		assert_true(choose_count(&runs, "this").failing >= CHOOSE_FAILING);
		assert_true(choose_count(&runs, "this").passing >= CHOOSE_PASSING ||
			    runs.count >= CHOOSE_ALL_ALIKE);
		sketch_runs_release(&runs);
	}
}

/* ---- distances of statements from the failure ---- */

static uint32_t add_statement(struct sketch_runs *runs, uint32_t line, enum slice_kind kind,
			      enum slice_role role)
{
	struct slice_statement s = {.file = (char *)"a.c",
				    .function = (char *)"f",
				    .variable = (char *)"x",
				    .line = line,
				    .kind = kind,
				    .role = role};

	return sketch_statement(runs, &s);
}

static void add_event(struct sketch_run *run, uint32_t thread, uint32_t statement, uint64_t value)
{
	sketch_event_add(
		run,
		&(struct sketch_event){
			.thread = thread, .statement = statement, .address = 64, .value = value, .size = 4});
}

/* Returns the smallest number of different statements after the last event of this one, over all
 * failing runs. */
static uint32_t slow_distance(const struct sketch_runs *runs, uint32_t statement)
{
	uint32_t least = UINT32_MAX;

	for (size_t i = 0; i < runs->count; i++) {
		const struct sketch_run *run = &runs->items[i];
		uint32_t different = 0;
		size_t last = SIZE_MAX;

		for (size_t k = 0; k < run->count; k++)
			if (run->events[k].statement == statement)
				last = k;
		if (!run->signature || last == SIZE_MAX)
			continue;
		for (uint32_t s = 0; s < runs->statement_count; s++)
			for (size_t k = last + 1; k < run->count; k++)
				if (run->events[k].statement == s) {
					different++;
					break;
				}
		least = different < least ? different : least;
	}
	return least;
}

static void test_count_back(void **state)
{
	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		struct sketch_runs runs = {0};
		uint32_t count = 1 + below(6);

		for (uint32_t i = 0; i < count; i++)
			add_statement(&runs, i + 1, SLICE_READ, SLICE_READS);
		for (uint32_t n = 1 + below(4); n > 0; n--) {
			add_runs(&runs, below(3) ? "f" : "p", 1);
			for (uint32_t k = below(10); k > 0; k--)
				add_event(&runs.items[runs.count - 1], below(2), below(count), 0);
		}
		choose_count_back(&runs, "this");
		for (uint32_t i = 0; i < count; i++)
			assert_int_equal(runs.statements[i].distance, slow_distance(&runs, i));
		sketch_runs_release(&runs);
	}
}

static void test_locks_near(void **state)
{
	struct sketch_runs runs = {0};
	uint32_t lock = add_statement(&runs, 1, SLICE_SYNC, SLICE_ACQUIRES),
		 join = add_statement(&runs, 2, SLICE_SYNC, SLICE_NEUTRAL),
		 read = add_statement(&runs, 3, SLICE_READ, SLICE_READS),
		 near = add_statement(&runs, 4, SLICE_SYNC, SLICE_RELEASES);

	(void)state;
	for (uint32_t i = 0; i < 4; i++)
		runs.statements[i].distance = 9;
	runs.statements[near].distance = 0;
	choose_bring_locks_near(&runs);
	assert_int_equal(runs.statements[lock].distance, 1);
	assert_int_equal(runs.statements[join].distance, 9);
	assert_int_equal(runs.statements[read].distance, 9);
	assert_int_equal(runs.statements[near].distance, 0);
	sketch_runs_release(&runs);
}

/* ---- how σ grows with recorded runs ---- */

/* Makes runs that fail if and only if one thread writes before another thread reads.  The write is
 * at `distance`; the read is the failing statement. */
static void make_order(struct sketch_runs *runs, uint32_t distance)
{
	uint32_t read = add_statement(runs, 1, SLICE_READ, SLICE_READS), write;

	runs->statements[read].distance = 0;
	write = add_statement(runs, 2, SLICE_WRITE, SLICE_WRITES);
	runs->statements[write].distance = distance;
	for (size_t i = 0; i < 40; i++) {
		bool fails = i % 4 == 0;

		add_runs(runs, fails ? "f" : "p", 1);
		if (fails)
			add_event(&runs->items[i], 1, write, 5);
		add_event(&runs->items[i], 2, read, 7);
		if (!fails)
			add_event(&runs->items[i], 1, write, 5);
	}
}

/* The order is found with the smallest σ, wherever the write is in the slice, because it accesses
 * the memory of the failing statement. */
static void test_predict_order(void **state)
{
	(void)state;
	for (uint32_t distance = 1; distance < 40; distance += 3) {
		struct sketch_runs runs = {0};
		struct sketch_predictors p = {0};

		make_order(&runs, distance);
		assert_int_equal(choose_predict(&runs, "this", &p), 2);
		assert_true(choose_is_good(&p));
		assert_int_equal(p.items[0].type, SKETCH_ORDER);
		assert_false(choose_is_symptom(&p));
		sketch_predictors_release(&p);
		sketch_runs_release(&runs);
	}
}

/* Nothing distinguishes the runs, so σ grows to the whole slice. */
static void test_predict_nothing(void **state)
{
	struct sketch_runs runs = {0};
	struct sketch_predictors p = {0};

	(void)state;
	for (uint32_t i = 0; i < 10; i++) {
		uint32_t s = add_statement(&runs, i + 1, SLICE_READ, SLICE_READS);

		runs.statements[s].distance = i;
	}
	for (size_t i = 0; i < 40; i++) {
		add_runs(&runs, i % 2 ? "f" : "p", 1);
		for (uint32_t k = 0; k < 10; k++)
			add_event(&runs.items[i], 0, k, 3);
	}
	assert_int_equal(choose_predict(&runs, "this", &p), 16);
	assert_false(choose_is_good(&p));
	sketch_predictors_release(&p);
	sketch_runs_release(&runs);
}

/* ---- how σ grows while runs are tracked ---- */

/* Makes predictors whose best one has this F and type. */
static struct sketch_predictors best(double f, enum sketch_type type)
{
	static struct sketch_predictor all[64];
	static unsigned used;
	struct sketch_predictor *one = &all[used++ % 64];

	*one = (struct sketch_predictor){.type = type, .f = f, .passing = 1, .all_passing = 5};
	return (struct sketch_predictors){.items = one, .count = 1};
}

static void test_track_grows(void **state)
{
	struct sketch_predictors bad = best(0.5, SKETCH_ORDER), good = best(1, SKETCH_ORDER);
	struct choose_counts c = {.failing = 3, .passing = 3};
	struct choose_track t = choose_track_begin();

	(void)state;
	for (uint32_t sigma = 2; sigma <= 16; sigma *= 2) {
		assert_int_equal(t.sigma, sigma);
		assert_int_equal(choose_track_enough(&t), CHOOSE_PLAIN_FEW);
		assert_true(choose_track_next(&t, c, &bad, 30));
		assert_false(t.found);
	}
	assert_int_equal(t.before, 12);
	/* A good order ends the tracking. */
	assert_false(choose_track_next(&t, c, &good, 30));
	assert_true(t.found);
	assert_int_equal(t.near, 32);
}

/* When the whole slice was tracked, tracking ends, whether something was found or not. */
static void test_track_all(void **state)
{
	struct sketch_predictors bad = best(0.5, SKETCH_ORDER);
	struct choose_counts c = {.failing = 3, .passing = 3};

	(void)state;
	for (uint32_t all = 1; all < 100; all++) {
		struct choose_track t = choose_track_begin();
		unsigned rounds = 1;

		while (choose_track_next(&t, c, &bad, all))
			rounds++;
		assert_false(t.found);
		assert_true(t.sigma >= all && (t.sigma == 2 || t.sigma / 2 < all));
		assert_true(rounds <= 7);
	}
}

/* If the best predictor is a value, its origin is searched for once, with most of the slice. */
static void test_track_symptom(void **state)
{
	struct sketch_predictors value = best(1, SKETCH_VALUE), bad = best(0.1, SKETCH_ORDER);
	struct choose_counts c = {.failing = 3, .passing = 9};
	struct choose_track t = choose_track_begin(), large = t, lost;

	(void)state;
	assert_true(choose_track_next(&t, c, &value, 20));
	assert_int_equal(t.near, 2);
	assert_int_equal(t.sigma, 22);
	assert_int_equal(choose_track_enough(&t), CHOOSE_PLAIN_MORE);
	lost = t;
	c.failing = 2;
	assert_false(choose_track_next(&t, c, &value, 20));
	assert_true(t.found);
	assert_int_equal(t.near, 2);
	assert_false(choose_track_next(&lost, c, &bad, 20));
	assert_false(lost.found);
	/* Of a large slice, about 64 statements are tracked. */
	c.failing = 3;
	assert_true(choose_track_next(&large, c, &value, 1000));
	assert_int_equal(large.sigma, 66);
	/* Five failing runs are wanted in total. */
	large.before = 4;
	assert_int_equal(choose_track_enough(&large), 1);
}

static void test_track_runs(void **state)
{
	struct choose_track t = choose_track_begin();
	struct choose_counts none = {0}, some = {.failing = 1};

	(void)state;
	assert_true(choose_track_runs(39, 0));
	assert_false(choose_track_runs(40, 0));
	assert_true(choose_track_runs(399, 1));
	assert_false(choose_track_runs(400, 1));
	/* Delays are switched on once, and stay on. */
	assert_false(choose_track_delays(&t, some));
	assert_false(t.delays);
	assert_true(choose_track_delays(&t, none));
	assert_true(t.delays);
	assert_false(choose_track_delays(&t, none));
	assert_true(t.delays);
	assert_false(choose_track_says(none));
	assert_false(choose_track_says((struct choose_counts){.failing = 1, .passing = 2}));
	assert_true(choose_track_says((struct choose_counts){.failing = 1, .passing = 3}));
}

/* ---- which order is tried next in an intervention ---- */

static void test_order(void **state)
{
	struct sketch_predictor items[] = {
		{.type = SKETCH_VALUE, .f = 1},
		{.type = SKETCH_ORDER, .count = 2, .f = 0.9, .bound = 0.5, .when = 5},
		{.type = SKETCH_ORDER, .count = 2, .f = 0.9, .bound = 0.5, .when = 7},
		{.type = SKETCH_ORDER, .count = 2, .f = 0.9, .bound = 0.5, .when = 2},
		{.type = SKETCH_ORDER, .count = 2, .f = 0.3, .bound = 0.1, .when = 1},
	};
	struct sketch_predictors p = {.items = items, .count = 5};
	bool tried[5] = {false};

	(void)state;
	/* The best order is tried first. */
	assert_ptr_equal(choose_order(&p, NULL, tried, 0), &items[1]);
	tried[1] = true;
	/* If it is not a cause, the next one is tried. */
	assert_ptr_equal(choose_order(&p, NULL, tried, 1), &items[2]);
	/* If it is a cause, only an order that is as good and was complete earlier is tried. */
	assert_ptr_equal(choose_order(&p, &items[1], tried, 1), &items[3]);
	tried[3] = true;
	assert_null(choose_order(&p, &items[3], tried, 2));
	/* An order that is hardly better than chance is tried only if it is the best one. */
	tried[2] = true;
	assert_null(choose_order(&p, NULL, tried, 3));
	assert_ptr_equal(choose_order(&p, NULL, tried, 0), &items[4]);
	/* At most four orders are tried. */
	tried[1] = false;
	assert_ptr_equal(choose_order(&p, NULL, tried, 3), &items[1]);
	assert_null(choose_order(&p, NULL, tried, 4));
}

/* Two sets of runs number statements differently.  Statements are the same if file, line and role
 * are. */
static void test_has_order(void **state)
{
	(void)state;
	for (int first = 0; first < 2; first++) {
		struct sketch_runs of = {0}, led = {0};
		uint32_t read = add_statement(&of, 1, SLICE_READ, SLICE_READS),
			 write = add_statement(&of, 2, SLICE_WRITE, SLICE_WRITES), other, there, here;
		struct sketch_predictor order = {
			.type = SKETCH_ORDER, .pattern = SKETCH_WR, .statements = {write, read}, .count = 2};

		other = add_statement(&led, 9, SLICE_READ, SLICE_READS);
		there = add_statement(&led, 2, SLICE_WRITE, SLICE_WRITES);
		here = add_statement(&led, 1, SLICE_READ, SLICE_READS);
		add_runs(&led, "f", 1);
		add_event(&led.items[0], 0, other, 0);
		add_event(&led.items[0], first ? 1 : 2, first ? there : here, 5);
		add_event(&led.items[0], first ? 2 : 1, first ? here : there, 5);
		assert_int_equal(choose_has_order(&led, &of, &order), first);
		sketch_runs_release(&of);
		sketch_runs_release(&led);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_enough),		cmocka_unit_test(test_needless),
		cmocka_unit_test(test_collect),		cmocka_unit_test(test_count_back),
		cmocka_unit_test(test_locks_near),	cmocka_unit_test(test_predict_order),
		cmocka_unit_test(test_predict_nothing), cmocka_unit_test(test_track_grows),
		cmocka_unit_test(test_track_all),	cmocka_unit_test(test_track_symptom),
		cmocka_unit_test(test_track_runs),	cmocka_unit_test(test_order),
		cmocka_unit_test(test_has_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
