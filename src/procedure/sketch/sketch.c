// SPDX-License-Identifier: Apache-2.0
/*
 * Makes a sketch.  In: runs and predictors.  Out: steps.
 *
 * The sketch shows the shortest failing run in which the best predictor is true.  marks.c decides
 * which of its events are shown.  Consecutive events of a thread on one line form one step, if no
 * other thread's event lies between them.
 */
#include "sketch/sketch.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "sketch/marks-int.h"
#include "sketch/place.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void sketch_set_release(struct sketch_set *set)
{
	for (size_t i = 0; i < set->count; i++) {
		sketch_predictors_release(&set->items[i].predictors);
		rd_arena_free(set->items[i].arena);
	}
	free(set->items);
	*set = (struct sketch_set){0};
}

static const char *keep(struct sketch *s, const char *text)
{
	return text ? rd_arena_strndup(s->arena, text, strlen(text)) : NULL;
}

/* ---- choosing the runs ---- */

static bool is_of(const struct sketch_run *run, const char *signature)
{
	return run->signature && !strcmp(run->signature, signature);
}

static size_t switches(const struct sketch_run *run)
{
	size_t n = 0;

	for (size_t i = 1; i < run->count; i++)
		n += run->events[i].thread != run->events[i - 1].thread;
	return n;
}

static bool is_simpler(const struct sketch_run *run, const struct sketch_run *than)
{
	return !than || run->count < than->count ||
	       (run->count == than->count && switches(run) < switches(than));
}

static const struct sketch_run *choose_failing(const struct sketch *s)
{
	const struct sketch_run *best = NULL, *any = NULL;
	size_t at[3];

	for (size_t i = 0; i < s->runs->count; i++) {
		const struct sketch_run *run = &s->runs->items[i];

		if (!is_of(run, s->signature))
			continue;
		if (is_simpler(run, any))
			any = run;
		if (s->predictors.count && is_simpler(run, best) &&
		    sketch_predictor_at(s->runs, run, &s->predictors.items[0], at))
			best = run;
	}
	return best ? best : any;
}

/* Returns the number of events at the beginning of the two runs that are the same in both. */
static size_t common(const struct sketch_run *a, const struct sketch_run *b)
{
	size_t n = 0;

	while (n < a->count && n < b->count && a->events[n].thread == b->events[n].thread &&
	       a->events[n].statement == b->events[n].statement)
		n++;
	return n;
}

static const struct sketch_run *choose_passing(const struct sketch *s, const struct sketch_run *fails)
{
	const struct sketch_run *best = NULL;

	for (size_t i = 0; i < s->runs->count; i++) {
		const struct sketch_run *run = &s->runs->items[i];

		if (run->outcome == SKETCH_PASSED && (!best || common(run, fails) > common(best, fails)))
			best = run;
	}
	return best;
}

/* ---- steps ---- */

static const char *verb(const struct slice_statement *st)
{
	switch (st->kind) {
	case SLICE_READ: return "reads";
	case SLICE_WRITE: return "writes";
	case SLICE_BRANCH: return "branch";
	case SLICE_CALL: return "calls";
	default: return st->operation ? st->operation : "synchronises";
	}
}

static void add_value(struct sketch *s, struct sketch_step *step, const char *name,
		      const struct sketch_event *e)
{
	struct sketch_value *v = NULL;

	for (size_t i = 0; i < step->value_count; i++)
		if (!strcmp(step->values[i].name, name))
			v = &step->values[i];
	if (!v) {
		struct sketch_value *more = rd_arena_alloc(s->arena, (step->value_count + 1) * sizeof *more);

		if (step->value_count)
			memcpy(more, step->values, step->value_count * sizeof *more);
		step->values = more;
		v = &more[step->value_count++];
	}
	*v = (struct sketch_value){.name = name, .value = e->value, .size = e->size};
}

static void add_to_step(struct sketch *s, struct sketch_step *step, const struct sketch_event *e)
{
	const struct slice_statement *st = &s->runs->statements[e->statement];
	const char *name = st->variable ? st->variable : NULL;
	struct rd_buf text = RD_BUF_INIT;

	rd_buf_addf(&text, "%s%s%s", verb(st), name ? " " : "", name ? name : "");
	if (step->event && strstr(step->event, text.data)) {
		rd_buf_clear(&text);
		rd_buf_adds(&text, step->event);
	} else if (step->event) {
		char *now = rd_buf_detach(&text);

		rd_buf_addf(&text, "%s, %s", step->event, now);
		free(now);
	}
	step->event = keep(s, text.data);
	rd_buf_release(&text);
	if (e->size && name)
		add_value(s, step, name, e);
	if (st->kind == SLICE_BRANCH && e->size)
		add_value(s, step, "branch", &(struct sketch_event){.value = e->value, .size = 4});
}

