// SPDX-License-Identifier: Apache-2.0
/*
 * The class of one race.  In: a finding with a schedule that leads to it.  Out: a finding document: the
 * finding with its class, and the runs that show it.
 *
 * The orders of the two accesses are run as twins (classify/variant.h), first without a seed, then by seeds,
 * until a few more bring no new schedule.  Whatever is bad is run again, by a schedule with every decision
 * in it, before it is said.
 */
#include "classify/work.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "classify/adhoc.h"
#include "classify/again.h"
#include "classify/decide.h"
#include "classify/weaken.h"
#include "classify/paths.h"
#include "classify/input.h"
#include "classify/words.h"
#include "run/orphan.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PLAIN 2	  /* twins without a seed */
#define SURE 4	  /* twins before a fault is believed that one order has each time and no other run ever */
#define LEAST 8	  /* twins before a class is believed */
#define STALE 6	  /* twins in a row that bring no new schedule: there are hardly more */
#define ROUNDS 3  /* of explorations, while they show more that is published */
#define REPLAYS 2 /* of what is bad, before it is said */
#define UNSURE 4  /* runs in which time had a say that are made again: the machine was busy */

struct work {
	const struct classify *how;
	struct finding_set *set; /* of the answer */
	struct finding *f;
	struct schedule race;	/* its schedule, which leads both threads there; borrowed */
	struct again again;	/* other ways there */
	struct again elsewhere; /* and to other instances of it */
	struct trial_bench bench;
	struct decide_runs runs;
	size_t controls; /* runs of the control group */
	struct decision decision;
	struct tracks tracks;
	struct schedule lists; /* accesses that obey memory models, and points; empty: none */
	struct schedule *made; /* by number behind the twins: of runs of explorations; NULL: there are none */
	size_t made_from, made_count;
	char *message; /* the first error */

	/* Other inputs. */
	struct rd_override base;    /* of the schedule; empty: what was recorded */
	const char *input_text;	    /* of runs now, for their schedules; NULL: what was recorded */
	struct rd_override differs; /* with which the output differs */
	bool is_other, found_differs;
	int64_t start_ns;
	size_t most;		    /* twins; 0: as usual */
	uint64_t k;		    /* of all inputs */
	struct trial_mask own_mask; /* of the recorded input */
};

/* ---- runs ---- */

static int run_variant(struct work *w, struct decide_place p, struct trial *t, struct schedule *made)
{
	struct variant v;

	variant_make(&v, &w->race, p.group, (unsigned)p.number);
	if (w->how->models)
		weaken_variant(&v, &w->lists, "sc", 0);
	v.schedule.input = w->input_text;
	return trial_run(&w->bench, &v.schedule, t, made);
}

static int run_into(struct work *w, enum variant_group group, size_t number)
{
	return run_variant(w, (struct decide_place){group, number}, &w->runs.items[group][number], NULL);
}

/* Runs of the control group say what comes without the meeting too.  As long as all runs do the same there is
 * nothing to ask it; what was left out then is made up for when they do not. */
static int run_control_until(struct work *w, size_t wanted)
{
	int err = RD_OK;

	for (; w->how->techniques.control && w->controls < wanted && !err; w->controls++)
		err = run_into(w, VARIANT_CONTROL, w->controls);
	return err;
}

static int run_control(struct work *w)
{
	bool all = w->runs.count <= PLAIN || w->how->models || decide_differ(&w->runs);

	return all ? run_control_until(w, w->runs.count) : RD_OK;
}

static int run_twins(struct work *w, size_t number)
{
	int err = run_into(w, VARIANT_FIRST, number);

	if (!err)
		err = run_into(w, VARIANT_SECOND, number);
	w->runs.count = number + 1;
	return err ? err : run_control(w);
}

/* The first two runs that nobody leads have the same schedule: what they write differently depends on
 * something else. */
static void learn(struct work *w)
{
	const struct trial *control = w->runs.items[VARIANT_CONTROL];

	if (w->runs.count != PLAIN || !control[0].counts || !control[1].counts ||
	    control[0].trail != control[1].trail)
		return;
	trial_mask_learn(&w->bench.mask, &control[0], &control[1]);
	for (unsigned g = 0; g < VARIANT_GROUPS; g++)
		for (size_t i = 0; i < w->runs.count; i++)
			trial_digest(&w->runs.items[g][i], &w->bench.mask);
}

/* Where nobody met in the first runs, or something was in the way, nobody will. */
static bool is_hopeless(const struct work *w)
{
	if (w->runs.count && w->runs.items[VARIANT_FIRST][0].obstacle.thread)
		return true;
	for (size_t i = 0; i < w->runs.count; i++)
		if (w->runs.items[VARIANT_FIRST][i].counts || w->runs.items[VARIANT_SECOND][i].counts)
			return false;
	return w->runs.count >= PLAIN;
}

