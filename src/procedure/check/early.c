// SPDX-License-Identifier: Apache-2.0
/*
 * Tries findings before prediction has ended.  In: findings of prediction since the last call.
 * Out: confirmed findings, which replace the predictions.  Races whose accesses are unordered in
 * the recorded run itself are confirmed without a replay.  Each sound prediction gets one replay.
 */
#include "check/act-int.h"

#include "base/error.h"

typedef bool wanted_fn(const struct finding *f);

static bool is_sound(const struct finding *f)
{
	return f->sound && f->schedule;
}

static bool is_firm(const struct finding *f)
{
	return f->firm;
}

/* Takes copies of the wanted findings, since finishing a set changes its findings. */
static struct finding_set *take(struct check *c, wanted_fn *wanted)
{
	struct finding_set *some = finding_set_new();

	RD_ASSERT(c->predicted.early <= c->set->count);
	for (size_t i = c->predicted.early; i < c->set->count; i++) {
		struct finding *f = c->set->items[i], *copy;

		if (f->status != FINDING_UNCONFIRMED || !wanted(f) || check_is_reported(c->predicted.seen, f))
			continue;
		copy = finding_array(some, 1, sizeof *copy);
		*copy = *f;
		finding_set_put(some, copy);
	}
	check_make_part(c, some);
	finding_set_finish(some);
	check_keep(c, some);
	return some;
}

/* Reports findings that are confirmed without a replay. */
static void report_recorded(struct check *c)
{
	struct finding_set *some = take(c, is_firm);

	check_note_loaded(c);
	if (check_filter(c, some) == RD_OK)
		for (size_t i = 0; i < some->count && c->predicted.batch.walked; i++)
			replay_trust_recorded(&c->program.flavour, some, some->items[i]);
	for (size_t i = 0; i < some->count; i++)
		if (some->items[i]->status == FINDING_CONFIRMED)
			check_notify_confirmed(c, some, some->items[i]);
	check_put_confirmed(c->set, some);
}

void check_do_try_early(struct check *c, const struct check_action *a, struct check_outcome *o)
{
	struct finding_set *some = NULL;

	report_recorded(c);
	if (a->replays)
		some = take(c, is_sound);
	c->predicted.early = c->set->count;
	if (!some || !some->count || check_filter(c, some))
		return;
	rd_info("replaying %zu sound predictions; the search for more continues after that", some->count);
	check_replay(c, some, true, a->end_ns);
	check_put_confirmed(c->set, some);
	o->replayed = true;
}
