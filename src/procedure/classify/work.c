// SPDX-License-Identifier: Apache-2.0
/*
 * Determines the class of one race.  In: a finding with a schedule that leads to the race.  Out: a
 * finding document that contains the finding with its class and the runs that show the class.
 *
 * Runs come in pairs, one for each order of the two accesses (classify/variant-int.h).  The first
 * pairs have no seed; later pairs have one. next-int.h decides how many pairs are run, and
 * decide-int.h what they mean.  Before a harmful class is reported, the runs that show it are
 * repeated (evidence.c).
 */
#include "classify/work-int.h"

#include "base/alloc.h"
#include "base/error.h"
#include "classify/words-int.h"
#include "run/orphan.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The number of experiments with VARIANT_BETWEEN: each of the two accesses is moved twice, once in
 * a run without a seed and once in one with a seed.  WITH_SEED is the number of the variant with a
 * seed. */
#define BETWEEN 4
#define WITH_SEED 4

/* ---- runs ---- */

/* Makes the schedule of a run that is not a counterpart. */
static void make_variant(struct race_work *w, struct decide_place p, struct variant *v)
{
	if (p.group == VARIANT_BETWEEN)
		variant_make_between(v, &w->race, w->runs.experiments[p.number].moved,
				     w->runs.experiments[p.number].variant);
	else
		variant_make(v, &w->race, p.group, (unsigned)p.number);
	if (w->how->models)
		weaken_variant(v, &w->lists, "sc", 0);
	v->schedule.input = w->input_text;
}

static int run_variant(struct race_work *w, struct decide_place p, struct trial *t, struct schedule *made)
{
	struct variant v;

	if (p.group < VARIANT_CONTROL && p.number >= w->switched_from)
		return switched_run(w, p, t, made);
	make_variant(w, p, &v);
	return trial_run(&w->bench, &v.schedule, t, made);
}

/* Returns true if two runs have the same effect.  Their choices may differ: when memory models are
 * explored, the number of accesses that are points grows. */
static bool does_same(const struct trial *a, const struct trial *b)
{
	return a->counts && b->counts && !a->fault == !b->fault &&
	       (!a->fault || !strcmp(a->fault, b->fault)) && a->digest == b->digest;
}

/* Makes the schedule of the counterpart.  `made` is the schedule of the run with all its
 * decisions. */
static void make_counterpart(const struct decide_experiment *e, const struct schedule *made,
			     struct variant *v, struct schedule_decision *decisions)
{
	if (e->of.group == VARIANT_BETWEEN)
		variant_counterpart_before(v, made, e->moved, decisions);
	else
		v->schedule = variant_counterpart(made, decisions);
}

/* Sets `t` to a counterpart that does not count. */
static void set_unrepeated(struct trial *t)
{
	*t = (struct trial){.why = "the run cannot be repeated"};
}

/* If the run and its counterpart differ, makes sure that only the access was moved. */
static int check_moved(struct race_work *w, const struct decide_experiment *e, struct variant *other,
		       struct trial *t)
{
	struct trial kept;
	int err;

	if (e->of.group != VARIANT_BETWEEN || !t->counts || does_same(work_run_at(w, e->of), t))
		return RD_OK;
	variant_keep_turn(other, e->moved);
	err = trial_run(&w->bench, &other->schedule, &kept, NULL);
	if (!err && kept.counts) {
		t->counts = false;
		t->why = "the other thread yields before its access, so more than one access was moved";
	}
	return err;
}

/* Makes the counterpart of a run; `same` is the schedule of the run with all its decisions. */
static int run_other_order(struct race_work *w, const struct decide_experiment *e,
			   const struct schedule *same, struct trial *t, struct schedule *made)
{
	struct schedule_decision *decisions =
		rd_xcalloc(same->decision_count + VARIANT_ROOM, sizeof *decisions);
	struct variant other;
	int err;

	make_counterpart(e, same, &other, decisions);
	err = trial_run(&w->bench, &other.schedule, t, made);
	if (!err)
		err = check_moved(w, e, &other, t);
	free(decisions);
	return err;
}

/* Repeats a run, to learn its decisions, and then makes its counterpart.  The counterpart does not
 * count if the run cannot be repeated. */
static int run_counterpart(struct race_work *w, const struct decide_experiment *e, struct trial *t,
			   struct schedule *made)
{
	struct schedule same;
	struct trial again;
	int err = run_variant(w, e->of, &again, &same);

	set_unrepeated(t);
	if (made)
		*made = (struct schedule){0};
	if (!err && same.turns && does_same(work_run_at(w, e->of), &again))
		err = run_other_order(w, e, &same, t, made);
	schedule_release(&same);
	return err;
}

