// SPDX-License-Identifier: Apache-2.0
/*
 * Runs under weaker memory models (classify/weaken.h).  In: a race, and its runs under sequential
 * consistency.  Out: a run that shows something new, with its schedule and choices.
 *
 * Alternates are pairs of a schedule and a seed for the choices of memory.  What is new is believed to come
 * from the memory of this race if the same schedule without these choices does not show it; if it does not
 * come either where only other memory obeys the model; and if it comes again each time.
 */
#include "classify/weaken.h"

#include "base/error.h"

#include <string.h>

void weaken_variant(struct variant *v, const struct schedule *lists, const char *memory, uint64_t seed)
{
	v->schedule.memory = memory;
	v->schedule.memory_seed = seed;
	v->schedule.tracks = lists->tracks;
	v->schedule.track_count = lists->track_count;
	v->schedule.watches = lists->watches;
	v->schedule.watch_count = lists->watch_count;
}

/* ---- runs ---- */

static int run_variant(const struct weaken *w, const struct schedule *lists, struct decide_place p,
		       struct trial *t, struct schedule *made)
{
	struct variant v;

	variant_make(&v, w->race, p.group, (unsigned)p.number);
	weaken_variant(&v, lists, w->memory, p.number + 1);
	return trial_run(w->bench, &v.schedule, t, made);
}

/* Whether the run shows what none showed under sequential consistency. */
static bool is_new(const struct weaken *w, const struct trial *t, bool *sorted)
{
	*sorted = false;
	return t->counts && t->relaxed && decide_is_new(w->usual, t, sorted);
}

static bool is_same(const struct trial *a, const struct trial *b, bool sorted)
{
	if (!a->counts || !b->counts)
		return false;
	if (a->fault || b->fault)
		return a->fault && b->fault && !strcmp(a->fault, b->fault);
	return sorted ? a->lines == b->lines : a->digest == b->digest;
}

/* ---- what is new ---- */

/* Whether the schedule alone shows it, without what memory did. */
static int is_by_schedule(const struct weaken *w, const struct weakened *r, bool *shows)
{
	struct schedule plain = r->schedule;
	struct trial t;
	int err;

	plain.memory = "sc";
	plain.choice_count = 0;
	err = trial_run(w->bench, &plain, &t, NULL);
	*shows = !err && is_same(&t, &r->shows, r->sorted);
	return err;
}

/* Whether it comes without the memory of this race too. */
static int is_elsewhere(const struct weaken *w, const struct weakened *r, bool *elsewhere)
{
	struct schedule others;
	struct trial t;
	int err = RD_OK;

	*elsewhere = false;
	if (!w->object || !tracks_has_others(w->tracks, w->object))
		return RD_OK;
	schedule_init(&others);
	tracks_fill(w->tracks, w->object, &others);
	for (size_t n = 0; n < w->most && !err && !*elsewhere; n++) {
		err = run_variant(w, &others, (struct decide_place){r->group, n}, &t, NULL);
		*elsewhere = !err && is_same(&t, &r->shows, r->sorted);
	}
	schedule_release(&others);
	return err;
}

static int comes_again(const struct weaken *w, struct weakened *r, bool *again)
{
	struct trial t;
	int err = RD_OK;

	*again = r->schedule.turns;
	for (int i = 0; i < w->replays && *again && !err; i++) {
		err = trial_run(w->bench, &r->schedule, &t, NULL);
		*again = !err && is_same(&t, &r->shows, r->sorted);
	}
	return err;
}

/* A run that shows something new is run again to write down its choices; false: it means nothing. */
static int verify(const struct weaken *w, const struct schedule *lists, struct decide_place p,
		  struct weakened *r, bool *means)
{
	struct trial t;
	bool no = false, again = false;
	int err;

	schedule_release(&r->schedule);
	r->group = p.group;
	err = run_variant(w, lists, p, &t, &r->schedule);
	if (!err && is_same(&t, &r->shows, r->sorted) && r->schedule.turns)
		err = comes_again(w, r, &again);
	r->lost |= !again;
	if (!err && again)
		err = is_by_schedule(w, r, &no);
	if (!err && again && !no) {
		err = is_elsewhere(w, r, &no);
		r->elsewhere |= no;
	}
	*means = !err && again && !no;
	return err;
}

static enum finding_class class_of(const struct trial *t)
{
	return t->fault ? FINDING_SPEC_VIOLATED : FINDING_OUTPUT_DIFFERS;
}

/* One run; a fault is worth more than an output. */
static int try(const struct weaken *w, const struct schedule *lists, struct decide_place p,
	       struct weakened *r)
{
	struct weakened found = {0};
	bool means = false, sorted;
	struct trial t;
	int err = run_variant(w, lists, p, &t, NULL);

	if (err)
		return err;
	r->k += t.counts && t.relaxed;
	r->over = r->over ? r->over : t.over;
	if (!is_new(w, &t, &sorted) || (r->class != FINDING_NO_CLASS && !t.fault))
		return RD_OK;
	found = *r;
	found.schedule = (struct schedule){0};
	found.shows = t;
	found.sorted = sorted;
	err = verify(w, lists, p, &found, &means);
	r->lost |= found.lost;
	r->elsewhere |= found.elsewhere;
	if (!means) {
		schedule_release(&found.schedule);
		return err;
	}
	schedule_release(&r->schedule);
	found.class = class_of(&t);
	*r = found;
	return err;
}

int weaken(const struct weaken *w, struct weakened *result)
{
	struct schedule lists;
	int err = RD_OK;

	*result = (struct weakened){0};
	schedule_init(&lists);
	tracks_fill(w->tracks, NULL, &lists);
	for (size_t n = 0; n < w->most && !err && result->class != FINDING_SPEC_VIOLATED; n++)
		for (unsigned g = 0; g < VARIANT_GROUPS && !err && result->class != FINDING_SPEC_VIOLATED;
		     g++)
			err = try(w, &lists, (struct decide_place){g, n}, result);
	schedule_release(&lists);
	return err;
}
