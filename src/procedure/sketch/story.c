// SPDX-License-Identifier: Apache-2.0
/*
 * Makes the runs of a story (story.h).  In: a finding whose schedule decides every turn.  Out: steps.
 *
 * The first run is not stopped; it shows how long the run is.  The second run stops where the finding
 * says that something happens, and so learns the addresses of the memory that matters.  The third run
 * stops at each access of these addresses, by any thread.  All follow the same schedule.  Watched accesses
 * that are no points of the schedule do not change it, because a decision names its point by the operations
 * of its thread.
 *
 * Invariants:
 * 1. Each value was read from the memory of the stopped program at that step.
 * 2. A story is kept only if its run ended as the finding says.
 */
#include "sketch/story.h"
#include "sketch/story-int.h"

#include "base/alloc.h"
#include "base/context.h"
#include "base/error.h"
#include "explore/explore.h"
#include "finding/bug.h"
#include "finding/schedule.h"
#include "sketch/turns-int.h"

#include <stdlib.h>
#include <string.h>

/* All numbers were chosen by hand: a story has to fit on a screen, and its runs have to be short. */
/* Bugs that get a story.  A story takes three runs, and hardly anybody reads more pages at a time. */
#define STORIES_MOST 10
/* Points at which all stories together may stop the program.  A stop takes about 0.1 ms of CPU time, so
 * this is half a second. */
#define POINTS_MOST 5000
#define SITES_MOST 64 /* accesses at which the first run stops */
#define FRAMES 16     /* inlined calls around an access that are examined */

struct story {
	struct sketch_turns turns;
	struct sketch_runs runs;
	struct judge judge;
	const struct schedule *schedule;
	struct finding_set *set;
	struct finding *f;
	const char *names[TURNS_THREADS];
	struct story_memory memory;
};

/* ---- runs ---- */

/* Returns the schedule whose run shows the finding, or NULL if it does not decide every turn.  If two
 * threads are led to a race, the program cannot be stopped before they have met. */
static const struct schedule *schedule_of(const struct finding *f)
{
	const struct schedule *s = f->witness_count ? f->witnesses[0].schedule : f->schedule;

	return s && s->turns && !s->goal_count && !s->memory &&
			       (!s->flavour || !strcmp(s->flavour, EXPLORE_FLAVOUR))
		       ? s
		       : NULL;
}

static struct schedule_watch *add_watch(struct schedule *s)
{
	struct schedule_watch *w = schedule_add_watch(s);

	w->reads = w->writes = true;
	w->stand = true;
	return w;
}

/* Returns true if the site, or a call that was inlined around it, is at a place of the finding. */
static bool is_site(const struct story *t, uint32_t site)
{
	struct trace_frame frames[FRAMES];
	size_t count = trace_sites_frames(t->turns.sites, site, frames, FRAMES);

	for (size_t i = 0; i < count && i < FRAMES; i++)
		if (story_is_place(t->f, frames[i].file, frames[i].line))
			return true;
	return false;
}

/* Stops at all accesses in the lines of the finding. */
static void watch_places(struct story *t, struct schedule *s)
{
	const struct trace_sites *sites = t->turns.sites;
	size_t watched = 0;

	for (size_t u = 0; u < sites->unit_count; u++)
		for (size_t i = 0; i < sites->units[u].site_count && watched < SITES_MOST; i++) {
			const struct trace_site *site = &sites->sites[sites->units[u].site + i];
			uint32_t number = trace_sites_number(sites, u, site);

			if (!trace_site_accesses(site) || !is_site(t, number))
				continue;
			add_watch(s)->site = number;
			watched++;
		}
}

static void watch_addresses(const struct story *t, struct schedule *s)
{
	for (size_t i = 0; i < t->memory.count; i++) {
		struct schedule_watch *w = add_watch(s);

		w->address = t->memory.addresses[i];
		w->bytes = 1;
	}
}