int work_run_variant(struct race_work *w, struct decide_place p, struct trial *t, struct schedule *made)
{
	if (p.group != VARIANT_COUNTERPART)
		return run_variant(w, p, t, made);
	RD_ASSERT(p.number < w->runs.experiment_count);
	return run_counterpart(w, &w->runs.experiments[p.number], t, made);
}

const struct trial *work_run_at(const struct race_work *w, struct decide_place p)
{
	return decide_at(&w->runs, p);
}

static int run_into(struct race_work *w, enum variant_group group, size_t number)
{
	struct trial *t = &w->runs.items[group][number];

	if (w->opening && group == VARIANT_FIRST && number == 0) {
		*t = *w->opening;
		trial_digest(t, &w->bench.mask);
		return RD_OK;
	}
	return work_run_variant(w, (struct decide_place){group, number}, t, NULL);
}

int work_run_controls(struct race_work *w, size_t wanted)
{
	int err = RD_OK;

	RD_ASSERT(w->controls <= w->runs.count && wanted <= w->runs.count);
	for (; w->how->techniques.control && w->controls < wanted && !err; w->controls++)
		err = run_into(w, VARIANT_CONTROL, w->controls);
	return err;
}

static void mask_lines(struct race_work *w)
{
	const struct trial *control = w->runs.items[VARIANT_CONTROL];

	if (!next_is_maskable(&w->runs))
		return;
	trial_mask_learn(&w->bench.mask, &control[0], &control[1]);
	for (unsigned g = 0; g < VARIANT_GROUPS; g++)
		for (size_t i = 0; i < w->runs.count; i++)
			trial_digest(&w->runs.items[g][i], &w->bench.mask);
	for (size_t i = 0; i < w->runs.experiment_count; i++)
		trial_digest(&w->runs.experiments[i].counterpart, &w->bench.mask);
}

static int run_experiments(struct race_work *w)
{
	struct decide_place of;
	int err = RD_OK;

	while (!err && decide_wants_experiment(&w->runs, &of)) {
		struct decide_experiment *e = &w->runs.experiments[w->runs.experiment_count++];

		e->of = of;
		err = run_counterpart(w, e, &e->counterpart, NULL);
	}
	return err;
}

/* Makes a run in which one access is moved, and its counterpart.  If they differ, the run is repeated,
 * because a run that cannot be repeated proves nothing. */
static int run_moved(struct race_work *w, struct decide_experiment *e)
{
	struct schedule same;
	struct trial again;
	int err = run_variant(w, e->of, &e->between, &same);

	set_unrepeated(&e->counterpart);
	if (!err && e->between.counts && same.turns)
		err = run_other_order(w, e, &same, &e->counterpart, NULL);
	schedule_release(&same);
	if (err || !e->counterpart.counts || does_same(&e->between, &e->counterpart))
		return err;
	err = run_variant(w, e->of, &again, NULL);
	if (!err && !does_same(&e->between, &again))
		set_unrepeated(&e->counterpart);
	return err;
}

/* The order of two accesses may have no effect although it matters whether one of them comes
 * between accesses of the other thread.  An example is the order of two writes of x++ that follow
 * both reads.  So each of the two accesses is moved, without a seed and with one. */
static int run_between(struct race_work *w)
{
	int err = RD_OK;

	for (unsigned i = 0; i < BETWEEN && !err && !next_is_bad(&w->decision); i++) {
		size_t number = w->runs.experiment_count++;
		struct decide_experiment *e = &w->runs.experiments[number];

		*e = (struct decide_experiment){
			.of = {VARIANT_BETWEEN, number}, .moved = i % 2, .variant = i < 2 ? 0 : WITH_SEED};
		err = run_moved(w, e);
		decide(&w->runs, &w->decision);
	}
	return err;
}

static int run_pair(struct race_work *w, size_t number)
{
	int err = run_into(w, VARIANT_FIRST, number);

	if (!err)
		err = run_into(w, VARIANT_SECOND, number);
	w->runs.count = number + 1;
	if (!err)
		err = work_run_controls(w, next_controls(&w->limits, &w->runs, w->controls));
	if (!err)
		mask_lines(w);
	return err ? err : run_experiments(w);
}

/* Makes two pairs of runs under the detector.  They differ in the thread that continues first after the
 * two accesses of the race. */
