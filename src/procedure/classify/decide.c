// SPDX-License-Identifier: Apache-2.0
/*
 * Derives a class from runs.  In: trials by group.  Out: the class and the runs that show it.
 *
 * A fault is attributed to the race in three cases.  It may be the race itself, as when one access
 * frees memory that the other uses.  One order of the accesses may fail more often than the other.
 * Or runs in which the threads met may fail more often than runs that lead to the same place but
 * keep the accesses apart.  "More often" means that chance hardly explains the difference
 * (cause-int.h).  An output is attributed to the race in two cases.  Either twins differ in it, and
 * it never occurs in the other order, or it occurs more often in runs in which the threads met.
 * "Never occurs" is significant only in a group whose outputs repeat.  If each run writes something
 * new, one more new output shows nothing.  If whole outputs decide nothing, their lines are
 * compared without regard to their order.
 */
#include "classify/decide-int.h"

#include "base/alloc.h"
#include "base/compare.h"
#include "base/error.h"
#include "classify/cause-int.h"

#include <stdlib.h>
#include <string.h>

/* Outputs repeat if at most 1/ONCE_IN of them were seen only once.  By the Good-Turing estimate,
 * the next run then shows a new output with a probability of at most 1/8.  Set by hand. */
#define ONCE_IN 8

/* A fault is attributed to the race if the groups differ so much that chance would produce such a
 * difference with at most this probability. */
#define CHANCE 0.05

/* If, after this many pairs, a fault is at least half as frequent in runs that keep the accesses
 * apart, no further runs are made to explain it.  Set by hand. */
#define ENOUGH 16

/* Returns a digest of a run's output, by which outputs are compared. */
typedef uint64_t key_fn(const struct trial *t);

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

/* Counts the runs of a list that count, and those of them that have this fault. */
static struct cause_count count_list(const struct trial *runs, size_t count, const char *fault)
{
	struct cause_count c = {0};

	for (size_t i = 0; i < count; i++) {
		c.runs += runs[i].counts;
		c.failed += runs[i].counts && runs[i].fault && !strcmp(runs[i].fault, fault);
	}
	return c;
}

static struct cause_count count_fault(const struct decide_runs *r, enum variant_group group,
				      const char *fault)
{
	RD_ASSERT(group < VARIANT_GROUPS);
	return count_list(r->items[group], r->count, fault);
}

static bool has_fault(const struct decide_runs *r, enum variant_group group, const char *fault)
{
	return count_fault(r, group, fault).failed != 0;
}

/* Counts the runs that lead to the same place but keep the accesses apart.  If there is no such
 * run, counts the control group instead. */
static struct cause_count count_apart(const struct decide_runs *r, const char *fault)
{
	struct cause_count c = count_list(r->apart, r->apart_count, fault);

	return c.runs ? c : count_fault(r, VARIANT_CONTROL, fault);
}

static struct cause_count count_met(const struct decide_runs *r, const char *fault)
{
	struct cause_count first = count_fault(r, VARIANT_FIRST, fault),
			   second = count_fault(r, VARIANT_SECOND, fault);

	return (struct cause_count){first.runs + second.runs, first.failed + second.failed};
}

/* Returns true if one order of the two accesses fails significantly more often than the other. */
static bool depends_on_order(struct cause_count first, struct cause_count second)
{
	return cause_chance(first, second) <= CHANCE / 2 || cause_chance(second, first) <= CHANCE / 2;
}

/* Returns true if runs in which the threads met have this fault significantly more often than runs
 * that keep the accesses apart. */
static bool depends_on_meeting(const struct decide_runs *r, const char *fault)
{
	return cause_chance(count_met(r, fault), count_apart(r, fault)) <= CHANCE;
}

/* Returns true if the fault of run `t` is the race itself, or if it depends on the order of the
 * accesses. */
static bool is_explained(const struct decide_runs *r, const struct trial *t)
{
	return t->at_race || depends_on_order(count_fault(r, VARIANT_FIRST, t->fault),
					      count_fault(r, VARIANT_SECOND, t->fault));
}

static bool comes_from_race(const struct decide_runs *r, const struct trial *t)
{
	return is_explained(r, t) || depends_on_meeting(r, t->fault);
}

