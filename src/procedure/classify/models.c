// SPDX-License-Identifier: Apache-2.0
/*
 * Memory models.  In: a race and its runs under sequential consistency.  Out: its class under each
 * weaker model that the user requested.
 */
#include "base/alloc.h"
#include "base/error.h"
#include "classify/words-int.h"
#include "classify/work-int.h"

#include <inttypes.h>
#include <stdlib.h>

/* Maximum number of explorations.  Another exploration follows if the last one found further
 * published stores (tracks-int.h).  No test needs a third one. */
#define ROUNDS 3

/* ---- explorations under sequential consistency ---- */

/* Makes one run of an exploration.  Runs of different groups get different numbers, since they are
 * not twins. */
static int explore_one(struct race_work *w, enum variant_group group, struct replay_search *search)
{
	struct variant v;

	RD_ASSERT(w->made_count < models_room(w));
	variant_make(&v, &w->race, group, 0);
	weaken_variant(&v, &w->lists, "sc", 0);
	return trial_explore(&w->bench, &v.schedule, search, &w->runs.items[group][w->runs.count++],
			     &w->made[w->made_count++]);
}

/* Adds stores that runs have shown to be published (tracks-int.h) to the accesses that are executed
 * under memory models. */
static void add_published(struct race_work *w)
{
	tracks_add_published(&w->tracks, w->bench.published, w->bench.published_count);
	schedule_release(&w->lists);
	schedule_init(&w->lists);
	tracks_fill(&w->tracks, NULL, &w->lists);
}

/* Explores schedules under sequential consistency, switching threads at the accesses that weaker
 * models affect.  This way, effects that sequential consistency also allows are not attributed to a
 * weaker model. */
static int explore(struct race_work *w)
{
	int err = RD_OK;

	for (unsigned g = next_is_hopeless(&w->runs) ? VARIANT_CONTROL : 0; g < VARIANT_GROUPS && !err; g++) {
		struct replay_search search = {0};

		do
			err = explore_one(w, g, &search);
		while (!err && replay_search_next(&search) && !weaken_has_explored(&search, g));
		replay_search_release(&search);
	}
	return err;
}

/* Releases the schedules of explored runs.  They reach the race by one way and cannot be used for
 * another. */
static void release_made(struct race_work *w)
{
	for (size_t i = 0; i < w->made_count; i++)
		schedule_release(&w->made[i]);
	free(w->made);
	w->made = NULL;
	w->made_count = 0;
}

/* Repeats the exploration as long as it finds more published stores, but at most ROUNDS times. */
int models_explore(struct race_work *w)
{
	size_t known;
	int err = RD_OK;

	release_made(w);
	w->made = rd_xcalloc(models_room(w), sizeof *w->made);
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

size_t models_room(const struct race_work *w)
{
	return w->how->models ? ROUNDS * ((VARIANT_GROUPS - 1) * WEAKEN_EXPLORED_LED + WEAKEN_EXPLORED) : 0;
}

/* ---- weaker models ---- */

bool models_is_wanted(const struct race_work *w, enum finding_model model)
{
	return w->how->models ? w->how->models >> model & 1 : model == w->how->model;
}

static const char *memory_name(const struct race_work *w, enum finding_model model)
{
	return model == FINDING_WEAK && w->how->coherent ? "coherent" : finding_model_name(model);
}

static const char *describe_weakened(struct race_work *w, const struct weakened *r, const char *memory)
{
	struct rd_buf text = RD_BUF_INIT;
	const char *copy;

	rd_buf_addf(&text, "under the memory model %s, ", memory);
	words_weakened(&text, &w->race, &w->runs, r, &w->bench.mask);
	copy = finding_text(w->set, text.data);
	rd_buf_release(&text);
	return copy;
}

static int add_weakened(struct race_work *w, enum finding_model model, const struct weakened *r)
{
	const char *seen = describe_weakened(w, r, memory_name(w, model));
	const char *consequence = r->shows.fault ? r->shows.fault : "output";
	struct schedule *kept;
	int err = work_keep_schedule(w, &r->schedule, &kept);

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
						      .runs = NEXT_REPLAYS + 1});
	return err;
}

static void note_same(struct race_work *w, const char *memory, const struct weakened *r)
{
	finding_note(
		w->set, w->f,
		finding_textf(w->set,
			      "under the memory model %s, %" PRIu64
			      " executions that sequential consistency does not allow showed nothing new%s%s",
			      memory, r->k, r->elsewhere ? " that needs the memory of this race" : "",
			      r->lost ? " that could be reproduced" : ""));
}

/* Determines the class under one model.  Each execution under sequential consistency is also
 * possible under the model, so the class cannot get better. */
static int weaken_one(struct race_work *w, enum finding_model model)
{
	struct weaken how = {.bench = &w->bench,
			     .race = &w->race,
			     .object = w->f->object.name,
			     .usual = &w->runs,
			     .tracks = &w->tracks,
			     .memory = memory_name(w, model),
			     .most = next_pairs(&w->limits),
			     .replays = NEXT_REPLAYS};
	struct weakened result = {0};
	enum finding_class class = w->decision.class;
	int err = class == FINDING_SPEC_VIOLATED ? RD_OK : weaken(&how, &result);

	if (!err && result.over)
		finding_note(w->set, w->f,
			     finding_textf(w->set, "some runs left the memory model %s early: %s", how.memory,
					   result.over));
	if (!err && result.class != FINDING_NO_CLASS && finding_worse(result.class, class) == result.class &&
	    result.class != class) {
		err = add_weakened(w, model, &result);
		class = result.class;
	} else if (!err && class != FINDING_SPEC_VIOLATED && class != FINDING_NO_CLASS) {
		note_same(w, how.memory, &result);
	}
	if (!err && class != FINDING_NO_CLASS)
		finding_classify(w->f, model, class);
	schedule_release(&result.schedule);
	return err;
}

/* A race without a class under sequential consistency gets one if a weaker model shows something
 * new. */
int models_weaken(struct race_work *w)
{
	int err = RD_OK;

	if (!w->how->models)
		return RD_OK;
	add_published(w);
	for (unsigned m = FINDING_TSO; m < FINDING_MODELS && !err; m++)
		if (models_is_wanted(w, m))
			err = weaken_one(w, m);
	return err;
}