static int run_detected(struct race_work *w)
{
	struct trial t;
	int err = RD_OK;

	for (size_t i = 0; i < SWITCHED_WAYS * VARIANT_CONTROL && !err; i++) {
		struct decide_place p = {i % VARIANT_CONTROL, i / VARIANT_CONTROL};
		struct variant v;

		make_variant(w, p, &v);
		err = switched_detect(w, p.group, &v.schedule, &t);
	}
	return err;
}

/* If other accesses are unordered in only one order of the race, makes pairs in which a thread stops at
 * one of these accesses. */
static int run_switched(struct race_work *w)
{
	size_t idle = 0, made = 0;
	int err;

	if (!w->how->techniques.schedules || w->how->models || next_is_bad(&w->decision) ||
	    !next_is_met(&w->runs) || w->has_detected)
		return RD_OK;
	w->has_detected = true;
	err = run_detected(w);
	if (err || !switched_begin(w))
		return err;
	while (!err && next_is_switched(&w->limits, &w->runs, made++, &w->decision) && idle < SWITCHED_WAYS) {
		w->has_switched = false;
		err = run_pair(w, w->runs.count);
		idle = w->has_switched ? 0 : idle + 1;
	}
	return err;
}

int work_run_pairs(struct race_work *w, const struct trial *opening)
{
	size_t room = next_room(&w->limits) + models_room(w),
	       experiments = 2 * next_room(&w->limits) + BETWEEN;
	int err = RD_OK;

	w->runs.count = w->runs.experiment_count = w->controls = 0;
	w->opening = opening;
	w->switched_from = SIZE_MAX;
	unordered_clear(&w->unordered);
	w->runs.experiments = rd_arena_alloc(w->bench.arena, experiments * sizeof *w->runs.experiments);
	for (unsigned g = 0; g < VARIANT_GROUPS; g++)
		w->runs.items[g] = rd_arena_alloc(w->bench.arena, room * sizeof *w->runs.items[g]);
	while (!err && next_is_pair(&w->limits, &w->runs, &w->decision))
		err = run_pair(w, w->runs.count);
	w->opening = NULL;
	if (!err)
		err = run_switched(w);
	if (!err && w->how->models)
		err = models_explore(w);
	RD_ASSERT(w->runs.count <= room);
	decide(&w->runs, &w->decision);
	if (!err && next_is_between(&w->limits, &w->decision))
		err = run_between(w);
	return err;
}

int work_keep_schedule(struct race_work *w, const struct schedule *s, struct schedule **kept)
{
	struct rd_buf text = RD_BUF_INIT;
	int err;

	*kept = finding_schedule_new(w->set);
	schedule_release(*kept);
	schedule_format(s, &text);
	err = schedule_parse(*kept, text.data, text.length, "the run");
	rd_buf_release(&text);
	return err;
}

/* ---- the answer ---- */

static void note_harmless(struct race_work *w)
{
	const struct decision *d = &w->decision;

	finding_note(w->set, w->f,
		     finding_textf(w->set,
				   "both orders ended in the same way with the same output, in %" PRIu64
				   " schedule%s after the race, for %s",
				   w->k, w->k == 1 ? "" : "s",
				   w->is_other ? "the inputs that are listed" : "the recorded input only"));
	if (d->noise)
		finding_note(
			w->set, w->f,
			"what the program writes, or how it ends, depends on the schedule, but not on the "
			"order of these two accesses");
}

static void note_mask(struct race_work *w)
{
	if (w->bench.mask.any)
		finding_note(w->set, w->f,
			     "lines of the output that differ between runs of the same schedule were not "
			     "compared");
}

/* Confirms the race if both threads were stopped at their accesses at the same time. */
static void confirm(struct race_work *w)
{
	if (w->f->status == FINDING_CONFIRMED || !next_is_met(&w->runs))
		return;
	w->f->status = FINDING_CONFIRMED;
	w->f->reason = NULL;
}

static int note_order(struct race_work *w, const struct adhoc *a)
{
	struct rd_buf text = RD_BUF_INIT;
	struct schedule *kept;
	int err = work_keep_schedule(w, &a->schedule, &kept);

	words_adhoc(&text, &w->race, a);
	finding_note(w->set, w->f, text.data);
	w->decision.class = FINDING_SINGLE_ORDERING;
	finding_add_witness(w->set, w->f,
			    &(struct finding_witness){.class = FINDING_SINGLE_ORDERING,
						      .model = w->how->model,
						      .seen = finding_text(w->set, text.data),
						      .input = w->f->input,
						      .schedule = kept,
						      .runs = NEXT_REPLAYS + 1});
	rd_buf_release(&text);
	return err;
}

/* The class is harmful: tries to reproduce the harm.  If this fails and the race now looks
 * harmless, looks for synchronisation that fixes the order. */
