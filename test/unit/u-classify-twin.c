// SPDX-License-Identifier: Apache-2.0
/*
 * Compares classify/decide-int.h with its definition (doc/design/classify.md) on random runs.  The
 * reference counts with loops over all runs, and its outputs are letters.
 */
#include "classify/decide-int.h"
#include "classify/variant-int.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 24, ROUNDS = 20000 };

static uint64_t seed = 23;

static uint32_t below(uint32_t n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % n;
}

/* ---- random runs ---- */

struct world {
	struct trial items[VARIANT_GROUPS][MOST];
	struct decide_experiment experiments[2 * MOST];
	struct decide_runs runs;
};

static const char *const faults[] = {"crash", "deadlock", "assertion"};

/* Parameters of random runs.  A world has few kinds of runs, and each group prefers one of them, so
 * that all classes occur. */
struct taste {
	/* shares of 16 of runs that do not count and of faulty runs; numbers of outputs and
	 * trails */
	uint32_t missing, failing, outputs, trails;
	uint32_t usual; /* the output of every second run */
};

static struct trial some_run(const struct taste *t)
{
	struct trial run = {.counts = below(16) >= t->missing};

	if (below(16) < t->failing)
		run.fault = faults[below(3)];
	run.at_race = run.fault && below(12) == 0;
	run.digest = 100 + (below(2) ? t->usual : below(t->outputs));
	/* every two outputs consist of the same lines */
	run.sorted_digest = 200 + (run.digest - 100) / 2;
	run.trail = below(t->trails);
	return run;
}

/* Makes experiments about some of the runs that count.  In most worlds, a counterpart that counts
 * does what its run did, so that statistics decide, too. */
static void make_experiments(struct world *w, uint32_t missing, uint32_t failing, uint32_t outputs)
{
	uint32_t same = below(4), share = below(5);

	w->runs.experiments = w->experiments;
	w->runs.experiment_count = 0;
	for (unsigned g = VARIANT_FIRST; g <= VARIANT_SECOND; g++)
		for (size_t i = 0; i < w->runs.count; i++) {
			struct taste t = {missing, failing, outputs, MOST, 0};
			struct decide_experiment *e = &w->experiments[w->runs.experiment_count];

			if (!w->items[g][i].counts || below(4) >= share)
				continue;
			e->of = (struct decide_place){g, i};
			e->counterpart = same ? w->items[g][i] : some_run(&t);
			e->counterpart.counts = e->counterpart.counts && below(3);
			w->runs.experiment_count++;
		}
}

static void make(struct world *w)
{
	uint32_t outputs = 1 + below(MOST), failing = below(3) ? 0 : below(17),
		 missing = below(3) ? 0 : below(9);

	w->runs.count = below(MOST);
	for (unsigned g = 0; g < VARIANT_GROUPS; g++) {
		struct taste t = {missing, below(3) ? failing : 0, outputs, 1 + below(MOST), below(outputs)};

		w->runs.items[g] = w->items[g];
		for (size_t i = 0; i < w->runs.count; i++)
			w->items[g][i] = some_run(&t);
	}
	make_experiments(w, missing, failing, outputs);
}

/* ---- the definition of a class ---- */

struct count {
	size_t runs, faulty; /* runs that count; runs that have the fault */
};

static struct count count_of(const struct decide_runs *r, unsigned group, const char *fault)
{
	struct count c = {0};

	for (size_t i = 0; i < r->count; i++) {
		const struct trial *t = &r->items[group][i];

		c.runs += t->counts;
		c.faulty += t->counts && t->fault && !strcmp(t->fault, fault);
	}
	return c;
}

/* The number of ways to choose k of n, as a logarithm. */
static double ways(size_t n, size_t k)
{
	return lgamma((double)n + 1) - lgamma((double)k + 1) - lgamma((double)(n - k) + 1);
}

/* The probability that at least a.faulty of the faulty runs are in group a, if the faulty runs are
 * distributed at random over both groups. */