static size_t twins_wanted(const struct work *w)
{
	size_t most = w->most ? w->most : w->how->alternates ? w->how->alternates : CLASSIFY_ALTERNATES;

	return w->how->techniques.schedules && most > PLAIN ? most : PLAIN;
}

/* ---- explorations ---- */

/* One run of an exploration; those of different groups have different numbers, since they are no twins. */
static int explore_one(struct work *w, enum variant_group group, struct replay_search *search)
{
	struct variant v;

	variant_make(&v, &w->race, group, 0);
	weaken_variant(&v, &w->lists, "sc", 0);
	return trial_explore(&w->bench, &v.schedule, search, &w->runs.items[group][w->runs.count++],
			     &w->made[w->made_count++]);
}

/* What the runs have shown to be published obeys memory models from now on. */
static void add_published(struct work *w)
{
	tracks_add_published(&w->tracks, w->bench.published, w->bench.published_count);
	schedule_release(&w->lists);
	schedule_init(&w->lists);
	tracks_fill(&w->tracks, NULL, &w->lists);
}

/* Whoever goes on at the accesses that obey memory models: so what a model adds is not taken for what
 * sequential consistency has too. */
static int explore(struct work *w)
{
	size_t most = weaken_explored(w->how->runs.recorded_ns);
	int err = RD_OK;

	for (unsigned g = is_hopeless(w) ? VARIANT_CONTROL : 0; g < VARIANT_GROUPS && !err; g++) {
		struct replay_search search = {0};

		do
			err = explore_one(w, g, &search);
		while (!err && replay_search_next(&search) && search.runs < most);
		replay_search_release(&search);
	}
	return err;
}

/* The same again while that shows more that is published. */
static int explore_all(struct work *w)
{
	size_t most = weaken_explored(w->how->runs.recorded_ns), known;
	int err = RD_OK;

	w->made = rd_xcalloc(ROUNDS * VARIANT_GROUPS * most, sizeof *w->made);
	w->made_from = w->runs.count;
	for (int i = 0; i < ROUNDS && !err; i++) {
		known = w->bench.published_count;
		add_published(w);
		err = explore(w);
		if (w->bench.published_count == known)
			break;
	}
	return err;
}

/* How many runs of each group there may be. */
static size_t room(const struct work *w, size_t wanted)
{
	size_t most = weaken_explored(w->how->runs.recorded_ns);

	return wanted + (w->how->models ? ROUNDS * VARIANT_GROUPS * most : 0);
}

static int run_all(struct work *w)
{
	size_t wanted = twins_wanted(w);
	int err = RD_OK;

	w->runs.count = w->controls = 0;
	for (unsigned g = 0; g < VARIANT_GROUPS; g++)
		w->runs.items[g] = rd_arena_alloc(w->bench.arena, room(w, wanted) * sizeof *w->runs.items[g]);
	for (size_t n = 0; n < wanted && !err && !is_hopeless(w); n++) {
		err = run_twins(w, n);
		learn(w);
		if (!err && n + 1 >= SURE && decide_is_plain(&w->runs))
			break;
		if (err || n + 1 < LEAST)
			continue;
		decide(&w->runs, &w->decision);
		if (w->decision.class == FINDING_SPEC_VIOLATED || decide_stale(&w->runs) >= STALE)
			break;
	}
	if (!err && w->how->models)
		err = explore_all(w);
	decide(&w->runs, &w->decision);
	return err;
}

/* ---- evidence ---- */

static const struct trial *seen_at(const struct work *w, struct decide_place p)
{
	return &w->runs.items[p.group][p.number];
}

/* Whether a run did again what was seen. */
static bool is_again(const struct work *w, const struct trial *seen, const struct trial *again)
{
	if (!again->counts)
		return false;
	if (seen->fault || again->fault)
		return seen->fault && again->fault && !strcmp(seen->fault, again->fault);
	return w->decision.sorted ? seen->sorted_digest == again->sorted_digest
				  : seen->digest == again->digest;
}

/* Whether a run that did something else says little: time decided in it, not the schedule. */
static bool is_unsure(const struct trial *t)
{
	return t->unsure || t->end == REPLAY_HUNG || t->end == REPLAY_RAN_ON;
}

