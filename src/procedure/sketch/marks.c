// SPDX-License-Identifier: Apache-2.0
/*
 * Chooses the events of a run that are shown in a sketch.  In: a run, the predictors, and the
 * statements that decide whether other statements are executed.  Out: a mark for each event.
 *
 * A sketch shows events whose statements are near the failure in the slice, and the events of the
 * predictors that it lists.  If a thread executes a line repeatedly, the sketch shows only the last
 * execution and the executions that belong to a predictor.
 */
#include "sketch/marks-int.h"

#include "base/error.h"
#include "base/map.h"
#include "sketch/place.h"

#include <stdlib.h>
#include <string.h>

/* A value or branch with at least this F-measure predicts nearly every run correctly.  It is shown
 * even if no listed predictor refers to it. */
#define GOOD_F 0.95
/* The events of the best predictor of a type are shown only if the predictor has at least this
 * F-measure, which is better than chance. */
#define LISTED_F 0.5
/* Largest number of values and branches that are shown; a person does not read more. */
#define SHOWN_DIFFERENT 64
/* Largest number of predictors that are listed.  This many fit on a screen together with the
 * steps. */
#define SHOWN_PREDICTORS 6

bool sketch_is_shown(const struct sketch *s, size_t predictor)
{
	const struct sketch_predictor *p = &s->predictors.items[predictor];

	RD_ASSERT(predictor < s->predictors.count);
	return predictor < SHOWN_PREDICTORS || sketch_best(&s->predictors, p->type) == p;
}

static bool is_near(const struct sketch *s, const struct sketch_event *e)
{
	uint32_t distance = s->runs->statements[e->statement].distance;

	return distance != UINT32_MAX && (!s->near || distance < s->near);
}

/* Returns true if the events of a predictor are shown as steps.  They are shown if the predictor is
 * the best of its type and good enough.  They are also shown if the predictor is a listed order
 * that is as good as the best predictor, unless its events come after those of the best predictor.
 * `at` contains the events of the predictor, and `end` is the last event of the best predictor. */
static bool is_listed(const struct sketch *s, size_t predictor, const size_t at[3], size_t end)
{
	const struct sketch_predictor *p = &s->predictors.items[predictor], *best = s->predictors.items;

	if (sketch_best(&s->predictors, p->type) == p)
		return p->f >= LISTED_F;
	if (predictor >= SHOWN_PREDICTORS || p->type != SKETCH_ORDER || p->f < GOOD_F || p->f < best->f)
		return false;
	for (size_t k = 0; k < p->count; k++)
		if (at[k] == SIZE_MAX || at[k] > end)
			return false;
	return true;
}

static void mark_predictors(const struct sketch *s, const struct sketch_run *run, unsigned char *marks)
{
	size_t at[3], end = 0;

	for (size_t i = 0; i < s->predictors.count; i++) {
		const struct sketch_predictor *p = &s->predictors.items[i];

		if (!sketch_predictor_at(s->runs, run, p, at))
			continue;
		for (size_t k = 0; !i && k < p->count; k++)
			if (at[k] != SIZE_MAX && at[k] > end)
				end = at[k];
		if (!is_listed(s, i, at, end))
			continue;
		for (size_t k = 0; k < p->count; k++)
			if (at[k] != SIZE_MAX) {
				RD_ASSERT(at[k] < run->count);
				marks[at[k]] |= MARK_SHOW | MARK_NAMED;
			}
	}
}

/* Shows all events that touch the same memory as an event to which a predictor refers. */
static void mark_same_memory(const struct sketch_run *run, unsigned char *marks)
{
	struct rd_umap addresses = RD_UMAP_INIT;

	for (size_t i = 0; i < run->count; i++)
		if (marks[i] & MARK_NAMED && run->events[i].address)
			rd_umap_put(&addresses, run->events[i].address, NULL);
	for (size_t i = 0; i < run->count; i++)
		if (rd_umap_get(&addresses, run->events[i].address))
			marks[i] |= MARK_SHOW;
	rd_umap_release(&addresses);
}

bool marks_is_same_line(const struct sketch_runs *runs, const struct sketch_event *a,
			const struct sketch_event *b)
{
	const struct slice_statement *x = &runs->statements[a->statement],
				     *y = &runs->statements[b->statement];

	return a->thread == b->thread && x->line == y->line && !strcmp(x->file, y->file);
}

/* Shows only the last execution of each line by a thread, unless a predictor refers to another
 * one. */