static double chance(struct count a, struct count b)
{
	size_t faulty = a.faulty + b.faulty;
	double sum = 0;

	if (!a.runs || !b.runs)
		return 1;
	for (size_t n = a.faulty; n <= a.runs && n <= faulty; n++)
		if (faulty - n <= b.runs)
			sum += exp(ways(a.runs, n) + ways(b.runs, faulty - n) -
				   ways(a.runs + b.runs, faulty));
	return sum;
}

static bool is_sound(const struct trial *t)
{
	return t->counts && !t->fault;
}

static bool has_fault(const struct trial *t, const char *fault)
{
	return t->counts && t->fault && !strcmp(t->fault, fault);
}

/* Whether an experiment proves that the race causes the fault.  Sets *missed if a run with the
 * fault has a counterpart that does not count. */
static bool is_proved(const struct decide_runs *r, const char *fault, bool *missed)
{
	bool proved = false;

	*missed = false;
	for (size_t i = 0; i < r->experiment_count; i++) {
		const struct decide_experiment *e = &r->experiments[i];
		const struct trial *run = &r->items[e->of.group][e->of.number], *other = &e->counterpart;

		proved |= has_fault(run, fault) && is_sound(other);
		proved |= is_sound(run) && has_fault(other, fault);
		*missed |= has_fault(run, fault) && !other->counts;
	}
	return proved;
}

/* The greatest probability at which a difference is not attributed to chance.  It is looked for in
 * `kinds` ways, and 16 times.  No probability in these tests is very close to this limit. */
static double limit(size_t kinds)
{
	return (1 + 1e-9) / 20 / 16 / (double)kinds;
}

/* Whether the race causes the fault of a run. */
static bool is_caused(const struct decide_runs *r, const struct trial *t)
{
	struct count first = count_of(r, VARIANT_FIRST, t->fault),
		     second = count_of(r, VARIANT_SECOND, t->fault);
	bool missed, proved = is_proved(r, t->fault, &missed);

	return t->at_race || proved ||
	       (missed && (chance(first, second) <= limit(2) || chance(second, first) <= limit(2)));
}

static uint64_t key_of(const struct trial *t, bool lines)
{
	return lines ? t->sorted_digest : t->digest;
}

static size_t times(const struct decide_runs *r, unsigned group, uint64_t key, bool lines)
{
	size_t n = 0;

	for (size_t i = 0; i < r->count; i++) {
		const struct trial *t = &r->items[group][i];

		n += t->counts && !t->fault && key_of(t, lines) == key;
	}
	return n;
}

/* Whether at most an eighth of the runs of these groups had an output that no other run had. */
static bool repeat(const struct decide_runs *r, unsigned from, unsigned to, bool lines, size_t always)
{
	size_t runs = 0, once = 0;

	for (unsigned g = from; g <= to; g++)
		for (size_t i = 0; i < r->count; i++) {
			size_t n = 0;

			if (!is_sound(&r->items[g][i]))
				continue;
			for (unsigned h = from; h <= to; h++)
				n += times(r, h, key_of(&r->items[g][i], lines), lines);
			runs++;
			once += n == 1;
		}
	return runs && (runs <= always || once * 8 <= runs);
}

/* Counts runs with this output among sound runs. */
static struct count with_output(const struct trial *runs, size_t count, uint64_t key, bool lines)
{
	struct count c = {0};

	for (size_t i = 0; i < count; i++) {
		c.runs += is_sound(&runs[i]);
		c.faulty += is_sound(&runs[i]) && key_of(&runs[i], lines) == key;
	}
	return c;
}

/* The number of different outputs in the first two groups. */
static size_t outputs_of(const struct decide_runs *r, bool lines)
{
	size_t n = 0;

	for (unsigned g = VARIANT_FIRST; g <= VARIANT_SECOND; g++)
		for (size_t i = 0; i < r->count; i++) {
			uint64_t key = key_of(&r->items[g][i], lines);
			bool seen = !is_sound(&r->items[g][i]);

			for (unsigned h = VARIANT_FIRST; h <= g; h++)
				for (size_t j = 0; j < (h < g ? r->count : i); j++)
					seen |= is_sound(&r->items[h][j]) &&
						key_of(&r->items[h][j], lines) == key;
			n += !seen;
		}
	return n;
}