/* Returns true if enough runs have shown that the fault is about as frequent when the accesses are
 * kept apart. */
static bool is_refuted(const struct decide_runs *r, const struct trial *t)
{
	struct cause_count met = count_met(r, t->fault), apart = count_apart(r, t->fault);

	return r->count >= ENOUGH && apart.runs && 2 * apart.failed * met.runs >= met.failed * apart.runs;
}

static bool is_open(const struct decide_runs *r, const struct trial *t)
{
	return !comes_from_race(r, t) && !is_refuted(r, t);
}

static bool wants_apart(const struct decide_runs *r, const struct trial *t)
{
	return !is_explained(r, t) && !is_refuted(r, t);
}

/* Returns true if `is` returns true for some run in which the threads met and which has a fault. */
static bool any_fault(const struct decide_runs *r,
		      bool (*is)(const struct decide_runs *, const struct trial *))
{
	for (unsigned g = VARIANT_FIRST; g <= VARIANT_SECOND; g++)
		for (size_t i = 0; i < r->count; i++) {
			const struct trial *t = at(r, g, i);

			if (t && t->fault && is(r, t))
				return true;
		}
	return false;
}

bool decide_is_open(const struct decide_runs *r)
{
	return any_fault(r, is_open);
}

static bool are_sound(const struct decide_runs *r, enum variant_group group)
{
	for (size_t i = 0; i < r->count; i++)
		if (!is_sound(at(r, group, i)))
			return false;
	return r->count != 0;
}

bool decide_is_plain(const struct decide_runs *r)
{
	for (unsigned g = VARIANT_FIRST; g <= VARIANT_SECOND && are_sound(r, VARIANT_CONTROL); g++) {
		const struct trial *t = at(r, g, 0);

		if (t && t->fault && count_fault(r, g, t->fault).failed == r->count &&
		    are_sound(r, VARIANT_SECOND - g))
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

/* Finds a run whose fault comes from the race.  A run whose twin has no fault is preferred. */
static bool find_fault(const struct decide_runs *r, struct decision *d)
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
				goto done;
		}
	}
done:
	if (found)
		find_sound(r, d);
	return found;
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
static uint64_t *keys_of(const struct decide_runs *r, enum variant_group group, key_fn *key, size_t *count)
{
	uint64_t *keys = rd_xcalloc(r->count + 1, sizeof *keys);

	*count = 0;
	for (size_t i = 0; i < r->count; i++)
		if (is_sound(at(r, group, i)))
			keys[(*count)++] = key(at(r, group, i));
	qsort(keys, *count, sizeof *keys, compare_keys);
	return keys;
}

/* Returns true if the outputs of the group repeat, that is, if few of them were seen only once.  In
 * that case, an output that was not seen is unlikely in this group (Good and Turing).  A group of
 * only one or two outputs always counts as repeating. */
static bool repeats(const struct decide_runs *r, enum variant_group group, key_fn *key)
{
	size_t count, once = 0;
	uint64_t *keys = keys_of(r, group, key, &count);

	for (size_t i = 0; i < count; i++)
		once += (i == 0 || keys[i] != keys[i - 1]) && (i + 1 == count || keys[i] != keys[i + 1]);
	free(keys);
	return count && (once * ONCE_IN <= count || count <= 2);
}

static bool has_output(const struct decide_runs *r, enum variant_group group, key_fn *key, uint64_t value)
{
	for (size_t i = 0; i < r->count; i++)
		if (is_sound(at(r, group, i)) && key(at(r, group, i)) == value)
			return true;
	return false;
}

/* Returns true if the first control run wrote the same output as `t`. */
static bool is_usual(const struct decide_runs *r, const struct trial *t, key_fn *key)
{
	const struct trial *usual = at(r, VARIANT_CONTROL, 0);

	return usual && key(usual) == key(t);
}

/* Finds twins with different outputs such that one of these outputs never occurs in the other
 * order. */