static int show_harm(struct race_work *w, struct adhoc *order)
{
	int err = evidence_show(w);

	if (err || w->decision.class != FINDING_K_WITNESS_HARMLESS)
		return err;
	w->k = w->decision.k;
	return w->how->techniques.adhoc ? reach_find_order(w, order) : RD_OK;
}

static int answer(struct race_work *w, const struct adhoc *order, bool was_bad)
{
	int err = RD_OK;

	w->f->k = w->k;
	if (order->found)
		err = note_order(w, order);
	if (w->decision.class == FINDING_K_WITNESS_HARMLESS)
		note_harmless(w);
	else if (w->decision.class == FINDING_NO_CLASS && !was_bad)
		finding_note(
			w->set, w->f,
			finding_textf(w->set, "not classified: %s", next_why_none(&w->runs, &w->decision)));
	if (!next_is_bad(&w->decision))
		w->f->consequence = NULL; /* it may be what happened in a replay, for whatever reason */
	if (!err && w->decision.class != FINDING_NO_CLASS && models_is_wanted(w, w->how->model))
		finding_classify(w->f, w->how->model, w->decision.class);
	return err;
}

static int classify(struct race_work *w)
{
	struct adhoc order = {0};
	bool was_bad;
	int err = reach_race(w, &order);

	if (!err && !order.found && w->how->techniques.adhoc && next_may_pass(&w->decision, w->f))
		err = adhoc_passes(&w->bench, &w->race, &order);
	if (!err)
		err = reach_meeting(w, &order);
	w->k = w->decision.k;
	if (!err && !order.found)
		err = reach_elsewhere(w);
	if (!err && !order.found)
		inputs_follow(w);
	if (err)
		return err;
	note_mask(w);
	confirm(w);
	was_bad = next_is_bad(&w->decision);
	if (was_bad)
		err = show_harm(w, &order);
	if (!err)
		err = answer(w, &order, was_bad);
	return err ? err : models_weaken(w);
}

static void set_limits(struct race_work *w)
{
	w->limits = (struct next_limits){.schedules = w->how->techniques.schedules,
					 .control = w->how->techniques.control,
					 .models = w->how->models != 0,
					 .pairs = w->how->alternates};
}

static int open_work(struct race_work *w, const char *directory)
{
	int err;

	schedule_init(&w->lists);
	schedule_init(&w->switched);
	if (w->how->models) {
		tracks_copy(&w->tracks, w->how->tracks);
		tracks_fill(&w->tracks, NULL, &w->lists);
	}
	err = trial_open(&w->bench, &w->how->runs, directory);
	w->bench.files = true;
	w->bench.copies = true;
	w->input_text = w->race.input;
	if (!err)
		err = rd_override_parse(&w->base, w->race.input, "classify");
	return err ? err : trial_set_input(&w->bench, &w->base);
}

static void close_work(struct race_work *w)
{
	rd_override_release(&w->base);
	rd_override_release(&w->differs);
	trial_close(&w->bench);
	routes_release(&w->routes);
	routes_release(&w->elsewhere);
	schedule_release(&w->lists);
	schedule_release(&w->switched);
	unordered_release(&w->unordered);
	tracks_release(&w->tracks);
	for (size_t i = 0; i < w->made_count; i++)
		schedule_release(&w->made[i]);
	free(w->made);
	finding_set_free(w->set);
	free(w->message);
}

int work_classify(const struct classify *how, const struct finding *given, const char *directory,
		  struct rd_buf *document)
{
	struct finding f = *given;
	struct race_work w = {.how = how, .set = finding_set_new(), .f = &f};
	size_t notes;
	int err;

	RD_ASSERT(f.schedule && f.schedule->goal_count == 2);
	rd_log_set(rd_log_first, &w.message);
	run_orphans_adopt();
	set_limits(&w);
	w.race = *f.schedule;
	w.race.anywhere = false;
	finding_set_put(w.set, &f);
	finding_unclassify(&f);
	notes = f.note_count;
	err = open_work(&w, directory);
	if (!err)
		err = classify(&w);
	if (err)
		finding_note(w.set, &f,
			     finding_textf(w.set, "not classified: %s",
					   w.message ? w.message : "the program could not be run"));
	f.class_notes = f.note_count - notes;
	finding_stat(w.set, WORK_MISFITS, err == RD_EFORMAT);
	finding_stat(w.set, WORK_RUNS, (double)w.bench.runs);
	finding_stat(w.set, WORK_EDITS, w.bench.edits);
	err = finding_format(w.set, document);
	close_work(&w);
	return err ? 2 : 0;
}
