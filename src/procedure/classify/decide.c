// SPDX-License-Identifier: Apache-2.0
/*
 * Derives a class from runs.  In: trials by group, and experiments.  Out: the class and the runs
 * that show it.
 *
 * A fault or an output is attributed to the race if an experiment shows that it depends on the
 * order of the accesses: the run and its counterpart differ in nothing else.  A fault may also be
 * the race itself, as when one access frees memory that the other uses.
 *
 * Sometimes the order of the accesses changes what the threads do so much that the counterpart
 * cannot take the decisions of the run.  Then statistics decide: one order has to show the effect
 * more often than the other, and chance hardly explains the difference (cause-int.h).  If whole
 * outputs decide nothing, their lines are compared without regard to their order.
 */
#include "classify/decide-int.h"

#include "base/alloc.h"
#include "base/compare.h"
#include "base/error.h"
#include "classify/cause-int.h"
#include "classify/experiment-int.h"

#include <stdlib.h>
#include <string.h>

/* Outputs repeat if at most 1/ONCE_IN of them were seen only once.  By the Good-Turing estimate,
 * the next run then shows a new output with a probability of at most 1/8.  Set by hand. */
#define ONCE_IN 8

/* The difference between two groups is significant if chance would produce it with at most this
 * probability. */
#define CHANCE 0.05

/* The groups are compared again after each pair, up to some fifty times.  Since most of these
 * comparisons use the same runs, all of them together count as this many independent ones.  CHANCE
 * is divided by this number (Bonferroni).  Set by hand. */
#define LOOKS 16

/* After this many pairs, no further runs are made to explain a fault whose cause experiments may
 * have missed, unless one order fails more than twice as often as the other.  Set by hand. */
#define ENOUGH 16

static uint64_t by_bytes(const struct trial *t)
{
	return t->digest;
}

static uint64_t by_lines(const struct trial *t)
{
	return t->sorted_digest;
}

static const struct trial *at(const struct decide_runs *r, enum variant_group group, size_t number)
{
	const struct trial *t = &r->items[group][number];

	RD_ASSERT(group < VARIANT_GROUPS && number < r->count);
	return t->counts ? t : NULL;
}

static bool is_sound(const struct trial *t)
{
	return t && !t->fault;
}

/* ---- faults ---- */

/* Counts the valid runs of a group (those with `counts` set), and how many of them have this
 * fault. */
static struct cause_count count_fault(const struct decide_runs *r, enum variant_group group,
				      const char *fault)
{
	struct cause_count c = {0};

	RD_ASSERT(group < VARIANT_GROUPS);
	for (size_t i = 0; i < r->count; i++) {
		const struct trial *t = at(r, group, i);

		c.runs += t != NULL;
		c.failed += t && t->fault && !strcmp(t->fault, fault);
	}
	return c;
}

static bool has_fault(const struct decide_runs *r, enum variant_group group, const char *fault)
{
	return count_fault(r, group, fault).failed != 0;
}

/* Returns true if chance hardly explains that group a shows the effect more often than group b.
 * `kinds` is the number of comparisons of this kind. */
static bool is_more(struct cause_count a, struct cause_count b, size_t kinds)
{
	RD_ASSERT(kinds);
	return cause_chance(a, b) <= CHANCE / (double)(LOOKS * kinds);
}

/* Returns true if one order of the two accesses fails significantly more often than the other. */
static bool depends_on_order(const struct decide_runs *r, const char *fault)
{
	struct cause_count first = count_fault(r, VARIANT_FIRST, fault),
			   second = count_fault(r, VARIANT_SECOND, fault);

	return is_more(first, second, 2) || is_more(second, first, 2);
}

static bool comes_from_race(const struct decide_runs *r, const struct trial *t)
{
	return t->at_race || experiment_proves(r, t->fault) ||
	       (experiment_may_miss(r, t->fault) && depends_on_order(r, t->fault));
}

/* Returns true if neither order fails more than twice as often as the other. */
static bool fail_alike(struct cause_count a, struct cause_count b)
{
	return a.runs && b.runs && 2 * a.failed * b.runs >= b.failed * a.runs &&
	       2 * b.failed * a.runs >= a.failed * b.runs;
}