/* A run of an exploration is written down already; it is taken the first time. */
static int run_to_write_down(struct work *w, struct decide_place p, struct trial *t, struct schedule *made)
{
	if (!w->made || p.number < w->made_from) {
		schedule_release(made);
		return run_variant(w, p, t, made);
	}
	if (!made->turns) {
		schedule_release(made);
		*made = w->made[p.number - w->made_from];
		w->made[p.number - w->made_from] = (struct schedule){0};
	}
	*t = (struct trial){0};
	return made->turns ? trial_run(&w->bench, made, t, NULL) : RD_OK;
}

/* Writes down every decision of a run that did it again. */
static int write_down(struct work *w, struct decide_place p, struct schedule *made, bool *again)
{
	struct trial t;
	int err = RD_OK;

	*again = false;
	for (unsigned tries = 0; tries <= UNSURE && !err && !*again; tries++) {
		err = run_to_write_down(w, p, &t, made);
		*again = !err && is_again(w, seen_at(w, p), &t) && made->turns;
		if (!is_unsure(&t))
			break;
	}
	return err;
}

/* The schedule with every decision of a run that did it again, REPLAYS times more.  NULL: it did not. */
static int repeat(struct work *w, struct decide_place p, struct schedule **result)
{
	struct schedule *made = finding_schedule_new(w->set);
	unsigned unsure = 0;
	struct trial t;
	bool again;
	int err = write_down(w, p, made, &again);

	*result = NULL;
	w->bench.copies = false; /* as the user will run it */
	for (int i = 0; i < REPLAYS && again && !err;) {
		err = trial_run(&w->bench, made, &t, NULL);
		again = !err && is_again(w, seen_at(w, p), &t);
		if (again || !is_unsure(&t) || unsure++ == UNSURE)
			i++;
		else
			again = true; /* it says little: once more */
	}
	w->bench.copies = true;
	if (again)
		*result = made;
	return err;
}

static const char *consequence_of(const struct work *w)
{
	const struct decision *d = &w->decision;
	const struct trial *shows = seen_at(w, d->shows), *other = seen_at(w, d->other);

	if (shows->fault)
		return shows->fault;
	return d->has_other && shows->status != other->status ? "exit-status" : "output";
}

/* The input of runs now, as JSON. */
static const char *input_json(struct work *w)
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

static void add_witness(struct work *w, struct decide_place p, struct schedule *s, const char *seen)
{
	struct finding_witness witness = {.class = w->decision.class,
					  .model = w->how->model,
					  .consequence = consequence_of(w),
					  .seen = seen,
					  .input = input_json(w),
					  .schedule = s,
					  .runs = REPLAYS + 2};

	if (p.group != w->decision.shows.group || p.number != w->decision.shows.number) {
		witness.class = FINDING_NO_CLASS;
		witness.consequence = NULL;
	}
	finding_add_witness(w->set, w->f, &witness);
}

static void say_seen(struct work *w, const char *text)
{
	finding_note(w->set, w->f, text);
	w->f->consequence = finding_text(w->set, consequence_of(w));
}

/* What is bad is said only if it comes again: *shown; if not, *lost is a run that does not. */
static int show(struct work *w, bool *shown, struct decide_place *lost)
{
	const struct decision *d = &w->decision;
	struct schedule *shows = NULL, *other = NULL;
	struct rd_buf text = RD_BUF_INIT;
	int err = repeat(w, d->shows, &shows);

	if (!err && shows && d->class == FINDING_OUTPUT_DIFFERS)
		err = repeat(w, d->other, &other);
	*shown = !err && shows && (other || d->class != FINDING_OUTPUT_DIFFERS);
	*lost = shows ? d->other : d->shows;
	if (*shown) {
		words_seen(&text, &w->race, &w->runs, d, &w->bench.mask);
		add_witness(w, d->shows, shows, finding_text(w->set, text.data));
		if (other)
			add_witness(w, d->other, other, "the other output");
		say_seen(w, text.data);
	}
	rd_buf_release(&text);
	return err;
}

/* ---- the class ---- */

static const char *why_none(const struct work *w)
{
	for (size_t i = 0; i < w->runs.count; i++)
		for (unsigned g = VARIANT_FIRST; g <= VARIANT_SECOND; g++)
			if (w->runs.items[g][i].why)
				return w->runs.items[g][i].why;
	return "no run came to the race";
}

static void say_harmless(struct work *w)
{
	const struct decision *d = &w->decision;

	finding_note(w->set, w->f,
		     finding_textf(w->set,
				   "both orders ended the same with the same output, in %" PRIu64
				   " schedules after the race, for %s",
				   w->k,
				   w->is_other ? "the inputs that are listed" : "the recorded input only"));
	if (d->noise)
		finding_note(
			w->set, w->f,
			"what the program writes, or how it ends, depends on the schedule, but not on the "
			"order of these two accesses");
}

