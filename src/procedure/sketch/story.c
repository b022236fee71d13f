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

#include "base/alloc.h"
#include "base/context.h"
#include "base/error.h"
#include "base/file.h"
#include "explore/explore.h"
#include "finding/bug.h"
#include "finding/schedule.h"
#include "finding/timeline.h"
#include "sketch/sketch.h"
#include "sketch/turns-int.h"
#include "trace/words.h"

#include <stdlib.h>
#include <string.h>

/* All numbers were chosen by hand: a story has to fit on a screen, and its runs have to be short. */
/* Bugs that get a story.  A story takes three runs, and hardly anybody reads more pages at a time. */
#define STORIES_MOST 10
/* Points at which all stories together may stop the program.  A stop takes about 0.1 ms of CPU time, so
 * this is half a second. */
#define POINTS_MOST 5000
#define ADDRESSES_MOST 6 /* words of memory that the second run watches */
#define STEPS_MOST 16	 /* steps that are kept, the last ones of the run */
#define SITES_MOST 64	 /* accesses at which the first run stops */
#define FRAMES 16	 /* inlined calls around an access that are examined */

struct story {
	struct sketch_turns turns;
	struct sketch_runs runs;
	struct judge judge;
	const struct schedule *schedule;
	struct finding_set *set;
	struct finding *f;
	const char *names[TURNS_THREADS];
	uint64_t addresses[ADDRESSES_MOST];
	size_t address_count;
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

/* Returns true if the line is one at which the finding has an access, waits or fails. */
static bool is_place(const struct finding *f, const char *file, uint32_t line)
{
	for (size_t i = 0; i < f->access_count + f->cycle_count; i++) {
		const struct finding_frame *own = finding_own_code_frame(
			i < f->access_count ? &f->accesses[i].stack : &f->cycle[i - f->access_count].stack);

		if (own->file && own->line == line && !strcmp(rd_base_name(own->file), rd_base_name(file)))
			return true;
	}
	return false;
}

/* Returns true if the site, or a call that was inlined around it, is at a place of the finding. */
static bool is_site(const struct story *t, uint32_t site)
{
	struct trace_frame frames[FRAMES];
	size_t count = trace_sites_frames(t->turns.sites, site, frames, FRAMES);

	for (size_t i = 0; i < count && i < FRAMES; i++)
		if (is_place(t->f, frames[i].file, frames[i].line))
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
	for (size_t i = 0; i < t->address_count; i++) {
		struct schedule_watch *w = add_watch(s);

		w->address = t->addresses[i];
		w->bytes = 1;
	}
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
	bool fails = t->f->kind != FINDING_RACE || t->f->class == FINDING_SPEC_VIOLATED;

	schedule_copy(&s, t->schedule);
	s.notes = true;
	s.looks = look != LOOK_LENGTH;
	t->turns.blind = look == LOOK_LENGTH;
	if (look == LOOK_ADDRESSES)
		watch_addresses(t, &s);
	if (look == LOOK_PLACES)
		watch_places(t, &s);
	if (!turns_follow(&t->turns, &s, &(struct turns_order){TURNS_WATCH, NULL, NULL}, 1, &failure, &why) &&
	    !why && (failure.kind != SKETCH_PASSED) == fails && t->runs.count)
		run = &t->runs.items[t->runs.count - 1];
	sketch_failure_release(&failure);
	schedule_release(&s);
	return run;
}

/* ---- which memory matters ---- */

static const struct slice_statement *statement_of(const struct story *t, const struct sketch_event *e)
{
	return &t->runs.statements[e->statement];
}

static bool is_about(const struct story *t, uint64_t address)
{
	for (size_t i = 0; i < t->address_count; i++)
		if (t->addresses[i] == address)
			return true;
	return false;
}

/* Collects the addresses of the last events at the places of the finding. */
static void learn_addresses(struct story *t, const struct sketch_run *run)
{
	for (size_t i = run->count; i-- > 0 && t->address_count < ADDRESSES_MOST;) {
		const struct sketch_event *e = &run->events[i];

		if (e->address && is_place(t->f, statement_of(t, e)->file, statement_of(t, e)->line) &&
		    !is_about(t, e->address))
			t->addresses[t->address_count++] = e->address;
	}
}

/* ---- steps ---- */

static const char *name_of(const struct slice_statement *s)
{
	return s->variable ? s->variable : s->operation ? s->operation : "memory";
}

/* Appends what an event did, such as "reads x: 3" or "x = 4".  `before` is the event of the same
 * thread at the same line that read the variable, or NULL. */
static void add_words(const struct story *t, struct rd_buf *out, const struct sketch_event *e,
		      const struct sketch_event *before)
{
	const struct slice_statement *s = statement_of(t, e);
	char value[32], old[32];

	sketch_value_text(&(struct sketch_value){.value = e->value, .size = e->size}, value);
	if (before)
		sketch_value_text(&(struct sketch_value){.value = before->value, .size = before->size}, old);
	if (s->kind == SLICE_SYNC)
		trace_words_brief(out, s->operation, NULL);
	else if (s->kind == SLICE_CALL)
		rd_buf_adds(out, s->operation ? s->operation : "frees");
	else if (!e->size)
		rd_buf_addf(out, "%s %s", s->kind == SLICE_WRITE ? "writes" : "reads", name_of(s));
	else if (before)
		rd_buf_addf(out, "%s: %s -> %s", name_of(s), old, value);
	else if (s->kind == SLICE_WRITE)
		rd_buf_addf(out, "%s = %s", name_of(s), value);
	else
		rd_buf_addf(out, "%s is %s", name_of(s), value);
}

/* Returns true if the second event continues the first one: a thread reads and then writes the same
 * memory at one line. */
static bool continues(const struct story *t, const struct sketch_event *a, const struct sketch_event *b)
{
	const struct slice_statement *first = statement_of(t, a), *second = statement_of(t, b);

	return a->thread == b->thread && a->address == b->address && first->line == second->line &&
	       first->kind == SLICE_READ && second->kind == SLICE_WRITE && a->size && b->size;
}

static void add_step(struct story *t, const struct sketch_event *e, const struct sketch_event *before)
{
	const struct slice_statement *s = statement_of(t, e);
	struct rd_buf words = RD_BUF_INIT;
	struct finding_step *step = &t->f->steps[t->f->step_count++];

	add_words(t, &words, e, before);
	step->thread = finding_text(t->set, t->names[e->thread]);
	step->place = (struct finding_frame){.file = finding_text(t->set, s->file),
					     .function = finding_text(t->set, s->function),
					     .line = s->line,
					     .column = s->column};
	step->event = finding_text(t->set, words.data);
	rd_buf_release(&words);
}

/* Returns true if both steps are the same action of one thread. */
static bool is_again(const struct finding_step *a, const struct finding_step *b)
{
	return !strcmp(a->thread, b->thread) && a->place.line == b->place.line && !strcmp(a->event, b->event);
}

/* Replaces equal steps in a row by one that states their number. */
static void join_repeated(struct story *t)
{
	struct finding_step *steps = t->f->steps;
	size_t kept = 0, times = 1;

	for (size_t i = 0; i < t->f->step_count; i++) {
		bool again = i + 1 < t->f->step_count && is_again(&steps[i], &steps[i + 1]);

		times += again;
		if (again)
			continue;
		steps[kept] = steps[i];
		if (times > 1)
			steps[kept].event = finding_textf(t->set, "%s, %zu times", steps[i].event, times);
		kept++;
		times = 1;
	}
	t->f->step_count = kept;
}

/* Returns true if the event is shown: an access of the memory that matters, or an operation on an
 * object that matters. */
static bool is_shown(const struct story *t, const struct sketch_event *e)
{
	return e->thread < TURNS_THREADS && t->names[e->thread] && is_about(t, e->address);
}

/* Stores the last shown events of the run as steps. */
static void make_steps(struct story *t, const struct sketch_run *run)
{
	size_t first = run->count, shown = 0;

	while (first && shown < STEPS_MOST)
		shown += is_shown(t, &run->events[--first]);
	t->f->steps = finding_array(t->set, shown, sizeof *t->f->steps);
	t->f->step_count = 0;
	for (size_t i = first; i < run->count; i++) {
		const struct sketch_event *e = &run->events[i];
		const struct sketch_event *next = i + 1 < run->count ? &run->events[i + 1] : NULL;

		if (!is_shown(t, e))
			continue;
		if (next && continues(t, e, next)) {
			add_step(t, next, e);
			i++;
		} else {
			add_step(t, e, NULL);
		}
	}
}

/* Adds a step at which the program fails or waits forever.  A wait is also the last recorded operation
 * of its thread. */
static void add_last(struct story *t, const struct finding_step *end)
{
	struct finding *f = t->f;
	struct finding_step *step = &f->steps[f->step_count];

	for (size_t i = f->step_count; i-- > 0 && end->thread && f->kind == FINDING_DEADLOCK;)
		if (!strcmp(f->steps[i].thread, end->thread)) {
			step = f->steps[i].place.line == end->place.line ? &f->steps[i] : step;
			break;
		}
	f->step_count += step == &f->steps[f->step_count];
	*step = *end;
	step->event = finding_text(t->set, end->event);
}

/* Adds the steps at which the program fails or waits forever, which are no accesses. */
static void add_end(struct story *t)
{
	struct finding *f = t->f;
	struct finding_timeline derived;
	struct finding_step *steps = f->steps;
	size_t count = f->step_count;

	f->step_count = 0;
	finding_timeline_make(&derived, f);
	f->steps = finding_array(t->set, count + derived.count, sizeof *steps);
	if (count)
		memcpy(f->steps, steps, count * sizeof *steps);
	f->step_count = count;
	for (size_t i = 0; i < derived.count; i++)
		if (derived.steps[i].last)
			add_last(t, &derived.steps[i]);
	finding_timeline_release(&derived);
}

static void tell(struct story *t, uint64_t *points)
{
	const struct sketch_run *run = make_run(t, LOOK_LENGTH);

	if (!run || t->turns.extent > *points)
		return;
	*points -= t->turns.extent;
	run = make_run(t, LOOK_PLACES);
	if (run)
		learn_addresses(t, run);
	run = t->address_count ? make_run(t, LOOK_ADDRESSES) : NULL;
	if (!run)
		return;
	make_steps(t, run);
	join_repeated(t);
	add_end(t);
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
