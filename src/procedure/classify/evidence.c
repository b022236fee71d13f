// SPDX-License-Identifier: Apache-2.0
/*
 * Evidence for a harmful class.  In: runs, and the decision about them.  Out: witnesses, each with
 * a complete schedule that reproduced the harm.  If the harm cannot be reproduced, the race gets no
 * class, or the class that the other runs justify.
 */
#include "base/error.h"
#include "classify/input-int.h"
#include "classify/words-int.h"
#include "classify/work-int.h"

/* Makes a run and records its schedule.  If the run explored a memory model, its schedule is
 * already known, and the first attempt uses that schedule. */
static int run_to_write_down(struct race_work *w, struct decide_place p, struct trial *t,
			     struct schedule *made)
{
	if (!w->made || p.group >= VARIANT_GROUPS || p.number < w->made_from) {
		schedule_release(made);
		return work_run_variant(w, p, t, made);
	}
	RD_ASSERT(p.number - w->made_from < w->made_count);
	if (!made->turns) {
		schedule_release(made);
		*made = w->made[p.number - w->made_from];
		w->made[p.number - w->made_from] = (struct schedule){0};
	}
	*t = (struct trial){0};
	return made->turns ? trial_run(&w->bench, made, t, NULL) : RD_OK;
}

/* Repeats a run and records all its decisions in `made`.  Sets *again if the run did the same as
 * before. */
static int write_down(struct race_work *w, struct decide_place p, struct schedule *made, bool *again)
{
	bool unsure = false;
	int err = RD_OK;

	*again = false;
	for (unsigned tries = 0; !err && next_writes_down(tries, *again, unsure); tries++) {
		struct trial t;

		err = run_to_write_down(w, p, &t, made);
		*again = !err && next_is_same(&w->decision, work_run_at(w, p), &t) && made->turns;
		unsure = next_is_unsure(&t);
	}
	return err;
}

/* Repeats a run several times.  Stores its complete schedule in *result if every repetition
 * reproduced the run, otherwise NULL. */
static int repeat(struct race_work *w, struct decide_place p, struct schedule **result)
{
	struct schedule *made = finding_schedule_new(w->set);
	struct next_repeat repeats = {0};
	bool again;
	int err = write_down(w, p, made, &again);

	*result = NULL;
	w->bench.evidence = true;
	while (again && !err && next_repeats(&repeats)) {
		struct trial t;

		err = trial_run(&w->bench, made, &t, NULL);
		if (!err)
			next_repeated(&repeats, next_is_same(&w->decision, work_run_at(w, p), &t),
				      next_is_unsure(&t));
	}
	w->bench.evidence = false;
	if (again && !err && !repeats.failed)
		*result = made;
	return err;
}

static const char *input_json(struct race_work *w)
{
	struct rd_buf text = RD_BUF_INIT;
	const char *kept;

	if (!w->bench.given.given.count)
		return w->f->input;
	input_format(&w->bench.given.given, &text);
	kept = finding_text(w->set, text.data);
	rd_buf_release(&text);
	return kept;
}

static void add_witness(struct race_work *w, struct decide_place p, struct schedule *s, const char *seen)
{
	struct finding_witness witness = {.class = w->decision.class,
					  .model = w->how->model,
					  .consequence = next_consequence(&w->runs, &w->decision),
					  .seen = seen,
					  .input = input_json(w),
					  .schedule = s,
					  .runs = NEXT_REPLAYS + 2};

	if (p.group != w->decision.shows.group || p.number != w->decision.shows.number) {
		witness.class = FINDING_NO_CLASS;
		witness.consequence = NULL;
	}
	finding_add_witness(w->set, w->f, &witness);
}

static void note_seen(struct race_work *w, const char *text)
{
	finding_note(w->set, w->f, text);
	w->f->consequence = finding_text(w->set, next_consequence(&w->runs, &w->decision));
}

/* Notes how it is known that the race causes this. */
static void note_proof(struct race_work *w)
{
	if (w->decision.proved)
		finding_note(
			w->set, w->f,
			"shown by an experiment: both runs took the same decisions, and only the order of "
			"the accesses differed");
	else if (work_run_at(w, w->decision.shows)->at_race)
		finding_note(w->set, w->f, "shown by a run in which one of the two accesses is the error");
	else
		finding_note(
			w->set, w->f,
			"shown by statistics: one order had this effect more often than chance explains; "
			"runs of the two orders could not take the same decisions");
}

/* Tries to reproduce the runs that show the class.  If that succeeds, adds them as witnesses and
 * sets *shown.  Otherwise stores in *lost which run could not be reproduced. */
static int show(struct race_work *w, bool *shown, struct decide_place *lost)
{
	const struct decision *d = &w->decision;
	struct schedule *shows = NULL, *other = NULL;
	bool needs_other = d->proved || d->class == FINDING_OUTPUT_DIFFERS;
	struct rd_buf text = RD_BUF_INIT;
	int err = repeat(w, d->shows, &shows);

	RD_ASSERT(next_is_bad(d) && (d->has_other || d->class != FINDING_OUTPUT_DIFFERS));
	if (!err && shows && needs_other)
		err = repeat(w, d->other, &other);
	*shown = !err && shows && (other || !needs_other);
	*lost = shows ? d->other : d->shows;
	if (*shown) {
		words_seen(&text, &w->race, &w->runs, d, &w->bench.mask);
		add_witness(w, d->shows, shows, finding_text(w->set, text.data));
		if (other)
			add_witness(w, d->other, other,
				    d->class == FINDING_OUTPUT_DIFFERS ? "the other output"
								       : "the other order");
		note_seen(w, text.data);
		note_proof(w);
	}
	rd_buf_release(&text);
	return err;
}

/* A run that cannot be reproduced is not evidence.  In that case, the other runs decide the
 * class. */
int evidence_show(struct race_work *w)
{
	struct next_show shows = {0};
	bool shown = false;
	int err = RD_OK;

	while (!err && !shown && next_shows(&shows, &w->decision)) {
		struct decide_place lost;

		err = show(w, &shown, &lost);
		if (!err && !shown)
			next_lost(&shows, &w->runs, lost, &w->decision);
	}
	if (err || shown)
		return err;
	if (next_is_left(&shows, &w->decision)) {
		finding_note(w->set, w->f, "outputs that could not be reproduced were ignored");
	} else {
		finding_note(w->set, w->f, "not classified: what a run showed could not be reproduced");
		w->decision.class = FINDING_NO_CLASS;
	}
	return err;
}