/* Returns true if the race may cause the fault of run `t`, but the runs so far do not show it. */
static bool is_open(const struct decide_runs *r, const struct trial *t)
{
	return !comes_from_race(r, t) && experiment_may_miss(r, t->fault) &&
	       (r->count < ENOUGH || !fail_alike(count_fault(r, VARIANT_FIRST, t->fault),
						 count_fault(r, VARIANT_SECOND, t->fault)));
}

bool decide_is_open(const struct decide_runs *r)
{
	for (unsigned g = VARIANT_FIRST; g <= VARIANT_SECOND; g++)
		for (size_t i = 0; i < r->count; i++) {
			const struct trial *t = at(r, g, i);

			if (t && t->fault && is_open(r, t))
				return true;
		}
	return false;
}

static void find_sound(const struct decide_runs *r, struct decision *d)
{
	enum variant_group twin = d->shows.group == VARIANT_FIRST ? VARIANT_SECOND : VARIANT_FIRST;

	RD_ASSERT(d->shows.group <= VARIANT_SECOND && !is_sound(at(r, d->shows.group, d->shows.number)));
	if (is_sound(at(r, twin, d->shows.number))) {
		d->other = (struct decide_place){twin, d->shows.number};
		d->has_other = true;
		return;
	}
	for (size_t i = 0; i < r->count && !d->has_other; i++) {
		if (!is_sound(at(r, VARIANT_CONTROL, i)))
			continue;
		d->other = (struct decide_place){VARIANT_CONTROL, i};
		d->has_other = d->any_order = true;
	}
}

/* Finds an experiment that shows a fault. */
static bool find_proof(const struct decide_runs *r, struct decision *d)
{
	for (size_t i = 0; i < r->experiment_count; i++) {
		const struct decide_experiment *e = &r->experiments[i];
		struct decide_place counterpart = {VARIANT_COUNTERPART, i};
		const struct trial *run = decide_at(r, e->of);
		const char *fault = run->fault ? run->fault : e->counterpart.fault;

		if (!fault || !experiment_shows_fault(r, e, fault))
			continue;
		d->shows = run->fault ? e->of : counterpart;
		d->other = run->fault ? counterpart : e->of;
		return d->has_other = d->proved = true;
	}
	return false;
}

/* Finds a run whose fault comes from the race.  A run whose twin has no fault is preferred. */
static bool find_run(const struct decide_runs *r, struct decision *d)
{
	bool found = false;

	for (size_t i = 0; i < r->count; i++) {
		for (unsigned g = VARIANT_FIRST; g <= VARIANT_SECOND; g++) {
			const struct trial *t = at(r, g, i), *twin = at(r, VARIANT_SECOND - g, i);

			if (!t || !t->fault)
				continue;
			if (!comes_from_race(r, t)) {
				d->noise = true;
				continue;
			}
			if (found && !is_sound(twin))
				continue;
			d->shows = (struct decide_place){g, i};
			found = true;
			if (is_sound(twin))
				return true;
		}
	}
	return found;
}

static bool find_fault(const struct decide_runs *r, struct decision *d)
{
	if (find_proof(r, d))
		return true;
	if (!find_run(r, d))
		return false;
	find_sound(r, d);
	return true;
}

/* ---- outputs ---- */

static int compare_keys(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	RD_BY(*x, *y);
	return 0;
}

/* Returns a sorted array with the digests of the outputs of all runs of the group that have no
 * fault.  Stores their number in *count.  The caller must free the array. */
static uint64_t *keys_of(const struct decide_runs *r, enum variant_group group, experiment_key *key,
			 size_t *count)
{
	uint64_t *keys = rd_xcalloc(r->count + 1, sizeof *keys);

	*count = 0;
	for (size_t i = 0; i < r->count; i++)
		if (is_sound(at(r, group, i)))
			keys[(*count)++] = key(at(r, group, i));
	qsort(keys, *count, sizeof *keys, compare_keys);
	return keys;
}