/* For each value that is read, finds the last earlier step that wrote it. */
static void find_writers(struct sketch *s, const struct sketch_run *run, const unsigned char *marks,
			 const size_t *step_of, struct sketch_steps *steps)
{
	for (size_t i = 0; i < run->count; i++) {
		const struct slice_statement *st = &s->runs->statements[run->events[i].statement];
		struct sketch_step *step;

		if (!(marks[i] & MARK_SHOW) || st->kind != SLICE_READ || !st->variable)
			continue;
		step = &steps->items[step_of[i]];
		if (!step->writers)
			step->writers =
				rd_arena_alloc(s->arena, (step->value_count + 1) * sizeof *step->writers);
		for (size_t k = i; k-- > 0;)
			if (marks[k] & MARK_SHOW && run->events[k].address == run->events[i].address &&
			    s->runs->statements[run->events[k].statement].role == SLICE_WRITES) {
				for (size_t v = 0; v < step->value_count; v++)
					if (!strcmp(step->values[v].name, st->variable))
						step->writers[v] = (uint32_t)step_of[k] + 1;
				break;
			}
	}
}

static struct sketch_step begin_step(const struct sketch *s, const struct sketch_event *e)
{
	const struct slice_statement *st = &s->runs->statements[e->statement];

	return (struct sketch_step){
		.thread = e->thread, .file = st->file, .function = st->function, .line = st->line};
}

static struct sketch_steps make_steps(struct sketch *s, const struct sketch_run *run, bool *shown)
{
	unsigned char *marks = marks_make(s, run, shown);
	size_t *step_of = rd_xcalloc(run->count + 1, sizeof *step_of), last = SIZE_MAX;
	struct sketch_steps steps = {rd_arena_alloc(s->arena, (run->count + 2) * sizeof *steps.items), 0};

	for (size_t i = 0; i < run->count; i++) {
		struct sketch_step *step;

		if (!(marks[i] & MARK_SHOW))
			continue;
		if (last == SIZE_MAX || marks_is_creation(s, &run->events[i]) ||
		    !marks_is_same_line(s->runs, &run->events[last], &run->events[i]))
			steps.items[steps.count++] = begin_step(s, &run->events[i]);
		step = &steps.items[steps.count - 1];
		add_to_step(s, step, &run->events[i]);
		if (marks[i] & MARK_NAMED)
			step->marks |= SKETCH_MARK_PREDICTOR;
		step_of[i] = steps.count - 1;
		last = i;
	}
	RD_ASSERT(steps.count <= run->count);
	find_writers(s, run, marks, step_of, &steps);
	free(marks);
	free(step_of);
	return steps;
}

/* ---- the failure, and the differences between the runs ---- */

static void add_failure(struct sketch *s)
{
	const struct sketch_failure *f = &s->failure;
	struct sketch_steps *steps = &s->fails;
	struct sketch_step *last = steps->count ? &steps->items[steps->count - 1] : NULL;

	if (last && !f->file && f->kind != SKETCH_HANG) {
		last->marks |= SKETCH_MARK_FAILURE; /* the failure has no known place */
		return;
	}
	for (size_t i = steps->count; i-- > 0 && f->kind == SKETCH_HANG && f->file;)
		/* The failing thread waits at its last step, which need not be the last step of all
		 * threads. */
		if (steps->items[i].thread == f->thread) {
			last = &steps->items[i];
			break;
		}
	if (!last || !f->file || last->line != f->line || last->thread != f->thread) {
		last = &steps->items[steps->count++];
		*last = (struct sketch_step){.thread = f->thread,
					     .file = f->file,
					     .function = f->function,
					     .line = f->line,
					     .event = "fails"};
	}
	last->marks |= SKETCH_MARK_FAILURE;
}

static bool is_same_step(const struct sketch_step *a, const struct sketch_step *b)
{
	if (a->line != b->line || a->thread != b->thread || a->value_count != b->value_count)
		return false;
	for (size_t i = 0; i < a->value_count; i++)
		if (a->values[i].value != b->values[i].value &&
		    !(a->values[i].size == 8 && a->values[i].value > UINT32_MAX &&
		      b->values[i].value > UINT32_MAX))
			return false;
	return true;
}

/* Marks the steps of the failing run that the passing run does not have at all, and the first step
 * at which the two runs differ. */
static void mark_differences(struct sketch *s)
{
	bool parted = false;

	for (size_t i = 0; i < s->fails.count && s->passes.count; i++) {
		struct sketch_step *step = &s->fails.items[i];
		bool found = false;

		for (size_t k = 0; k < s->passes.count && !found; k++)
			found = is_same_step(step, &s->passes.items[k]);
		if (!found || (!parted && (i >= s->passes.count || !is_same_step(step, &s->passes.items[i]))))
			step->marks |= SKETCH_MARK_DIFFERS;
		parted = parted || step->marks & SKETCH_MARK_DIFFERS;
	}
}

/* ---- words ---- */

void sketch_value_text(const struct sketch_value *v, char out[32])
{
	int64_t value = (int64_t)v->value;

	if (!v->size)
		snprintf(out, 32, "?");
	else if (v->size == 8 && (value > (int64_t)UINT32_MAX || value < -(int64_t)UINT32_MAX))
		snprintf(out, 32, "0x%" PRIx64, v->value);
	else
		snprintf(out, 32, "%" PRId64, value);
}