static void mark_last(const struct sketch *s, const struct sketch_run *run, unsigned char *marks)
{
	struct rd_pmap seen = {0}; /* pairs of a thread and a statement */
	bool fresh;

	for (size_t i = run->count; i-- > 0;) {
		if (!(marks[i] & MARK_SHOW))
			continue;
		rd_pmap_put(&seen, run->events[i].thread, run->events[i].statement, &fresh);
		if (!fresh && !(marks[i] & MARK_NAMED) &&
		    !(i + 1 < run->count && marks[i + 1] & MARK_SHOW &&
		      marks_is_same_line(s->runs, &run->events[i], &run->events[i + 1])))
			marks[i] = 0;
	}
	rd_pmap_release(&seen);
}

bool marks_is_creation(const struct sketch *s, const struct sketch_event *e)
{
	const char *operation = s->runs->statements[e->statement].operation;

	return operation && !strcmp(operation, "thread-create");
}

/* Shows the creation of each thread that has shown events.  The first creation creates thread 1,
 * the second creates thread 2, and so on. */
static void mark_creations(const struct sketch *s, const struct sketch_run *run, unsigned char *marks)
{
	struct rd_umap threads = RD_UMAP_INIT;
	uint64_t number = 0;

	for (size_t i = 0; i < run->count; i++)
		if (marks[i] & MARK_SHOW)
			rd_umap_put(&threads, run->events[i].thread, NULL);
	for (size_t i = 0; i < run->count && !run->cut; i++)
		if (marks_is_creation(s, &run->events[i]) && rd_umap_get(&threads, ++number))
			marks[i] |= MARK_SHOW;
	rd_umap_release(&threads);
}

static bool is_join(const struct slice_statement *st)
{
	/* Both operations of a join count: the one that begins it and the one that ends it. */
	return st->operation && strstr(st->operation, "join");
}

/* The state while a run is pruned.  Its events are visited from the last to the first. */
struct prune {
	const struct sketch *s;
	const struct sketch_run *run;
	struct rd_umap threads;	  /* the threads with a later event in the sketch */
	struct rd_umap addresses; /* the addresses that a later event in the sketch touches */
	struct rd_umap written;	  /* the addresses that a shown event writes */
	bool *named;		  /* by statement: true if a predictor refers to it */
};

/* Returns true if the event can have contributed to the failure, or is the failure itself. */
static bool matters(const struct prune *p, size_t i)
{
	const struct sketch_event *e = &p->run->events[i];
	const struct slice_statement *st = &p->s->runs->statements[e->statement];
	bool fails = e->thread == p->run->failed_thread;

	if (fails && st->line == p->s->failure.line && st->line)
		return true;
	if (st->kind == SLICE_WRITE)
		return rd_umap_get(&p->addresses, e->address) != NULL;
	if (st->kind == SLICE_READ && !p->named[e->statement] &&
	    (!is_near(p->s, e) || (!p->s->failure.file && !rd_umap_get(&p->written, e->address))))
		return false;
	if (st->kind == SLICE_READ || st->kind == SLICE_BRANCH)
		return fails || rd_umap_get(&p->threads, e->thread) != NULL;
	return !is_join(st);
}

/* Hides events that cannot have contributed to the failure.  In a hang nothing is hidden, because it
 * is unknown what would have followed.  Hidden are:
 * - reads that are not near the failure;
 * - reads of memory that no shown event writes, if the failure has no place;
 * - reads and branches of a thread that has no later event in the sketch;
 * - writes to memory that no later event in the sketch touches;
 * - joins. */
static void prune(const struct sketch *s, const struct sketch_run *run, unsigned char *marks)
{
	struct prune p = {.s = s, .run = run};

	if (run->outcome == SKETCH_PASSED || run->outcome == SKETCH_HANG)
		return;
	p.named = rd_xcalloc(s->runs->statement_count + 1, sizeof *p.named);
	for (size_t i = 0; i < run->count; i++) {
		const struct sketch_event *e = &run->events[i];

		p.named[e->statement] |= (marks[i] & MARK_NAMED) != 0;
		if (marks[i] & MARK_SHOW && s->runs->statements[e->statement].role == SLICE_WRITES)
			rd_umap_put(&p.written, e->address, NULL);
	}
	for (size_t i = run->count; i-- > 0;) {
		const struct sketch_event *e = &run->events[i];

		if (marks[i] & MARK_SHOW && !(marks[i] & (MARK_NAMED | MARK_TELLS)) && !matters(&p, i))
			marks[i] = 0;
		if (!(marks[i] & MARK_SHOW))
			continue;
		rd_umap_put(&p.threads, e->thread, NULL);
		if (e->address)
			rd_umap_put(&p.addresses, e->address, NULL);
	}
	RD_UMAP_RELEASE(&p.threads, &p.addresses, &p.written);
	free(p.named);
}