/* Returns the number of different outputs of the runs in which the threads met. */
static size_t count_outputs(const struct decide_runs *r, experiment_key *key)
{
	size_t count[2], distinct = 0;
	uint64_t *keys[2];

	for (unsigned g = VARIANT_FIRST; g <= VARIANT_SECOND; g++)
		keys[g] = keys_of(r, g, key, &count[g]);
	for (size_t i = 0, j = 0; i < count[0] || j < count[1]; distinct++) {
		uint64_t least =
			j == count[1] || (i < count[0] && keys[0][i] < keys[1][j]) ? keys[0][i] : keys[1][j];

		while (i < count[0] && keys[0][i] == least)
			i++;
		while (j < count[1] && keys[1][j] == least)
			j++;
	}
	free(keys[0]);
	free(keys[1]);
	return distinct;
}

static bool has_output(const struct decide_runs *r, enum variant_group group, experiment_key *key,
		       uint64_t value)
{
	for (size_t i = 0; i < r->count; i++)
		if (is_sound(at(r, group, i)) && key(at(r, group, i)) == value)
			return true;
	return false;
}

/* Returns true if the first control run wrote the same output as `t`. */
static bool is_usual(const struct decide_runs *r, const struct trial *t, experiment_key *key)
{
	const struct trial *usual = r->count ? at(r, VARIANT_CONTROL, 0) : NULL;

	return usual && key(usual) == key(t);
}

/* Finds an experiment that shows a difference between outputs.  The run with the less usual output
 * shows the class. */
static bool find_different(const struct decide_runs *r, experiment_key *key, struct decision *d)
{
	for (size_t i = 0; i < r->experiment_count; i++) {
		const struct decide_experiment *e = &r->experiments[i];
		struct decide_place counterpart = {VARIANT_COUNTERPART, i};
		bool usual = is_usual(r, decide_at(r, e->of), key);

		if (!experiment_shows_output(r, e, key))
			continue;
		d->shows = usual ? counterpart : e->of;
		d->other = usual ? e->of : counterpart;
		return d->has_other = d->proved = true;
	}
	return false;
}

/* Counts the runs of a group that have no fault, and those among them that wrote this output. */
static struct cause_count count_output(const struct decide_runs *r, enum variant_group group,
				       experiment_key *key, uint64_t value)
{
	struct cause_count c = {0};

	for (size_t i = 0; i < r->count; i++) {
		bool sound = is_sound(at(r, group, i));

		c.runs += sound;
		c.failed += sound && key(at(r, group, i)) == value;
	}
	return c;
}

/* Returns true if the counterpart of the run does not count, and runs with the same order of
 * accesses write this output more often than runs with the other order. */
static bool is_by_order(const struct decide_runs *r, struct decide_place p, experiment_key *key)
{
	const struct decide_experiment *e = experiment_of(r, p);
	uint64_t value = key(decide_at(r, p));

	return e && !e->counterpart.counts &&
	       is_more(count_output(r, p.group, key, value),
		       count_output(r, VARIANT_SECOND - p.group, key, value), 2 * count_outputs(r, key));
}

/* Finds twins with different outputs such that one order writes one of these outputs more often
 * than the other order does. */
static bool find_twins(const struct decide_runs *r, experiment_key *key, struct decision *d)
{
	for (size_t i = 0; i < r->count; i++) {
		const struct trial *first = at(r, VARIANT_FIRST, i), *second = at(r, VARIANT_SECOND, i);

		if (!is_sound(first) || !is_sound(second) || key(first) == key(second))
			continue;
		d->noise = true;
		for (unsigned g = VARIANT_FIRST; g <= VARIANT_SECOND; g++) {
			d->shows = (struct decide_place){g, i};
			d->other = (struct decide_place){VARIANT_SECOND - g, i};
			if (is_by_order(r, d->shows, key))
				return d->has_other = true;
		}
	}
	return false;
}

static bool find_difference(const struct decide_runs *r, struct decision *d)
{
	if (find_different(r, by_bytes, d) || find_twins(r, by_bytes, d))
		return true;
	return d->sorted = find_twins(r, by_lines, d);
}

