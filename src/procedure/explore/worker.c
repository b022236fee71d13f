// SPDX-License-Identifier: Apache-2.0
/*
 * A worker process of an exploration.  In: what is known so far, and the numbers of schedules.
 * Out: a note for each run.
 */
#include "explore/worker-int.h"

#include "base/clock.h"
#include "base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void worker_release(struct explore_worker *w)
{
	judge_release(&w->judge);
	cover_release(&w->cover);
	cover_release(&w->recordable);
}

static void copy_races(struct explore_worker *w, const struct replay_result *r)
{
	w->note.races = rd_arena_alloc(w->arena, (r->race_count + 1) * sizeof *w->note.races);
	for (size_t i = 0; i < r->race_count; i++)
		w->note.races[w->note.race_count++] =
			(struct note_race){.address = r->races[i].address,
					   .size = r->races[i].size,
					   .site = {r->races[i].site[0], r->races[i].site[1]}};
}

/* Copies the threads to the note.  A thread whose name is too long is left out. */
static void copy_threads(struct explore_worker *w, const struct replay_turns *t)
{
	w->note.threads = rd_arena_alloc(w->arena, (t->thread_count + 1) * sizeof *w->note.threads);
	for (size_t i = 0; i < t->thread_count; i++) {
		struct note_thread *to = &w->note.threads[w->note.thread_count];

		if ((size_t)snprintf(to->name, sizeof to->name, "%s", t->threads[i].thread) >=
		    sizeof to->name)
			continue;
		to->points = t->threads[i].points;
		w->note.thread_count++;
	}
}

/* Adds a mark for the moment at which the run showed a new pair. */
static void add_mark(struct explore_worker *w, const struct replay_mark *from)
{
	struct replay_mark *to = &w->marks[w->mark_count++];

	*to = *from;
	to->last.thread = rd_arena_strndup(w->arena, from->last.thread, strlen(from->last.thread));
	to->last.next = rd_arena_strndup(w->arena, from->last.next, strlen(from->last.next));
	to->last.place = (struct schedule_place){0};
}

/* Copies pairs that the main process does not know yet, or knows only from runs that cannot be
 * recorded. */
static void copy_pairs(struct explore_worker *w, const struct replay_result *r)
{
	const struct explore_state *s = w->state;
	bool recordable = w->points == POINTS_OPERATIONS, is_long;

	w->note.pairs = rd_arena_alloc(w->arena, (r->pair_count + 1) * sizeof *w->note.pairs);
	w->marks = rd_arena_alloc(w->arena, (r->pair_count + 1) * sizeof *w->marks);
	for (size_t i = 0; i < r->pair_count; i++)
		if (!cover_has(recordable ? &s->recordable : &s->result->cover, r->pairs[i]) &&
		    cover_add(recordable ? &w->recordable : &w->cover, r->pairs[i], 0)) {
			w->note.pairs[w->note.pair_count++] = r->pairs[i];
			add_mark(w, &r->turns.marks[i]);
		}
	is_long = explore_is_long(s) || explore_is_long_run(r->turns.extent, r->turns.thread_count);
	w->mark_count = is_long ? (uint32_t)prefix_choose_marks(w->marks, w->mark_count) : 0;
}

/* Returns how many decisions are kept of a run that showed new pairs.  These are the decisions up
 * to its last mark. */
static size_t decisions_of(const struct explore_worker *w)
{
	size_t last = w->mark_count ? w->marks[w->mark_count - 1].made : 0;

	return last < PREFIX_DECISIONS	     ? PREFIX_DECISIONS
	       : last < PREFIX_DECISIONS_MAX ? last
					     : PREFIX_DECISIONS_MAX;
}

/* Returns the fault that the exit status or the user's command shows.  Returns NULL if there is
 * none, or if the trial has another fault. */
static const char *find_fault(struct explore_worker *w, const struct trial *t)
{
	bool failed = false;

	if (t->fault || t->end != REPLAY_EXITED)
		return NULL;
	if (!w->judge.command)
		return w->state->usual_status == 0 && t->status != 0 ? FAILURE_STATUS : NULL;
	w->err = judge_run(&w->judge, t, &failed);
	return failed ? FAILURE_JUDGED : NULL;
}