static bool is_loose(const struct decide_runs *r, unsigned group, size_t i)
{
	for (size_t k = 0; k < r->experiment_count; k++)
		if (r->experiments[k].of.group == group && r->experiments[k].of.number == i)
			return !r->experiments[k].counterpart.counts;
	return false;
}

/* Whether run i of one order differs from its twin, has a counterpart that does not count, and has
 * an output that its order shows more often. */
static bool differs_from_twin(const struct decide_runs *r, unsigned group, size_t i, bool lines)
{
	const struct trial *t = &r->items[group][i], *twin = &r->items[VARIANT_SECOND - group][i];
	uint64_t key = key_of(t, lines);

	return is_sound(t) && is_sound(twin) && key != key_of(twin, lines) && is_loose(r, group, i) &&
	       chance(with_output(r->items[group], r->count, key, lines),
		      with_output(r->items[VARIANT_SECOND - group], r->count, key, lines)) <=
		       limit(2 * outputs_of(r, lines));
}

/* Whether some experiment shows different outputs. */
static bool differs_from_counterpart(const struct decide_runs *r, bool lines)
{
	for (size_t i = 0; i < r->experiment_count; i++) {
		const struct decide_experiment *e = &r->experiments[i];
		const struct trial *run = &r->items[e->of.group][e->of.number];

		if (is_sound(run) && is_sound(&e->counterpart) &&
		    key_of(run, lines) != key_of(&e->counterpart, lines))
			return true;
	}
	return false;
}

static bool outputs_differ(const struct decide_runs *r, bool lines)
{
	if (!lines && differs_from_counterpart(r, false))
		return true;
	for (unsigned g = VARIANT_FIRST; g <= VARIANT_SECOND; g++)
		for (size_t i = 0; i < r->count; i++)
			if (differs_from_twin(r, g, i, lines))
				return true;
	return false;
}

static size_t pairs_of(const struct decide_runs *r)
{
	size_t pairs = 0;

	for (size_t i = 0; i < r->count; i++)
		pairs += r->items[VARIANT_FIRST][i].counts && r->items[VARIANT_SECOND][i].counts;
	return pairs;
}

/* Whether some fault is not explained, though its experiments may have missed the cause, and one
 * order fails more than twice as often as the other, or there are fewer than 16 pairs. */
static bool is_in_doubt(const struct decide_runs *r)
{
	for (unsigned g = VARIANT_FIRST; g <= VARIANT_SECOND; g++)
		for (size_t i = 0; i < r->count; i++) {
			const struct trial *t = &r->items[g][i];
			struct count a, b;
			bool missed;

			if (!t->counts || !t->fault || is_caused(r, t))
				continue;
			is_proved(r, t->fault, &missed);
			a = count_of(r, VARIANT_FIRST, t->fault);
			b = count_of(r, VARIANT_SECOND, t->fault);
			if (missed && (r->count < 16 || !a.runs || !b.runs ||
				       2 * a.faulty * b.runs < b.faulty * a.runs ||
				       2 * b.faulty * a.runs < a.faulty * b.runs))
				return true;
		}
	return false;
}

static enum finding_class class_of(const struct decide_runs *r)
{
	size_t sound_pairs = 0;

	for (unsigned g = VARIANT_FIRST; g <= VARIANT_SECOND; g++)
		for (size_t i = 0; i < r->count; i++)
			if (r->items[g][i].counts && r->items[g][i].fault && is_caused(r, &r->items[g][i]))
				return FINDING_SPEC_VIOLATED;
	for (size_t i = 0; i < r->experiment_count; i++) {
		const struct trial *t = &r->experiments[i].counterpart;
		bool missed;

		if (t->counts && t->fault && is_proved(r, t->fault, &missed))
			return FINDING_SPEC_VIOLATED;
	}
	if (!pairs_of(r))
		return FINDING_NO_CLASS;
	if (outputs_differ(r, false) || outputs_differ(r, true))
		return FINDING_OUTPUT_DIFFERS;
	for (size_t i = 0; i < r->count; i++)
		sound_pairs +=
			is_sound(&r->items[VARIANT_FIRST][i]) && is_sound(&r->items[VARIANT_SECOND][i]);
	return is_in_doubt(r) || !sound_pairs ? FINDING_NO_CLASS : FINDING_K_WITNESS_HARMLESS;
}