static bool is_lock(const struct sketch *s, const struct sketch_event *e)
{
	enum slice_role role = s->runs->statements[e->statement].role;

	return role == SLICE_ACQUIRES || role == SLICE_RELEASES;
}

/* Hides operations on a lock if their thread neither holds the lock nor waits for it at the end.
 * Such operations have nothing to do with the hang. */
static void hide_released_locks(const struct sketch *s, const struct sketch_run *run, unsigned char *marks)
{
	/* Maps a thread and a lock to 1 while the thread holds the lock or waits for it. */
	struct rd_pmap held = {0};

	for (size_t i = 0; i < run->count && run->outcome == SKETCH_HANG; i++) {
		const struct sketch_event *e = &run->events[i];

		if (is_lock(s, e))
			*rd_pmap_put(&held, e->thread, e->address, NULL) =
				s->runs->statements[e->statement].role == SLICE_ACQUIRES;
	}
	for (size_t i = 0; i < run->count && run->outcome == SKETCH_HANG; i++) {
		const struct sketch_event *e = &run->events[i];

		if (is_lock(s, e) && !(marks[i] & (MARK_NAMED | MARK_TELLS)) &&
		    !*rd_pmap_get(&held, e->thread, e->address))
			marks[i] = 0;
	}
	rd_pmap_release(&held);
}

/* Shows the write of each value that a shown statement reads. */
static void mark_writers(const struct sketch *s, const struct sketch_run *run, unsigned char *marks)
{
	struct rd_umap last = RD_UMAP_INIT; /* maps an address to 1 + the index of its last write */

	for (size_t i = 0; i < run->count; i++) {
		const struct sketch_event *e = &run->events[i];
		enum slice_kind kind = s->runs->statements[e->statement].kind;
		const uint64_t *write = rd_umap_get(&last, e->address);

		/* The values are compared, because code that is not tracked may have written
		 * last. */
		if (kind == SLICE_READ && marks[i] & MARK_SHOW && write &&
		    run->events[*write - 1].value == e->value)
			marks[*write - 1] |= MARK_SHOW;
		if (kind == SLICE_WRITE && e->address)
			*rd_umap_put(&last, e->address, NULL) = i + 1;
	}
	rd_umap_release(&last);
}

/* Hides code in system headers, which the author of the program does not know, unless a predictor
 * refers to it or the failure is there. */
static void hide_system(const struct sketch *s, const struct sketch_run *run, unsigned char *marks)
{
	for (size_t i = 0; i < run->count; i++) {
		const struct slice_statement *st = &s->runs->statements[run->events[i].statement];

		if (!(marks[i] & MARK_NAMED) && sketch_is_system_file(st->file) &&
		    !(s->failure.file && !strcmp(s->failure.file, st->file)))
			marks[i] = 0;
	}
}

static bool has_value(const struct sketch_event *e, const struct sketch_predictor *p)
{
	return e->statement == p->statements[0] && p->pattern != SKETCH_NEVER &&
	       (p->pattern == SKETCH_DIFFERS ? e->size && e->value : e->value == p->value);
}

/* Marks values and branches that alone distinguish failing from passing runs. */
static void mark_different(const struct sketch *s, const struct sketch_run *run, unsigned char *marks)
{
	size_t at[3];

	for (size_t i = 0, found = 0; i < s->predictors.count && found < SHOWN_DIFFERENT; i++) {
		const struct sketch_predictor *p = &s->predictors.items[i];

		if (p->type == SKETCH_ORDER || p->f < GOOD_F)
			continue;
		found++;
		if (p->pattern == SKETCH_NEVER && sketch_predictor_at(s->runs, run, p, at))
			marks[at[0]] |= MARK_SHOW | MARK_TELLS;
		for (size_t k = 0; k < run->count; k++)
			if (has_value(&run->events[k], p))
				marks[k] |= MARK_SHOW | MARK_TELLS;
	}
}

/* Returns the index of the last event before `end` that belongs to this thread and statement, or
 * SIZE_MAX if there is none. */
static size_t last_of(const struct sketch_run *run, uint32_t thread, uint32_t statement, size_t end)
{
	for (size_t i = end; i-- > 0;)
		if (run->events[i].thread == thread && run->events[i].statement == statement)
			return i;
	return SIZE_MAX;
}