static void say_mask(struct work *w)
{
	if (w->bench.mask.any)
		finding_note(w->set, w->f,
			     "lines of the output that differ between runs of the same schedule were not "
			     "compared");
}

static bool is_met(const struct work *w)
{
	for (size_t i = 0; i < w->runs.count; i++)
		for (unsigned g = VARIANT_FIRST; g <= VARIANT_SECOND; g++)
			if (w->runs.items[g][i].outcome == REPLAY_CONFIRMED && w->runs.items[g][i].end_text)
				return true;
	return false;
}

/* Two threads that stood at their accesses are the proof that the race is one. */
static void confirm(struct work *w)
{
	if (w->f->status == FINDING_CONFIRMED || !is_met(w))
		return;
	w->f->status = FINDING_CONFIRMED;
	w->f->reason = NULL;
}

/* ---- one order ---- */

/* A run that was led to both accesses and did not come there. */
static const struct trial *find_apart(const struct work *w)
{
	for (size_t i = 0; i < w->runs.count; i++)
		for (unsigned g = VARIANT_FIRST; g <= VARIANT_SECOND; g++)
			if (w->runs.items[g][i].obstacle.thread)
				return &w->runs.items[g][i];
	return NULL;
}

/* Whether the threads have stood at their accesses together: then both orders are possible, whatever keeps
 * them apart on the way that is gone now. */
static bool has_met(const struct work *w)
{
	return w->f->status == FINDING_CONFIRMED && !w->f->observed && !w->f->recorded;
}

static int look_for_order(struct work *w, struct adhoc *a)
{
	const struct trial *apart = find_apart(w);

	if (w->decision.class == FINDING_K_WITNESS_HARMLESS)
		return adhoc_flag(&w->bench, &w->race, a);
	if (w->decision.class == FINDING_NO_CLASS && apart && !has_met(w))
		return adhoc_apart(&w->bench, &w->race, apart, a);
	return RD_OK;
}

/* ---- other ways to the race ---- */

static bool is_bad(const struct work *w)
{
	return w->decision.class == FINDING_SPEC_VIOLATED || w->decision.class == FINDING_OUTPUT_DIFFERS;
}

#define OTHER_SEEDS 3 /* of runs that show where the threads come to the race */

static bool is_of_race(const struct work *w, const char *thread)
{
	return thread &&
	       (!strcmp(w->race.goals[0].thread, thread) || !strcmp(w->race.goals[1].thread, thread));
}

/* Whether the threads meet on this way.  What keeps one of them from its access while the other stands at its
 * own may not be there yet when that one goes in front: who reads under a lock of sequences waits only for
 * a writer that has begun. */
static int try_way(struct work *w, struct trial *t)
{
	struct trial again;
	int err = run_variant(w, (struct decide_place){VARIANT_FIRST, 0}, t, NULL);

	if (err || t->counts || w->race.front || !is_of_race(w, t->obstacle.thread))
		return err;
	w->race.front = t->obstacle.thread;
	err = run_variant(w, (struct decide_place){VARIANT_FIRST, 0}, &again, NULL);
	if (!err && again.counts)
		*t = again;
	else
		w->race.front = NULL;
	return err;
}

static int run_from_anew(struct work *w)
{
	w->bench.mask = (struct trial_mask){0};
	return run_all(w);
}

/* The runs of the way that is known now, and what keeps an order there. */
static int go_this_way(struct work *w, struct adhoc *order)
{
	struct trial t;
	int err = run_from_anew(w);

	if (!err && w->decision.class == FINDING_NO_CLASS && find_apart(w)) {
		err = try_way(w, &t);
		if (!err && t.counts)
			err = run_from_anew(w);
	}
	if (!err && w->how->techniques.adhoc)
		err = look_for_order(w, order);
	return err;
}

static bool is_decided(const struct work *w, const struct adhoc *order)
{
	return order->found || w->decision.class != FINDING_NO_CLASS;
}

/* Only the two accesses are left of the way that was predicted. */
static void lead_to(struct work *w, struct schedule_goal goals[2])
{
	w->race.goals = goals;
	w->race.op_count = w->race.limit_count = w->race.watch_count = w->race.decision_count = 0;
	w->race.turns = w->race.anywhere = w->race.nowhere = false;
	w->race.first = w->race.front = NULL;
}

/* The first of the other ways on which the threads meet; failing that, one on which something keeps them
 * apart, unless they are known to have met. */