/* ---- comparison of classes, and of the runs that show them ---- */

static const struct trial *run_at(const struct decide_runs *r, struct decide_place p)
{
	const struct trial *t = p.group == VARIANT_COUNTERPART ? &r->experiments[p.number].counterpart
							       : &r->items[p.group][p.number];

	assert_true(p.number < (p.group == VARIANT_COUNTERPART ? r->experiment_count : r->count));
	assert_true(t->counts);
	assert_ptr_equal(t, decide_at(r, p));
	return t;
}

/* Whether the two runs of the decision are a run and its counterpart. */
static bool is_experiment(const struct decide_runs *r, const struct decision *d)
{
	struct decide_place of = d->shows.group == VARIANT_COUNTERPART ? d->other : d->shows,
			    made = d->shows.group == VARIANT_COUNTERPART ? d->shows : d->other;

	return made.group == VARIANT_COUNTERPART && r->experiments[made.number].of.group == of.group &&
	       r->experiments[made.number].of.number == of.number;
}

static bool has_sound_twin(const struct decide_runs *r)
{
	for (unsigned g = VARIANT_FIRST; g <= VARIANT_SECOND; g++)
		for (size_t i = 0; i < r->count; i++) {
			const struct trial *t = &r->items[g][i];

			if (t->counts && t->fault && is_caused(r, t) &&
			    is_sound(&r->items[VARIANT_SECOND - g][i]))
				return true;
		}
	return false;
}

/* The run that shows a fault must have one that the race causes, and a twin without a fault if
 * possible. */
static void check_fault(const struct decide_runs *r, const struct decision *d)
{
	const struct trial *t = run_at(r, d->shows);

	assert_true(d->shows.group != VARIANT_CONTROL && t->fault && is_caused(r, t));
	if (d->proved) {
		assert_true(d->has_other && !d->any_order && is_experiment(r, d));
		return;
	}
	if (d->has_other)
		assert_true(is_sound(run_at(r, d->other)));
	assert_int_equal(d->has_other && d->other.group != VARIANT_CONTROL, has_sound_twin(r));
	assert_int_equal(d->any_order, d->has_other && d->other.group == VARIANT_CONTROL);
}

static void check_output(const struct decide_runs *r, const struct decision *d)
{
	const struct trial *t = run_at(r, d->shows), *other = run_at(r, d->other);

	assert_true(d->has_other && is_sound(t) && is_sound(other));
	assert_true(key_of(t, d->sorted) != key_of(other, d->sorted));
	assert_int_equal(d->proved, differs_from_counterpart(r, false));
	if (d->proved)
		assert_true(is_experiment(r, d));
	else
		assert_true(differs_from_twin(r, d->shows.group, d->shows.number, d->sorted));
	/* Outputs are compared by bytes first, and by sorted lines only if that shows no
	 * difference. */
	assert_int_equal(d->sorted, !outputs_differ(r, false));
}

static void test_class(void **state)
{
	size_t seen[FINDING_OUTPUT_DIFFERS + 8] = {0};

	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		static struct world w;
		struct decision d;

		make(&w);
		decide(&w.runs, &d);
		assert_int_equal(d.class, class_of(&w.runs));
		if (d.class == FINDING_SPEC_VIOLATED)
			check_fault(&w.runs, &d);
		if (d.class == FINDING_OUTPUT_DIFFERS)
			check_output(&w.runs, &d);
		seen[d.class]++;
	}
	assert_true(seen[FINDING_NO_CLASS] > ROUNDS / 100);
	assert_true(seen[FINDING_SPEC_VIOLATED] > ROUNDS / 100);
	assert_true(seen[FINDING_OUTPUT_DIFFERS] > ROUNDS / 100);
	assert_true(seen[FINDING_K_WITNESS_HARMLESS] > ROUNDS / 100);
}