/* ---- comparisons with all other runs ---- */

/* Returns true if at most one in ONCE_IN outputs was seen only once, counting the outputs of all
 * groups together. */
static bool repeat_together(const struct decide_runs *r, experiment_key *key)
{
	uint64_t *all = rd_xcalloc(VARIANT_GROUPS * r->count + 1, sizeof *all);
	size_t count = 0, once = 0;

	for (unsigned g = 0; g < VARIANT_GROUPS; g++)
		for (size_t i = 0; i < r->count; i++)
			if (is_sound(at(r, g, i)))
				all[count++] = key(at(r, g, i));
	qsort(all, count, sizeof *all, compare_keys);
	for (size_t i = 0; i < count; i++)
		once += (i == 0 || all[i] != all[i - 1]) && (i + 1 == count || all[i] != all[i + 1]);
	free(all);
	return count && once * ONCE_IN <= count;
}

static bool is_new_output(const struct decide_runs *r, const struct trial *t, experiment_key *key)
{
	for (unsigned g = 0; g < VARIANT_GROUPS; g++)
		if (has_output(r, g, key, key(t)))
			return false;
	return repeat_together(r, key);
}

bool decide_is_new(const struct decide_runs *r, const struct trial *t, bool *sorted)
{
	*sorted = false;
	if (t->fault)
		return !has_fault(r, VARIANT_FIRST, t->fault) && !has_fault(r, VARIANT_SECOND, t->fault) &&
		       !has_fault(r, VARIANT_CONTROL, t->fault);
	if (is_new_output(r, t, by_bytes))
		return true;
	return *sorted = is_new_output(r, t, by_lines);
}

/* ---- schedules ---- */

static bool is_new(const struct decide_runs *r, enum variant_group group, size_t number)
{
	for (size_t i = 0; i < number; i++)
		if (at(r, group, i) && at(r, group, i)->trail == at(r, group, number)->trail)
			return false;
	return true;
}

static bool are_twins(const struct decide_runs *r, size_t number)
{
	return at(r, VARIANT_FIRST, number) && at(r, VARIANT_SECOND, number);
}

/* Returns true if neither run of some pair has a fault, so that the two orders can be compared. */
static bool has_sound_twins(const struct decide_runs *r)
{
	for (size_t i = 0; i < r->count; i++)
		if (is_sound(at(r, VARIANT_FIRST, i)) && is_sound(at(r, VARIANT_SECOND, i)))
			return true;
	return false;
}

size_t decide_stale(const struct decide_runs *r)
{
	size_t stale = 0;

	for (size_t i = r->count; i-- > 0;) {
		if (!are_twins(r, i))
			continue;
		if (is_new(r, VARIANT_FIRST, i) || is_new(r, VARIANT_SECOND, i))
			break;
		stale++;
	}
	return stale;
}

bool decide_differ(const struct decide_runs *r)
{
	const struct trial *one = NULL;

	for (unsigned g = 0; g < VARIANT_GROUPS; g++)
		for (size_t i = 0; i < r->count; i++) {
			const struct trial *t = at(r, g, i);

			if (t && one && t->digest != one->digest)
				return true;
			one = t ? t : one;
		}
	return false;
}

void decide(const struct decide_runs *r, struct decision *d)
{
	bool any = false;

	*d = (struct decision){0};
	for (size_t i = 0; i < r->count; i++) {
		any |= are_twins(r, i);
		d->k += are_twins(r, i) && is_new(r, VARIANT_SECOND, i);
	}
	d->doubt = decide_is_open(r);
	d->hopeless = any && !has_sound_twins(r);
	if (find_fault(r, d))
		d->class = FINDING_SPEC_VIOLATED;
	else if (any && find_difference(r, d))
		d->class = FINDING_OUTPUT_DIFFERS;
	else
		d->class = any && !d->doubt && !d->hopeless ? FINDING_K_WITNESS_HARMLESS : FINDING_NO_CLASS;
	RD_ASSERT(d->k <= r->count);
	RD_ASSERT(d->class != FINDING_OUTPUT_DIFFERS || d->has_other);
}