/* Returns true if all decisions of the run are needed, because it failed.  If a log is written, it
 * has the decisions of every run that failed.  Otherwise only the first run with each failure needs
 * them.  In examples/bank.c, for instance, a third of all runs have the same deadlock, each after
 * thousands of decisions. */
static bool needs_all(const struct explore_worker *w)
{
	const struct explore_state *s = w->state;

	if (!w->note.failure.fault)
		return false;
	for (size_t i = 0; i < s->failure_count && !s->how->log; i++)
		if (failure_is_same(&s->failures[i].failure, &w->note.failure))
			return false;
	return true;
}

/* Notes the result of a run.  Returns how many decisions of its schedule are needed, because the
 * run failed or showed something new. */
static size_t note_result(void *context, const struct replay_result *r)
{
	struct explore_worker *w = context;
	const struct trial *t = &w->trial;

	w->note.run_ns = (int64_t)(r->cpu_seconds * (double)RD_NS_PER_S);
	w->note.trail = r->turns.trail;
	w->note.choices = r->turns.choices;
	w->note.extent = r->turns.extent;
	w->note.counts = t->counts;
	w->note.cut = t->cut;
	w->note.unsure = t->unsure;
	w->note.status = t->end == REPLAY_EXITED ? t->status : -1;
	w->note.why = t->why;
	copy_races(w, r);
	copy_threads(w, &r->turns);
	if (t->counts || t->cut)
		copy_pairs(w, r);
	if (t->counts)
		failure_describe(&w->note.failure, t, r, w->state->how->runs.program->sites, find_fault(w, t),
				 w->arena);
	return needs_all(w) ? SIZE_MAX : w->note.pair_count ? decisions_of(w) : 0;
}

int worker_run(struct explore_worker *w, struct trial_bench *b, const struct schedule *s,
	       struct schedule *made)
{
	struct trial_hooks hooks = {.result = note_result, .context = w};
	int err;

	w->note = (struct note){.status = -1};
	w->mark_count = 0;
	w->judge.command = w->state->how->fail_if;
	err = trial_run_with(b, s, &hooks, &w->trial, made);
	return err ? err : w->err;
}

/* Adds the schedule of the run, if there is one, to the note. */
static void note_schedule(struct explore_worker *w, const struct schedule *made, struct rd_buf *text)
{
	struct schedule marked = *made;

	if (!made->turns)
		return;
	w->note.mark_count = w->note.failure.fault ? 0 : w->mark_count;
	marked.decisions = rd_xcalloc(made->decision_count + PREFIX_MARKS + 1, sizeof *marked.decisions);
	marked.decision_count =
		prefix_add_marks(made, w->marks, &w->note.mark_count, marked.decisions, w->note.marks);
	schedule_format(&marked, text);
	free(marked.decisions);
	w->note.made = text->data;
}

/* Prepares the bench for a run.  The detector always runs, because its cost is too small to measure
 * in comparison with the cost of turns. */
static void prepare(struct trial_bench *b, const struct explore_plan *plan)
{
	b->strategy = plan->strategy;
	b->most = plan->extent;
	b->branch = plan->branch;
	b->detect = true;
	b->cover = true;
}

int worker_run_number(struct explore_worker *w, struct trial_bench *b, uint64_t number, struct rd_buf *answer)
{
	struct rd_buf text = RD_BUF_INIT;
	struct schedule made = {0};
	struct explore_plan plan;
	int err = explore_plan(w->state, number, w->arena, &plan);

	prepare(b, &plan);
	w->points = plan.draw.points;
	if (!err)
		err = worker_run(w, b, &plan.schedule, &made);
	w->note.number = number;
	w->note.length = plan.strategy.length;
	w->note.most = plan.extent;
	w->note.known = w->state->thread_count;
	w->note.from = plan.from;
	if (!err) {
		note_schedule(w, &made, &text);
		note_put(&w->note, answer);
	}
	rd_buf_release(&text);
	schedule_release(&made);
	explore_plan_release(&plan);
	return err;
}