static int try_ways(struct work *w, struct adhoc *order)
{
	size_t apart = w->again.count;
	struct trial t;
	int err = RD_OK;

	for (size_t i = 0; i < w->again.count && !err; i++) {
		lead_to(w, w->again.goals[i]);
		err = try_way(w, &t);
		if (!err && t.counts)
			err = go_this_way(w, order);
		if (!err && t.counts && is_decided(w, order))
			return RD_OK;
		if (!err && t.obstacle.thread && apart == w->again.count)
			apart = i;
	}
	if (err || apart == w->again.count || has_met(w))
		return err;
	lead_to(w, w->again.goals[apart]);
	return go_this_way(w, order);
}

static int lead_again(struct work *w, struct adhoc *order)
{
	struct schedule predicted = w->race;
	int err = RD_OK;

	for (uint64_t seed = 0; seed < OTHER_SEEDS && !err && !is_decided(w, order); seed++) {
		again_release(&w->again);
		err = again_find(&w->again, &w->bench, &predicted, seed);
		if (!err)
			err = try_ways(w, order);
	}
	if (err || !is_decided(w, order))
		w->race = predicted;
	return err;
}

/* Threads that met somewhere else are looked for where they come in turns; the others are where the
 * prediction saw them, unless the program comes there by another way in this flavour. */
static int lead_there(struct work *w, struct adhoc *order)
{
	bool elsewhere = w->f->schedule->anywhere;
	int err = elsewhere ? lead_again(w, order) : RD_OK;

	if (!err && !is_decided(w, order))
		err = go_this_way(w, order);
	if (!err && !elsewhere && !is_decided(w, order))
		err = lead_again(w, order);
	return err;
}

/* ---- other instances of the race ---- */

/* What was seen of a race on one way. */
struct outcome {
	struct schedule race;
	struct decide_runs runs;
	struct decision decision;
	struct trial_mask mask;
};

static void take_back(struct work *w, const struct outcome *o)
{
	w->race = o->race;
	w->runs = o->runs;
	w->decision = o->decision;
	w->bench.mask = o->mask;
}

/* The runs of one instance, if the threads meet there. */
static int try_instance(struct work *w, struct schedule_goal goals[2])
{
	struct trial t;
	int err;

	lead_to(w, goals);
	err = run_variant(w, (struct decide_place){VARIANT_FIRST, 0}, &t, NULL);
	return err || !t.counts ? err : run_all(w);
}

/* A race that makes no difference where it was met may make one elsewhere: with the write of x += 1 instead
 * of its read, or in a later round of a loop.  That is worth some runs if the program does differ. */
static int look_elsewhere(struct work *w)
{
	struct outcome first = {w->race, w->runs, w->decision, w->bench.mask};
	int err;

	if (w->decision.class != FINDING_K_WITNESS_HARMLESS || w->how->models)
		return RD_OK;
	err = run_control_until(w, w->runs.count < LEAST ? w->runs.count : LEAST);
	if (err || !decide_differ(&w->runs))
		return err;
	err = again_find_others(&w->elsewhere, &w->bench, &first.race);
	for (size_t i = 0; i < w->elsewhere.count && !err && !is_bad(w); i++)
		err = try_instance(w, w->elsewhere.goals[i]);
	if (err || !is_bad(w))
		take_back(w, &first);
	return err;
}

/* A copy that the set owns. */
static int keep_schedule(struct work *w, const struct schedule *s, struct schedule **kept)
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

static int say_order(struct work *w, const struct adhoc *a)
{
	struct rd_buf text = RD_BUF_INIT;
	struct schedule *kept;
	int err = keep_schedule(w, &a->schedule, &kept);

	words_adhoc(&text, &w->race, a);
	finding_note(w->set, w->f, text.data);
	w->decision.class = FINDING_SINGLE_ORDERING;
	finding_add_witness(w->set, w->f,
			    &(struct finding_witness){.class = FINDING_SINGLE_ORDERING,
						      .model = w->how->model,
						      .seen = finding_text(w->set, text.data),
						      .input = w->f->input,
						      .schedule = kept,
						      .runs = REPLAYS + 1});
	rd_buf_release(&text);
	return err;
}

/* ---- memory models ---- */

static bool is_wanted(const struct work *w, enum finding_model model)
{
	return w->how->models ? w->how->models >> model & 1 : model == w->how->model;
}

static const char *memory_name(const struct work *w, enum finding_model model)
{
	return model == FINDING_WEAK && w->how->coherent ? "coherent" : finding_model_name(model);
}