static bool find_twins(const struct decide_runs *r, key_fn *key, struct decision *d)
{
	for (size_t i = 0; i < r->count; i++) {
		const struct trial *first = at(r, VARIANT_FIRST, i), *second = at(r, VARIANT_SECOND, i);

		if (!is_sound(first) || !is_sound(second) || key(first) == key(second))
			continue;
		d->noise = true;
		for (unsigned side = 0; side < 2; side++) {
			enum variant_group g = side ^ is_usual(r, first, key), other = VARIANT_SECOND - g;

			if (!repeats(r, other, key) || has_output(r, other, key, key(at(r, g, i))))
				continue;
			d->shows = (struct decide_place){g, i};
			d->other = (struct decide_place){other, i};
			return d->has_other = true;
		}
	}
	return false;
}

/* Counts the runs of a list that have no fault, and those among them that wrote this output. */
static struct cause_count count_output(const struct trial *runs, size_t count, key_fn *key, uint64_t value)
{
	struct cause_count c = {0};

	for (size_t i = 0; i < count; i++) {
		bool sound = runs[i].counts && !runs[i].fault;

		c.runs += sound;
		c.failed += sound && key(&runs[i]) == value;
	}
	return c;
}

/* Returns true if runs in which the threads met write this output more often than runs that keep
 * the accesses apart.  If there are no runs of the latter kind, returns true if the output never
 * occurs in the control group. */
static bool is_by_meeting(const struct decide_runs *r, key_fn *key, uint64_t value)
{
	struct cause_count first = count_output(r->items[VARIANT_FIRST], r->count, key, value),
			   second = count_output(r->items[VARIANT_SECOND], r->count, key, value),
			   met = {first.runs + second.runs, first.failed + second.failed},
			   apart = count_output(r->apart, r->apart_count, key, value);

	if (!apart.runs)
		return !has_output(r, VARIANT_CONTROL, key, value);
	return cause_chance(met, apart) <= CHANCE;
}

/* Finds a run of the control group with another output. */
static void find_other(const struct decide_runs *r, key_fn *key, uint64_t value, struct decision *d)
{
	for (size_t i = 0; i < r->count && !d->has_other; i++) {
		const struct trial *t = at(r, VARIANT_CONTROL, i);

		if (!is_sound(t) || key(t) == value)
			continue;
		d->other = (struct decide_place){VARIANT_CONTROL, i};
		d->has_other = d->any_order = true;
	}
}

/* Finds an output that depends on whether the threads met. */
static bool find_meeting(const struct decide_runs *r, key_fn *key, struct decision *d)
{
	if (!repeats(r, VARIANT_CONTROL, key))
		return false;
	for (size_t i = 0; i < r->count && !d->has_other; i++) {
		for (unsigned g = VARIANT_FIRST; g <= VARIANT_SECOND && !d->has_other; g++) {
			const struct trial *t = at(r, g, i);

			if (!is_sound(t) || !is_by_meeting(r, key, key(t)))
				continue;
			d->shows = (struct decide_place){g, i};
			find_other(r, key, key(t), d);
		}
	}
	return d->has_other;
}

/* Returns true if there is an output that does not depend on the order of the accesses, but may
 * depend on whether the threads met. */
static bool has_open_output(const struct decide_runs *r)
{
	struct decision d = {0};

	if (find_twins(r, by_bytes, &d) || find_twins(r, by_lines, &d))
		return false;
	for (size_t i = 0; i < r->count; i++)
		for (unsigned g = VARIANT_FIRST; g <= VARIANT_SECOND; g++)
			if (is_sound(at(r, g, i)) &&
			    !has_output(r, VARIANT_CONTROL, by_bytes, at(r, g, i)->digest))
				return true;
	return false;
}

bool decide_wants_apart(const struct decide_runs *r)
{
	return any_fault(r, wants_apart) || has_open_output(r);
}

static bool find_difference(const struct decide_runs *r, struct decision *d)
{
	if (find_twins(r, by_bytes, d) || find_meeting(r, by_bytes, d))
		return true;
	d->sorted = true;
	if (find_twins(r, by_lines, d) || find_meeting(r, by_lines, d))
		return true;
	return d->sorted = false;
}

/* ---- comparisons with all other runs ---- */

/* Returns true if at most one in ONCE_IN outputs was seen only once, counting the outputs of all
 * groups together. */
static bool repeat_together(const struct decide_runs *r, key_fn *key)
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

static bool is_new_output(const struct decide_runs *r, const struct trial *t, key_fn *key)
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