/* Returns true if a run failed in the same way as the finding. */
static bool is_same_failure(const struct finding *f, enum sketch_outcome outcome)
{
	bool fails = f->kind != FINDING_RACE || f->class == FINDING_SPEC_VIOLATED;
	const char *c = f->consequence ? f->consequence : "";
	bool waits = f->kind == FINDING_DEADLOCK || !strcmp(c, "deadlock") || !strcmp(c, "hang");

	if ((outcome != SKETCH_PASSED) != fails)
		return false;
	return (outcome == SKETCH_HANG) == waits && (outcome == SKETCH_ASSERTION) == !strcmp(c, "assertion");
}

/* What a run of a story is for. */
enum look { LOOK_LENGTH, LOOK_PLACES, LOOK_ADDRESSES };

/* Makes a run and returns it, or NULL if it did not end as the finding says. */
static struct sketch_run *make_run(struct story *t, enum look look)
{
	struct sketch_failure failure = {0};
	struct sketch_run *run = NULL;
	const char *why = NULL;
	struct schedule s = {0};

	schedule_copy(&s, t->schedule);
	s.notes = true;
	s.looks = look != LOOK_LENGTH;
	t->turns.blind = look == LOOK_LENGTH;
	if (look == LOOK_ADDRESSES)
		watch_addresses(t, &s);
	if (look == LOOK_PLACES)
		watch_places(t, &s);
	if (!turns_follow(&t->turns, &s, &(struct turns_order){TURNS_WATCH, NULL, NULL}, 1, &failure, &why) &&
	    !why && is_same_failure(t->f, failure.kind) && t->runs.count)
		run = &t->runs.items[t->runs.count - 1];
	sketch_failure_release(&failure);
	schedule_release(&s);
	return run;
}

/* ---- stories ---- */

static void tell(struct story *t, uint64_t *points)
{
	const struct sketch_run *run = make_run(t, LOOK_LENGTH);

	if (!run || t->turns.extent > *points)
		return;
	*points -= t->turns.extent;
	run = make_run(t, LOOK_PLACES);
	if (run)
		story_learn(&t->memory, t->f, &t->runs, run);
	run = t->memory.count ? make_run(t, LOOK_ADDRESSES) : NULL;
	if (run)
		story_steps(&t->memory, &t->runs, run, t->names, t->set, t->f);
}

/* Tells the story of a finding.  If its run has more than *points points, it is left out; otherwise
 * *points decreases by their number. */
static int tell_one(const struct replay_conditions *runs, struct finding_set *set, struct finding *f,
		    uint64_t *points)
{
	struct story t = {.schedule = schedule_of(f), .set = set, .f = f};
	int err;

	if (!t.schedule || f->status != FINDING_CONFIRMED)
		return RD_OK;
	t.turns = (struct sketch_turns){
		.runs = &t.runs, .sites = runs->program->sites, .judge = &t.judge, .names = t.names};
	err = trial_open(&t.turns.bench, runs, NULL);
	if (!err)
		tell(&t, points);
	sketch_places_release(&t.turns.places);
	trial_close(&t.turns.bench);
	judge_release(&t.judge);
	sketch_runs_release(&t.runs);
	return err;
}

bool story_has_any(const struct finding_set *set)
{
	for (size_t i = 0; i < set->count; i++)
		if (set->items[i]->status == FINDING_CONFIRMED && schedule_of(set->items[i]))
			return true;
	return false;
}

void story_tell(const struct replay_conditions *runs, struct finding_set *set)
{
	struct rd_context quiet = {.log = rd_log_discard}; /* the report can do without stories */
	uint64_t points = POINTS_MOST;
	struct finding_bugs bugs;

	finding_bugs_list(&bugs, set);
	rd_context_enter(&quiet);
	for (size_t i = 0; i < bugs.count && i < STORIES_MOST; i++)
		if (tell_one(runs, set, bugs.items[i].findings[0], &points))
			break;
	rd_context_leave(&quiet);
	finding_bugs_release(&bugs);
}