static const char *shown_by(struct work *w, const struct weakened *r, const char *memory)
{
	struct rd_buf text = RD_BUF_INIT;
	const char *copy;

	rd_buf_addf(&text, "under the memory model %s, ", memory);
	words_weakened(&text, &w->race, &w->runs, r, &w->bench.mask);
	copy = finding_text(w->set, text.data);
	rd_buf_release(&text);
	return copy;
}

static int add_weakened(struct work *w, enum finding_model model, const struct weakened *r)
{
	const char *seen = shown_by(w, r, memory_name(w, model));
	const char *consequence = r->shows.fault ? r->shows.fault : "output";
	struct schedule *kept;
	int err = keep_schedule(w, &r->schedule, &kept);

	finding_note(w->set, w->f, seen);
	if (finding_worse(r->class, w->f->class) == r->class && r->class != w->f->class)
		w->f->consequence = finding_text(w->set, consequence);
	finding_add_witness(w->set, w->f,
			    &(struct finding_witness){.class = r->class,
						      .model = model,
						      .consequence = consequence,
						      .seen = seen,
						      .input = w->f->input,
						      .schedule = kept,
						      .runs = REPLAYS + 1});
	return err;
}

static void say_same(struct work *w, const char *memory, const struct weakened *r)
{
	finding_note(
		w->set, w->f,
		finding_textf(w->set,
			      "under the memory model %s, %" PRIu64
			      " executions that sequential consistency does not have showed nothing else%s%s",
			      memory, r->k, r->elsewhere ? " that needs the memory of this race" : "",
			      r->lost ? " that came again" : ""));
}

/* Each execution under sequential consistency is one under the model too, so nothing gets better. */
static int weaken_one(struct work *w, enum finding_model model)
{
	struct weaken how = {.bench = &w->bench,
			     .race = &w->race,
			     .object = w->f->object.name,
			     .usual = &w->runs,
			     .tracks = &w->tracks,
			     .memory = memory_name(w, model),
			     .most = twins_wanted(w),
			     .replays = REPLAYS};
	struct weakened result = {0};
	enum finding_class class = w->decision.class;
	int err = class == FINDING_SPEC_VIOLATED ? RD_OK : weaken(&how, &result);

	if (!err && result.over)
		finding_note(w->set, w->f,
			     finding_textf(w->set, "the memory model %s was left in some runs: %s",
					   how.memory, result.over));
	if (!err && result.class != FINDING_NO_CLASS && finding_worse(result.class, class) == result.class &&
	    result.class != class) {
		err = add_weakened(w, model, &result);
		class = result.class;
	} else if (!err && class != FINDING_SPEC_VIOLATED && class != FINDING_NO_CLASS) {
		say_same(w, how.memory, &result);
	}
	if (!err && class != FINDING_NO_CLASS)
		finding_classify(w->f, model, class);
	schedule_release(&result.schedule);
	return err;
}

/* A race without a class under sequential consistency gets one if something new shows. */
static int weaken_all(struct work *w)
{
	int err = RD_OK;

	if (!w->how->models)
		return RD_OK;
	add_published(w);
	for (unsigned m = FINDING_TSO; m < FINDING_MODELS && !err; m++)
		if (is_wanted(w, m))
			err = weaken_one(w, m);
	return err;
}

/* ---- other inputs ---- */

#define OTHER_TWINS 4 /* of another input, before something bad is seen with it */

/* The runs of one input: few, and as many as of the first one if they show something. */
static int run_input(struct work *w, const struct rd_override *given)
{
	struct rd_buf text = RD_BUF_INIT;
	int err;

	rd_override_format(given, &text);
	w->input_text = given->count ? finding_text(w->set, text.data) : NULL;
	rd_buf_release(&text);
	w->bench.mask = (struct trial_mask){0};
	w->most = OTHER_TWINS;
	err = run_all(w);
	w->most = 0;
	if (!err && is_bad(w)) {
		w->bench.mask = (struct trial_mask){0};
		err = run_all(w);
	}
	return err;
}

static int look_at_input(void *context, const struct rd_override *given, bool *bad)
{
	struct work *w = context;
	int err = run_input(w, given);

	w->is_other = true;
	if (err)
		return err;
	*bad = w->decision.class == FINDING_SPEC_VIOLATED;
	if (w->decision.class == FINDING_OUTPUT_DIFFERS && !w->found_differs) {
		w->found_differs = true;
		rd_override_copy(&w->differs, given);
	}
	if (w->decision.class == FINDING_K_WITNESS_HARMLESS)
		w->k += w->decision.k;
	return RD_OK;
}

/* Memory models are tried with the recorded input only. */
static bool goes_on(const struct work *w)
{
	return w->how->techniques.paths && w->how->paths != 1 && !w->how->models &&
	       (w->decision.class == FINDING_K_WITNESS_HARMLESS ||
		w->decision.class == FINDING_OUTPUT_DIFFERS);
}