/* Swapping the two accesses does not change the class. */
static void test_symmetric(void **state)
{
	(void)state;
	for (int round = 0; round < ROUNDS / 10; round++) {
		static struct world w;
		static struct decide_experiment experiments[2 * MOST];
		struct decide_runs turned;
		struct decision d, other;

		make(&w);
		turned = w.runs;
		turned.items[VARIANT_FIRST] = w.items[VARIANT_SECOND];
		turned.items[VARIANT_SECOND] = w.items[VARIANT_FIRST];
		memcpy(experiments, w.experiments, sizeof experiments);
		turned.experiments = experiments;
		for (size_t i = 0; i < turned.experiment_count; i++)
			experiments[i].of.group = VARIANT_SECOND - experiments[i].of.group;
		decide(&w.runs, &d);
		decide(&turned, &other);
		assert_int_equal(d.class, other.class);
		assert_int_equal(d.noise, other.noise);
		assert_int_equal(decide_stale(&w.runs), decide_stale(&turned));
	}
}

/* ---- how many schedules were tried ---- */

/* Whether no earlier run of the group had the schedule of this run. */
static bool is_new_schedule(const struct decide_runs *r, unsigned group, size_t number)
{
	for (size_t i = 0; i < number; i++)
		if (r->items[group][i].counts && r->items[group][i].trail == r->items[group][number].trail)
			return false;
	return true;
}

static bool are_twins(const struct decide_runs *r, size_t i)
{
	return r->items[VARIANT_FIRST][i].counts && r->items[VARIANT_SECOND][i].counts;
}

static size_t stale(const struct decide_runs *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->count; i++)
		if (are_twins(r, i))
			n = is_new_schedule(r, VARIANT_FIRST, i) || is_new_schedule(r, VARIANT_SECOND, i)
				    ? 0
				    : n + 1;
	return n;
}

static void test_schedules(void **state)
{
	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		static struct world w;
		struct decision d;
		uint64_t k = 0;

		make(&w);
		for (size_t i = 0; i < w.runs.count; i++)
			k += are_twins(&w.runs, i) && is_new_schedule(&w.runs, VARIANT_SECOND, i);
		decide(&w.runs, &d);
		assert_int_equal(d.k, k);
		assert_int_equal(decide_stale(&w.runs), stale(&w.runs));
	}
}

/* ---- other functions of decide-int.h ---- */

static void test_differ(void **state)
{
	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		static struct world w;
		bool differ = false;

		make(&w);
		for (unsigned g = 0; g < VARIANT_GROUPS * MOST; g++)
			for (unsigned h = 0; h < g; h++) {
				const struct trial *a = &w.items[g / MOST][g % MOST],
						   *b = &w.items[h / MOST][h % MOST];

				if (g % MOST < w.runs.count && h % MOST < w.runs.count && a->counts &&
				    b->counts)
					differ |= a->digest != b->digest;
			}
		assert_int_equal(decide_differ(&w.runs), differ);
	}
}

/* A run of an exploration is new if no run had its fault.  A run without a fault is new if no run
 * had its output, provided that outputs repeat. */
static void test_new(void **state)
{
	size_t seen[3] = {0};

	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		static struct world w;
		struct taste t = {0, 4, MOST, 1, 0};
		struct trial run = some_run(&t);
		bool sorted, expected = true, by_lines = false;

		make(&w);
		run.counts = true;
		for (unsigned g = 0; g < VARIANT_GROUPS && run.fault; g++)
			expected &= !count_of(&w.runs, g, run.fault).faulty;
		if (!run.fault) {
			size_t bytes = 0, lines = 0;

			for (unsigned g = 0; g < VARIANT_GROUPS; g++) {
				bytes += times(&w.runs, g, run.digest, false);
				lines += times(&w.runs, g, run.sorted_digest, true);
			}
			expected = !bytes && repeat(&w.runs, 0, VARIANT_CONTROL, false, 0);
			by_lines = !expected && !lines && repeat(&w.runs, 0, VARIANT_CONTROL, true, 0);
		}
		assert_int_equal(decide_is_new(&w.runs, &run, &sorted), expected || by_lines);
		assert_int_equal(sorted, by_lines);
		seen[by_lines ? 2 : expected]++;
	}
	assert_true(seen[0] && seen[1] && seen[2]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_class),	  cmocka_unit_test(test_symmetric),
		cmocka_unit_test(test_schedules), cmocka_unit_test(test_differ),
		cmocka_unit_test(test_new),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
