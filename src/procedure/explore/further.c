// SPDX-License-Identifier: Apache-2.0
/*
 * Records runs under generated schedules.  In: what exploration showed, a program in the flavour
 * `record`, and the number of a schedule.  Out: the number of the next schedule, and the trace of a
 * run under that schedule, as input for prediction.  Also the schedule with all decisions of the
 * run, so that the run can be repeated to look for predicted races.
 *
 * The points are similar to those of the explored schedule, but not the same, so the run may
 * differ.  The trace has the same form as that of an ordinary run.
 */
#include "explore/further.h"

#include "base/error.h"

#include "explore/known.h"
#include "explore/strategies.h"
#include "explore/prefix.h"

#include <stdlib.h>

/* These numbers of runs were set by hand.  Analysing a recorded run takes longer than the run
 * itself. */
#define RECORDED_MOST 24 /* maximum number of schedules that are recorded */
/* recording ends when this many consecutive runs have shown nothing new */
#define RECORDED_IN_VAIN 3

void further_release(struct further *f)
{
	free(f->racy);
	*f = (struct further){0};
}

static bool is_race(const struct explore_racy *racy)
{
	return racy->site[0] != 0;
}

static bool is_same_race(const struct explore_racy *a, const struct explore_racy *b)
{
	return a->site[0] == b->site[0] && a->site[1] == b->site[1];
}

/* Returns how many of the schedules before this one in `explored` show the same race. */
static unsigned rank_of(const struct explore_result *explored, size_t which)
{
	unsigned rank = 0;

	for (size_t i = 0; i < which; i++)
		rank += is_same_race(&explored->racy[i], &explored->racy[which]);
	return rank;
}

/* Returns true if the schedule has already been chosen, for another race.  One trace shows all
 * races of a run. */
static bool is_chosen(const struct further *f, uint64_t number)
{
	for (size_t i = 0; i < f->racy_count; i++)
		if (f->racy[i].number == number)
			return true;
	return false;
}

/* Every race gets its first schedule before any race gets its second.  Then come runs that showed
 * something new, the last one first, because it was the hardest to reach. */
void further_choose(struct further *f, const struct explore_result *explored, const struct finding_set *set,
		    const struct trace_sites *sites)
{
	free(f->racy);
	f->most = explored->extent;
	f->racy_count = f->at = 0;
	f->racy = rd_xcalloc(explored->racy_count + explored->new_count + 1, sizeof *f->racy);
	for (unsigned rank = 0, more = 1; more; rank++) {
		more = 0;
		for (size_t i = 0; i < explored->racy_count; i++) {
			const struct explore_racy *racy = &explored->racy[i];

			more |= rank_of(explored, i) > rank;
			if (rank_of(explored, i) == rank && !is_chosen(f, racy->number) &&
			    !explore_is_known(set, sites, racy->site))
				f->racy[f->racy_count++] = *racy;
		}
	}
	for (size_t i = explored->new_count; i-- > 0;)
		if (!is_chosen(f, explored->new_ones[i].number))
			f->racy[f->racy_count++] = explored->new_ones[i];
	RD_ASSERT(f->racy_count <= explored->racy_count + explored->new_count);
}

bool further_next(const struct further *f, struct explore_racy *which)
{
	if (f->runs >= RECORDED_MOST || f->fruitless >= RECORDED_IN_VAIN)
		return false;
	*which = f->at < f->racy_count
			 ? f->racy[f->at]
			 : (struct explore_racy){.number = f->runs - f->at + 1, .most = f->most};
	return true;
}

/* Removes the remaining schedules that were chosen for the same race as the schedule that was
 * recorded last. */
static void leave_out_shown(struct further *f)
{
	size_t kept = f->at;

	RD_ASSERT(f->at > 0 && is_race(&f->racy[f->at - 1]));
	for (size_t i = f->at; i < f->racy_count; i++)
		if (!is_race(&f->racy[i]) || !is_same_race(&f->racy[i], &f->racy[f->at - 1]))
			f->racy[kept++] = f->racy[i];
	f->racy_count = kept;
}

void further_took(struct further *f, bool any)
{
	bool chosen = f->at < f->racy_count, had_race = chosen && is_race(&f->racy[f->at]);

	RD_ASSERT(f->at <= f->racy_count && f->at <= f->runs);
	f->runs++;
	f->at += chosen;
	if (had_race && any)
		leave_out_shown(f);
	f->fruitless = any || had_race ? 0 : f->fruitless + 1;
}

int explore_record(const struct explore *how, const struct explore_racy *which, const char *trace,
		   bool *counts, struct schedule *made)
{
	struct draw draw = explore_draw(how, which->number, which->threads);
	struct trial_bench b;
	struct trial t = {0};
	struct schedule s;
	int err = trial_open(&b, &how->runs, NULL);

	if (which->prefix && !err)
		err = prefix_begin(which->prefix, which->kept, draw.seed, &s);
	else
		schedule_init(&s);
	s.flavour = NULL;
	s.turns = true;
	s.seed = draw.seed;
	if (draw.points == POINTS_ALL && !which->prefix)
		strategies_watch(&s, 0);
	b.strategy = draw.strategy;
	b.strategy.length = which->length;
	b.most = which->most;
	b.record_into = trace;
	if (!err)
		err = trial_run(&b, &s, &t, made);
	*counts = t.counts || t.cut;
	schedule_release(&s);
	trial_close(&b);
	return err;
}

/* Adds a copy of the finding whose schedule is that of a run.  Its goals name the two accesses. */
static void add_under(struct finding_set *set, const struct finding *f, const struct schedule *made)
{
	struct finding *copy = finding_add(set, f->kind);
	struct rd_buf text = RD_BUF_INIT;
	struct schedule *s;

	*copy = *f;
	copy->status = FINDING_UNCONFIRMED;
	s = finding_schedule_add(set, copy);
	schedule_release(s);
	schedule_format(made, &text);
	if (schedule_parse(s, text.data, text.length, "the run")) {
		copy->schedule = NULL;
	} else {
		s->program = f->schedule->program;
		s->trace = f->schedule->trace;
		s->nowhere = true;
		for (size_t i = 0; i < f->schedule->goal_count; i++)
			*schedule_add_goal(s) = f->schedule->goals[i];
	}
	rd_buf_release(&text);
}

static bool is_to_look_at(const struct finding *f, const struct finding *known)
{
	return f->kind == FINDING_RACE && f->schedule && f->schedule->goal_count == 2 &&
	       f->object.kind != FINDING_DESCRIPTOR && !f->suppressed && known &&
	       !finding_is_reproduced(known);
}

struct finding_set *explore_look_again(const struct finding_set *seen, const struct finding_set *known,
				       const struct schedule *made)
{
	struct finding_set *set = finding_set_new();

	for (size_t i = 0; i < seen->count && made->turns; i++)
		if (is_to_look_at(seen->items[i], finding_at(known, seen->items[i]->fingerprint)))
			add_under(set, seen->items[i], made);
	return set;
}