static void add_place(const struct sketch *s, struct rd_buf *text, uint32_t statement)
{
	const struct slice_statement *st = &s->runs->statements[statement];

	rd_buf_addf(text, "%s:%" PRIu32, rd_base_name(st->file), st->line);
}

static void add_order(const struct sketch *s, struct rd_buf *text, const struct sketch_predictor *p)
{
	add_place(s, text, p->statements[0]);
	if (p->count == 2) {
		rd_buf_adds(text, " before ");
		add_place(s, text, p->statements[1]);
		rd_buf_adds(text, " of another thread");
		if (p->pattern == SKETCH_RW_LAST)
			rd_buf_adds(text, ", and not again after it");
		return;
	}
	rd_buf_adds(text, " and ");
	add_place(s, text, p->statements[2]);
	rd_buf_adds(text, " of one thread, with ");
	add_place(s, text, p->statements[1]);
	rd_buf_adds(text, " of another between them");
}

/* Returns a predictor as text, such as "main.c:12 before main.c:30 of another thread". */
static const char *predictor_text(const struct sketch *s, const struct sketch_predictor *p)
{
	const struct slice_statement *st = &s->runs->statements[p->statements[0]];
	struct rd_buf text = RD_BUF_INIT;
	char value[32];
	const char *copy;

	sketch_value_text(&(struct sketch_value){.value = p->value, .size = 8}, value);
	if (p->type == SKETCH_ORDER) {
		add_order(s, &text, p);
	} else if (p->type == SKETCH_VALUE) {
		rd_buf_addf(&text, "%s %s %s at ", st->variable ? st->variable : "the value",
			    sketch_pattern_name(p->pattern), value);
		add_place(s, &text, p->statements[0]);
	} else {
		rd_buf_adds(&text, "the branch at ");
		add_place(s, &text, p->statements[0]);
		rd_buf_addf(&text, " %s to %s", p->pattern == SKETCH_NEVER ? "never goes" : "goes",
			    p->value == 1   ? "its first side"
			    : p->value == 0 ? "its other side"
					    : value);
	}
	copy = rd_arena_strndup(s->arena, text.data, text.length);
	rd_buf_release(&text);
	return copy;
}

/* ---- making the sketch ---- */

/* Sets the place of a hang.  If the thread hangs in a system header, the hang is shown at the
 * thread's last operation, provided that this operation is on a line of the program. */
static void place_hang(struct sketch *s, const struct sketch_run *fails)
{
	struct sketch_failure *f = &s->failure;

	if (f->kind != SKETCH_HANG || !f->file || !sketch_is_system_file(f->file))
		return;
	for (size_t i = fails->count; i-- > 0;) {
		const struct slice_statement *st = &s->runs->statements[fails->events[i].statement];

		if (fails->events[i].thread != fails->failed_thread || st->kind != SLICE_SYNC)
			continue;
		if (!sketch_is_system_file(st->file)) {
			f->file = (char *)keep(s, st->file);
			f->function = (char *)keep(s, st->function);
			f->line = st->line;
		}
		return;
	}
}

static void count_runs(struct sketch *s)
{
	for (size_t i = 0; i < s->runs->count; i++) {
		const struct sketch_run *run = &s->runs->items[i];

		s->passing += run->outcome == SKETCH_PASSED;
		s->failing += is_of(run, s->signature);
		s->perturbed += is_of(run, s->signature) && run->perturbed;
	}
	RD_ASSERT(s->passing + s->failing <= s->runs->count && s->perturbed <= s->failing);
}

void sketch_draw(struct sketch *s, const struct sketch_runs *runs, const struct sketch_failure *failure,
		 struct sketch_predictors *predictors, const struct sketch_reach *reach)
{
	const struct sketch_run *fails, *passes;
	char *signature = sketch_signature(failure);
	bool *shown = rd_xcalloc(runs->statement_count + 1, sizeof *shown);

	*s = (struct sketch){.runs = runs,
			     .sigma = reach->sigma,
			     .near = reach->near,
			     .predictors = *predictors,
			     .decided = reach->decided,
			     .arena = rd_arena_new()};
	*predictors = (struct sketch_predictors){0};
	s->signature = keep(s, signature);
	free(signature);
	s->failure = *failure;
	s->failure.what = (char *)keep(s, failure->what);
	s->failure.file = (char *)keep(s, failure->file);
	s->failure.function = (char *)keep(s, failure->function);
	count_runs(s);
	fails = choose_failing(s);
	passes = fails ? choose_passing(s, fails) : NULL;
	if (fails) {
		s->failure.thread = fails->failed_thread;
		place_hang(s, fails);
		s->fails = make_steps(s, fails, shown);
		s->schedule = keep(s, fails->schedule);
		add_failure(s);
		RD_ASSERT(s->fails.count > 0);
	}
	if (passes)
		s->passes = make_steps(s, passes, shown);
	free(shown);
	s->decided = NULL;
	mark_differences(s);
	s->texts = rd_arena_alloc(s->arena, (s->predictors.count + 1) * sizeof *s->texts);
	for (size_t i = 0; i < s->predictors.count; i++)
		s->texts[i] = sketch_is_shown(s, i) ? predictor_text(s, &s->predictors.items[i]) : NULL;
}
