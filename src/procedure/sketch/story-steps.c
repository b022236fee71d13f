// SPDX-License-Identifier: Apache-2.0
/*
 * The steps of a story.  In: runs in which the program was stopped at accesses and operations, with
 * values.  Out: the addresses that matter, and steps with words.  Starts no program.
 */
#include "sketch/story-int.h"

#include "base/error.h"
#include "base/file.h"
#include "finding/timeline.h"
#include "sketch/sketch.h"
#include "trace/words.h"

#include <stdlib.h>
#include <string.h>

/* Steps that are kept, the last ones of the run.  Chosen by hand, so that they fit on a screen. */
#define STEPS_MOST 16

/* What a run has to become steps. */
struct steps {
	const struct story_memory *memory;
	const struct sketch_runs *runs;
	const char *const *names; /* of its threads, by number */
	struct finding_set *set;
	struct finding *f;
};

bool story_is_place(const struct finding *f, const char *file, uint32_t line)
{
	for (size_t i = 0; i < f->access_count + f->cycle_count; i++) {
		const struct finding_frame *own = finding_own_code_frame(finding_side(f, i));

		if (own->file && own->line == line && !strcmp(rd_base_name(own->file), rd_base_name(file)))
			return true;
	}
	return false;
}

static const struct slice_statement *statement_of(const struct steps *t, const struct sketch_event *e)
{
	return &t->runs->statements[e->statement];
}

static bool is_about(const struct story_memory *m, uint64_t address)
{
	for (size_t i = 0; i < m->count; i++)
		if (m->addresses[i] == address)
			return true;
	return false;
}

void story_learn(struct story_memory *m, const struct finding *f, const struct sketch_runs *runs,
		 const struct sketch_run *run)
{
	for (size_t i = run->count; i-- > 0 && m->count < STORY_ADDRESSES;) {
		const struct sketch_event *e = &run->events[i];
		const struct slice_statement *s = &runs->statements[e->statement];

		if (e->address && story_is_place(f, s->file, s->line) && !is_about(m, e->address))
			m->addresses[m->count++] = e->address;
	}
}

/* ---- steps ---- */

static const char *name_of(const struct slice_statement *s)
{
	return s->variable ? s->variable : s->operation ? s->operation : "memory";
}

/* Appends what an event did, such as "reads x: 3" or "x = 4".  `before` is the event of the same
 * thread at the same line that read the variable, or NULL. */
static void add_words(const struct steps *t, struct rd_buf *out, const struct sketch_event *e,
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
static bool continues(const struct steps *t, const struct sketch_event *a, const struct sketch_event *b)
{
	const struct slice_statement *first = statement_of(t, a), *second = statement_of(t, b);

	return a->thread == b->thread && a->address == b->address && first->line == second->line &&
	       first->kind == SLICE_READ && second->kind == SLICE_WRITE && a->size && b->size;
}

static void add_step(struct steps *t, const struct sketch_event *e, const struct sketch_event *before)
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
static void join_repeated(struct steps *t)
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
static bool is_shown(const struct steps *t, const struct sketch_event *e)
{
	return e->thread < TURNS_THREADS && t->names[e->thread] && is_about(t->memory, e->address);
}

/* Stores the last shown events of the run as steps. */
static void make_steps(struct steps *t, const struct sketch_run *run)
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
static void add_last(struct steps *t, const struct finding_step *end)
{
	struct finding *f = t->f;
	struct finding_step *step = &f->steps[f->step_count];

	for (size_t i = f->step_count; i-- > 0 && end->thread && f->kind == FINDING_DEADLOCK;)
		if (f->steps[i].thread && !strcmp(f->steps[i].thread, end->thread)) {
			step = f->steps[i].place.line == end->place.line ? &f->steps[i] : step;
			break;
		}
	f->step_count += step == &f->steps[f->step_count];
	*step = *end;
	step->event = finding_text(t->set, end->event);
}

/* Adds the steps at which the program fails or waits forever, which are no accesses. */
static void add_end(struct steps *t)
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

void story_steps(const struct story_memory *memory, const struct sketch_runs *runs,
		 const struct sketch_run *run, const char *const *names, struct finding_set *set,
		 struct finding *f)
{
	struct steps t = {memory, runs, names, set, f};

	make_steps(&t, run);
	join_repeated(&t);
	add_end(&t);
}