static void say_lost(struct work *w, const struct paths *p)
{
	for (unsigned i = 0; i < RADDLE_LOSSES; i++)
		if (p->lost[i])
			finding_note(w->set, w->f,
				     finding_textf(w->set, "not followed: %s", sym_loss_text[i]));
	if (p->no_solver)
		finding_note(w->set, w->f,
			     "other inputs were not tried: the solver, libz3.so.4, cannot be loaded");
	if (p->unknown)
		finding_note(w->set, w->f,
			     finding_textf(w->set,
					   "%" PRIu64 " of %" PRIu64
					   " questions about other inputs had no answer in their time",
					   p->unknown, p->queries));
	if (p->equal && p->depends && w->decision.class == FINDING_K_WITNESS_HARMLESS)
		finding_note(
			w->set, w->f,
			finding_textf(
				w->set,
				"of %u of the %u paths both orders write the same for every input that goes "
				"this way, as far as it was followed",
				p->equal, p->primaries));
	if (p->cut)
		finding_note(w->set, w->f, "more branches depend on input than were tried");
}

/* What each path says about the input. */
static void say_covered(struct work *w, const struct paths *p)
{
	const char *line = p->covered.data, *end;

	if (!p->depends || w->decision.class != FINDING_K_WITNESS_HARMLESS)
		return;
	for (; (end = strchr(line, '\n')); line = end + 1)
		finding_note(w->set, w->f, finding_textf(w->set, "covered: %.*s", (int)(end - line), line));
}

/* What was seen with the recorded input counts again. */
static int settle_inputs(struct work *w, const struct paths *p, const struct decide_runs *runs,
			 const struct decision *decision)
{
	int err = RD_OK;

	if (p->primaries > 1 && w->decision.class == FINDING_SPEC_VIOLATED && w->input_text)
		return RD_OK;
	if (w->found_differs && decision->class != FINDING_OUTPUT_DIFFERS) {
		err = trial_set_input(&w->bench, &w->differs);
		return err ? err : run_input(w, &w->differs);
	}
	w->runs = *runs;
	w->decision = *decision;
	w->input_text = w->race.input;
	w->bench.mask = w->own_mask;
	return trial_set_input(&w->bench, &w->base);
}

/* Inputs are looked for as long as the first one took several times over, at least some seconds: most
 * programs need a fraction of that. */
#define PATHS_TIMES 4
#define PATHS_LEAST_NS 10000000000ll
#define BUILD_NS 120000000000ll /* that making the flavour may take */

static int explore_inputs(struct work *w, const struct replay_program *shadow)
{
	static const struct sym_selection any;
	struct decide_runs runs = w->runs;
	struct decision decision = w->decision;
	struct paths p = {.bench = &w->bench,
			  .race = &w->race,
			  .shadow = shadow,
			  .wishes = w->how->sym ? w->how->sym : &any,
			  .base = &w->base,
			  .most = w->how->paths ? w->how->paths : CLASSIFY_PATHS,
			  .analyse = look_at_input,
			  .context = w};
	int64_t taken = PATHS_TIMES * (rd_now_ns() - w->start_ns);
	int err;

	p.end_ns = rd_now_ns() + (taken > PATHS_LEAST_NS ? taken : PATHS_LEAST_NS);

	w->own_mask = w->bench.mask;
	err = paths_explore(&p);
	if (err)
		w->decision.class = FINDING_NO_CLASS;
	if (settle_inputs(w, &p, &runs, &decision))
		err = RD_ESYSTEM;
	say_lost(w, &p);
	say_covered(w, &p);
	finding_stat(w->set, "paths", p.primaries);
	finding_stat(w->set, "solver_seconds", p.solver_seconds);
	paths_release(&p);
	return err;
}

/* The flavour is made when a race needs it.  Without it the class is for the recorded input. */
static int open_and_explore(struct work *w)
{
	struct run_program program = {.kind = "shadow"};
	struct replay_program shadow = {.program = &program, .argv = w->how->runs.program->argv};
	struct run_build how = w->how->runs.program->program->how;
	struct trace_sites *sites = NULL;
	int err;

	how.edits = w->how->runs.program->program->edits;
	how.end_ns = rd_now_ns() + BUILD_NS;
	err = run_program_open(&program, w->how->runs.program->program->path, &how);
	if (!err)
		err = trace_sites_read(&sites, program.flavour.sites);
	shadow.sites = sites;
	if (!err)
		err = explore_inputs(w, &shadow);
	trace_sites_free(sites);
	run_program_close(&program);
	return err;
}

