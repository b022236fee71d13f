// SPDX-License-Identifier: Apache-2.0
/*
 * Experiments (experiment-int.h).  In: runs and their counterparts.  Out: whether the order of the
 * accesses changes how a run ends or what it writes, and the next run that raises this question.
 *
 * Invariants: there is at most one experiment about a run.  No experiment is wanted about a run
 * that does not count, nor after an experiment has shown that a fault depends on the order.
 */
#include "classify/experiment-int.h"

#include "base/error.h"
#include "classify/variant-int.h"

#include <string.h>

struct trial *decide_at(const struct decide_runs *r, struct decide_place p)
{
	if (p.group == VARIANT_COUNTERPART) {
		RD_ASSERT(p.number < r->experiment_count);
		return &r->experiments[p.number].counterpart;
	}
	if (p.group == VARIANT_BETWEEN) {
		RD_ASSERT(p.number < r->experiment_count);
		return &r->experiments[p.number].between;
	}
	RD_ASSERT(p.group < VARIANT_GROUPS && p.number < r->count);
	return &r->items[p.group][p.number];
}

static struct decide_place twin_of(struct decide_place p)
{
	RD_ASSERT(p.group <= VARIANT_SECOND);
	return (struct decide_place){VARIANT_SECOND - p.group, p.number};
}

static bool is_sound(const struct trial *t)
{
	return t->counts && !t->fault;
}

static bool has_fault(const struct trial *t, const char *fault)
{
	return t->counts && t->fault && !strcmp(t->fault, fault);
}

const struct decide_experiment *experiment_of(const struct decide_runs *r, struct decide_place run)
{
	for (size_t i = 0; i < r->experiment_count; i++)
		if (r->experiments[i].of.group == run.group && r->experiments[i].of.number == run.number)
			return &r->experiments[i];
	return NULL;
}

bool experiment_shows_fault(const struct decide_runs *r, const struct decide_experiment *e, const char *fault)
{
	const struct trial *run = decide_at(r, e->of), *counterpart = &e->counterpart;

	return (has_fault(run, fault) && is_sound(counterpart)) ||
	       (has_fault(counterpart, fault) && is_sound(run));
}

bool experiment_shows_output(const struct decide_runs *r, const struct decide_experiment *e,
			     experiment_key *key)
{
	const struct trial *run = decide_at(r, e->of), *counterpart = &e->counterpart;

	return is_sound(run) && is_sound(counterpart) && key(run) != key(counterpart);
}

bool experiment_proves(const struct decide_runs *r, const char *fault)
{
	for (size_t i = 0; i < r->experiment_count; i++)
		if (experiment_shows_fault(r, &r->experiments[i], fault))
			return true;
	return false;
}

bool experiment_may_miss(const struct decide_runs *r, const char *fault)
{
	for (size_t i = 0; i < r->experiment_count; i++)
		if (r->experiments[i].of.group != VARIANT_BETWEEN && !r->experiments[i].counterpart.counts &&
		    has_fault(decide_at(r, r->experiments[i].of), fault))
			return true;
	return false;
}

/* ---- the next experiment ---- */

static bool is_fault_proved(const struct decide_runs *r)
{
	for (size_t i = 0; i < r->experiment_count; i++) {
		const struct decide_experiment *e = &r->experiments[i];
		const struct trial *run = decide_at(r, e->of);

		if ((run->fault && experiment_shows_fault(r, e, run->fault)) ||
		    (e->counterpart.fault && experiment_shows_fault(r, e, e->counterpart.fault)))
			return true;
	}
	return false;
}

static uint64_t by_bytes(const struct trial *t)
{
	return t->digest;
}

static bool is_output_proved(const struct decide_runs *r)
{
	for (size_t i = 0; i < r->experiment_count; i++)
		if (experiment_shows_output(r, &r->experiments[i], by_bytes))
			return true;
	return false;
}

/* Returns true if the run needs an experiment, because its effect differs from that of its twin.
 * If the second thread lags, twins differ in more than the order of the accesses, so they cannot be
 * compared.  Then it is enough that the run fails or that any two runs differ. */
static bool is_in_question(const struct decide_runs *r, struct decide_place p, bool differ)
{
	const struct trial *t = decide_at(r, p), *twin = decide_at(r, twin_of(p));

	if (!t->counts || t->at_race || experiment_of(r, p))
		return false;
	if (t->fault)
		return variant_lags(p.number) || !has_fault(twin, t->fault);
	return variant_lags(p.number) ? differ : is_sound(twin) && twin->digest != t->digest;
}

bool decide_wants_experiment(const struct decide_runs *r, struct decide_place *of)
{
	bool differ = decide_differ(r), outputs = !is_output_proved(r);

	if (!differ || is_fault_proved(r))
		return false;
	for (of->number = 0; of->number < r->count; of->number++)
		for (of->group = VARIANT_FIRST; of->group <= VARIANT_SECOND; of->group++)
			if ((outputs || decide_at(r, *of)->fault) && is_in_question(r, *of, differ))
				return true;
	return false;
}