/* Returns the index of the first event after `at` in which another thread writes to the same
 * address, or SIZE_MAX if there is none. */
static size_t written_later(const struct sketch *s, const struct sketch_run *run, size_t at)
{
	const struct sketch_event *e = &run->events[at];

	for (size_t i = at + 1; i < run->count && e->address; i++)
		if (run->events[i].address == e->address && run->events[i].thread != e->thread &&
		    s->runs->statements[run->events[i].statement].role == SLICE_WRITES)
			return i;
	return SIZE_MAX;
}

/* Returns true if the value of the event could have been different, because it was different in
 * another run, or because another thread wrote to the same memory later, and could have done so
 * earlier. */
static bool could_differ(const struct sketch *s, const struct sketch_run *run, size_t at)
{
	return s->decided->statements[run->events[at].statement].varies ||
	       written_later(s, run, at) != SIZE_MAX;
}

/* Shows a branch and the values that it tested, if these values could have been different.  If they
 * could not, the branch decided nothing, and false is returned.  If the run hangs and a tested
 * value was written again after the test, the later write is shown as well. */
static bool mark_branch(const struct sketch *s, const struct sketch_run *run, size_t at, unsigned char *marks)
{
	const struct decide_list *looks = &s->decided->statements[run->events[at].statement].looks;
	bool could = could_differ(s, run, at);

	RD_ASSERT(s->runs->statements[run->events[at].statement].kind == SLICE_BRANCH);
	for (size_t i = 0; i < looks->count; i++) {
		size_t k = last_of(run, run->events[at].thread, looks->items[i], at), late;

		if (k == SIZE_MAX || !could_differ(s, run, k))
			continue;
		marks[k] |= MARK_SHOW;
		could = true;
		late = written_later(s, run, k);
		if (run->outcome == SKETCH_HANG && late != SIZE_MAX)
			marks[late] |= MARK_SHOW;
	}
	if (could)
		marks[at] |= MARK_SHOW;
	return could;
}

/* Shows the branches that decide whether the statement is executed, if they could have taken
 * another direction.  If a branch could not, considers instead the branches that decide whether
 * that branch is executed. */
static void mark_deciders(const struct sketch *s, const struct sketch_run *run, uint32_t statement,
			  uint32_t thread, size_t end, unsigned char *marks)
{
	struct decide_list todo = {0};

	decide_list_add(&todo, statement);
	for (size_t i = 0; i < todo.count; i++) {
		const struct decide_list *by = &s->decided->statements[todo.items[i]].by;

		for (size_t k = 0; k < by->count; k++) {
			size_t at = last_of(run, thread, by->items[k], end);

			if (at == SIZE_MAX || !mark_branch(s, run, at, marks))
				decide_list_add(&todo, by->items[k]);
		}
	}
	free(todo.items);
}

/* Shows the branches that decided whether the shown statements, and the failing one, were
 * executed. */
static void mark_decisions(const struct sketch *s, const struct sketch_run *run, unsigned char *marks)
{
	unsigned char *before = rd_xcalloc(run->count + 1, 1);

	memcpy(before, marks, run->count);
	for (size_t i = 0; i < run->count; i++)
		if (before[i] & MARK_SHOW)
			mark_deciders(s, run, run->events[i].statement, run->events[i].thread, i, marks);
	if (s->decided->failure != UINT32_MAX)
		mark_deciders(s, run, s->decided->failure, run->failed_thread, run->count, marks);
	free(before);
}

unsigned char *marks_make(const struct sketch *s, const struct sketch_run *run, bool *shown)
{
	unsigned char *marks = rd_xcalloc(run->count + 1, 1);

	for (size_t i = 0; i < run->count; i++)
		if (is_near(s, &run->events[i]) ||
		    (run->outcome == SKETCH_PASSED && shown[run->events[i].statement]))
			marks[i] = MARK_SHOW;
	mark_predictors(s, run, marks);
	mark_same_memory(run, marks);
	mark_different(s, run, marks);
	mark_last(s, run, marks);
	prune(s, run, marks);
	hide_released_locks(s, run, marks);
	mark_writers(s, run, marks);
	if (s->decided && run->outcome != SKETCH_PASSED)
		mark_decisions(s, run, marks);
	hide_system(s, run, marks);
	mark_creations(s, run, marks);
	for (size_t i = 0; i < run->count && run->outcome != SKETCH_PASSED; i++)
		shown[run->events[i].statement] |= marks[i] & MARK_SHOW;
	return marks;
}