/* What cannot be followed leaves the class that the recorded input has. */
static void follow_input(struct work *w)
{
	if (!open_and_explore(w))
		return;
	finding_note(w->set, w->f,
		     finding_textf(w->set, "other inputs were not tried: %s",
				   w->message ? w->message : "the program could not be run"));
	free(w->message);
	w->message = NULL;
}

/* A run whose output does not come again is none to build on: the others decide.  A fault that was seen and
 * does not come again leaves the race without a class, since it is not harmless either. */
#define UNSHOWN 4
static int show_again(struct work *w)
{
	struct decide_place lost;
	bool shown = false, fault = false;
	int err = RD_OK;

	for (int i = 0; i < UNSHOWN && !err && !shown && is_bad(w); i++) {
		err = show(w, &shown, &lost);
		if (err || shown)
			break;
		fault |= seen_at(w, lost)->fault != NULL;
		w->runs.items[lost.group][lost.number].counts = false;
		decide(&w->runs, &w->decision);
	}
	if (err || shown)
		return err;
	if (fault || w->decision.class != FINDING_K_WITNESS_HARMLESS) {
		finding_note(w->set, w->f, "not classified: what a run showed did not come again");
		w->decision.class = FINDING_NO_CLASS;
	} else {
		finding_note(w->set, w->f, "outputs that did not come again were not counted");
	}
	return err;
}

static int classify(struct work *w)
{
	struct adhoc order = {0};
	bool was_bad;
	int err = lead_there(w, &order);

	w->k = w->decision.k;
	if (!err && !order.found)
		err = look_elsewhere(w);
	if (!err && !order.found && goes_on(w))
		follow_input(w);
	if (err)
		return err;
	say_mask(w);
	confirm(w);
	was_bad = is_bad(w);
	if (was_bad)
		err = show_again(w);
	if (!err && was_bad && w->decision.class == FINDING_K_WITNESS_HARMLESS) {
		w->k = w->decision.k;
		err = w->how->techniques.adhoc ? look_for_order(w, &order) : RD_OK;
	}
	w->f->k = w->k;
	if (!err && order.found)
		err = say_order(w, &order);
	if (w->decision.class == FINDING_K_WITNESS_HARMLESS)
		say_harmless(w);
	else if (w->decision.class == FINDING_NO_CLASS && !was_bad)
		finding_note(w->set, w->f, finding_textf(w->set, "not classified: %s", why_none(w)));
	if (!is_bad(w) && w->decision.class != FINDING_NO_CLASS)
		w->f->consequence = NULL;
	if (!err && w->decision.class != FINDING_NO_CLASS && is_wanted(w, w->how->model))
		finding_classify(w->f, w->how->model, w->decision.class);
	return err ? err : weaken_all(w);
}

int work_classify(const struct classify *how, const struct finding *given, const char *directory,
		  struct rd_buf *answer)
{
	struct finding f = *given;
	struct work w = {.how = how, .set = finding_set_new(), .f = &f, .start_ns = rd_now_ns()};
	int err;

	rd_log_set(rd_log_first, &w.message);
	run_orphans_adopt();
	w.race = *f.schedule;
	w.race.anywhere = false;
	finding_set_put(w.set, &f);
	finding_unclassify(&f);
	schedule_init(&w.lists);
	if (how->models) {
		tracks_copy(&w.tracks, how->tracks);
		tracks_fill(&w.tracks, NULL, &w.lists);
	}
	err = trial_open(&w.bench, &how->runs, directory);
	w.bench.copies = true;
	w.input_text = w.race.input;
	if (!err)
		err = rd_override_parse(&w.base, w.race.input, "classify");
	if (!err)
		err = trial_set_input(&w.bench, &w.base);
	if (!err)
		err = classify(&w);
	if (err)
		finding_note(w.set, &f,
			     finding_textf(w.set, "not classified: %s",
					   w.message ? w.message : "the program could not be run"));
	finding_stat(w.set, WORK_RUNS, (double)w.bench.runs);
	finding_stat(w.set, WORK_EDITS, w.bench.edits);
	err = finding_format(w.set, answer);
	rd_override_release(&w.base);
	rd_override_release(&w.differs);
	trial_close(&w.bench);
	again_release(&w.again);
	again_release(&w.elsewhere);
	schedule_release(&w.lists);
	tracks_release(&w.tracks);
	for (size_t i = 0; i < w.made_count; i++)
		schedule_release(&w.made[i]);
	free(w.made);
	finding_set_free(w.set);
	free(w.message);
	return err ? 2 : 0;
}
