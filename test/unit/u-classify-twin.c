// SPDX-License-Identifier: Apache-2.0
/*
 * Compares classify/decide-int.h with its definition (doc/design/classify.md) on random runs.  The
 * reference counts with loops over all runs, and its outputs are letters.
 */
#include "classify/decide-int.h"

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
	struct trial items[VARIANT_GROUPS][MOST], apart[2 * MOST];
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
	w->runs.apart = w->apart;
	w->runs.apart_count = below(2) ? 0 : below(2 * (uint32_t)w->runs.count + 1);
	for (size_t i = 0; i < w->runs.apart_count; i++) {
		struct taste t = {missing, below(3) ? failing : 0, outputs, MOST, 0};

		w->apart[i] = some_run(&t);
	}
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

static struct count count_apart(const struct decide_runs *r, const char *fault)
{
	struct count c = {0};

	for (size_t i = 0; i < r->apart_count; i++) {
		c.runs += r->apart[i].counts;
		c.faulty += r->apart[i].counts && r->apart[i].fault && !strcmp(r->apart[i].fault, fault);
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

/* Whether the race causes the fault of a run.  The limits of 1/20 and 1/40 are never hit exactly by
 * more than rounding errors of logarithms. */
static bool is_caused(const struct decide_runs *r, const struct trial *t)
{
	struct count first = count_of(r, VARIANT_FIRST, t->fault),
		     second = count_of(r, VARIANT_SECOND, t->fault), apart = count_apart(r, t->fault),
		     met = {first.runs + second.runs, first.faulty + second.faulty};
	const double slack = 1 + 1e-9;

	if (!apart.runs)
		apart = count_of(r, VARIANT_CONTROL, t->fault);
	return t->at_race || chance(first, second) <= slack / 40 || chance(second, first) <= slack / 40 ||
	       chance(met, apart) <= slack / 20;
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

static bool is_sound(const struct trial *t)
{
	return t->counts && !t->fault;
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

/* Whether run i of one order differs from its twin, with an output that the other order never
 * has. */
static bool differs_from_twin(const struct decide_runs *r, unsigned group, size_t i, bool lines)
{
	const struct trial *t = &r->items[group][i], *twin = &r->items[VARIANT_SECOND - group][i];

	return is_sound(t) && is_sound(twin) && key_of(t, lines) != key_of(twin, lines) &&
	       repeat(r, VARIANT_SECOND - group, VARIANT_SECOND - group, lines, 2) &&
	       !times(r, VARIANT_SECOND - group, key_of(t, lines), lines);
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

/* Whether the output of the run is due to the meeting, and a control run wrote another one. */
static bool differs_by_meeting(const struct decide_runs *r, unsigned group, size_t i, bool lines)
{
	const struct trial *t = &r->items[group][i];
	uint64_t key = key_of(t, lines);
	struct count met = with_output(r->items[VARIANT_FIRST], r->count, key, lines),
		     more = with_output(r->items[VARIANT_SECOND], r->count, key, lines),
		     apart = with_output(r->apart, r->apart_count, key, lines),
		     control = with_output(r->items[VARIANT_CONTROL], r->count, key, lines);

	met.runs += more.runs;
	met.faulty += more.faulty;
	if (!is_sound(t) || !repeat(r, VARIANT_CONTROL, VARIANT_CONTROL, lines, 2) ||
	    control.faulty == control.runs)
		return false;
	return apart.runs ? chance(met, apart) <= (1 + 1e-9) / 20 : !control.faulty;
}

static bool outputs_differ(const struct decide_runs *r, bool lines)
{
	for (unsigned g = VARIANT_FIRST; g <= VARIANT_SECOND; g++)
		for (size_t i = 0; i < r->count; i++)
			if (differs_from_twin(r, g, i, lines) || differs_by_meeting(r, g, i, lines))
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

/* Whether some fault is neither caused by the race nor about as frequent if the accesses are kept
 * apart, as 16 pairs show. */
static bool is_in_doubt(const struct decide_runs *r)
{
	for (unsigned g = VARIANT_FIRST; g <= VARIANT_SECOND; g++)
		for (size_t i = 0; i < r->count; i++) {
			const struct trial *t = &r->items[g][i];
			struct count met, apart;

			if (!t->counts || !t->fault || is_caused(r, t))
				continue;
			met = count_of(r, VARIANT_FIRST, t->fault);
			met.runs += count_of(r, VARIANT_SECOND, t->fault).runs;
			met.faulty += count_of(r, VARIANT_SECOND, t->fault).faulty;
			apart = count_apart(r, t->fault);
			if (!apart.runs)
				apart = count_of(r, VARIANT_CONTROL, t->fault);
			if (r->count < 16 || !apart.runs ||
			    2 * apart.faulty * met.runs < met.faulty * apart.runs)
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
	assert_true(p.group < VARIANT_GROUPS && p.number < r->count);
	assert_true(r->items[p.group][p.number].counts);
	return &r->items[p.group][p.number];
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
	if (d->any_order)
		assert_true(differs_by_meeting(r, d->shows.group, d->shows.number, d->sorted));
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
		struct decide_runs turned;
		struct decision d, other;

		make(&w);
		turned = w.runs;
		turned.items[VARIANT_FIRST] = w.items[VARIANT_SECOND];
		turned.items[VARIANT_SECOND] = w.items[VARIANT_FIRST];
		decide(&w.runs, &d);
		decide(&turned, &other);
		assert_int_equal(d.class, other.class);
		assert_int_equal(d.noise, other.noise);
		assert_int_equal(decide_stale(&w.runs), decide_stale(&turned));
		assert_int_equal(decide_is_plain(&w.runs), decide_is_plain(&turned));
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

static bool is_plain(const struct decide_runs *r)
{
	for (unsigned g = VARIANT_FIRST; g <= VARIANT_SECOND; g++) {
		bool plain = r->count != 0;

		for (size_t i = 0; i < r->count; i++) {
			const struct trial *t = &r->items[g][i];

			plain &= t->counts && t->fault &&
				 !strcmp(t->fault, r->items[g][0].fault ? r->items[g][0].fault : "");
			plain &= is_sound(&r->items[VARIANT_SECOND - g][i]) &&
				 is_sound(&r->items[VARIANT_CONTROL][i]);
		}
		if (plain)
			return true;
	}
	return false;
}

static void test_plain(void **state)
{
	size_t seen = 0;

	(void)state;
	for (int round = 0; round < ROUNDS; round++) {
		static struct world w;

		make(&w);
		if (below(2)) { /* nearly what decide_is_plain() requires */
			unsigned g = below(2);

			for (size_t i = 0; i < w.runs.count; i++)
				for (unsigned k = 0; k < VARIANT_GROUPS; k++)
					w.items[k][i] = (struct trial){
						.counts = below(200) != 0,
						.fault = k == g && below(200) ? faults[0] : NULL};
		}
		assert_int_equal(decide_is_plain(&w.runs), is_plain(&w.runs));
		seen += is_plain(&w.runs);
	}
	assert_true(seen > 0);
}

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
		cmocka_unit_test(test_schedules), cmocka_unit_test(test_plain),
		cmocka_unit_test(test_differ),	  cmocka_unit_test(test_new),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
