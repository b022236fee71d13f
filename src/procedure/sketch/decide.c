// SPDX-License-Identifier: Apache-2.0
/*
 * Decisions (sketch/decide.h).  A statement of the runs comprises all instructions of its line, as
 * in sketch/reach-int.h.  If no branch within the same function decides whether a statement is
 * executed, this file uses the branches that decide whether that function is called.  It does not
 * use branches that decide whether a thread is started, since the start is shown anyway.
 */
#include "sketch/decide.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/compare.h"
#include "base/error.h"
#include "base/file.h"
#include "base/map.h"
#include "slice/depend.h"
#include "slice/slice.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MOST_VALUES 4096 /* largest number of instructions that are examined for one statement */
/* Largest number of branches that are kept for a statement.  The nearest ones are kept. */
#define MOST_BRANCHES 64

/* The state while lists are made. */
struct work {
	struct decide *d;
	struct depend depend;
	const struct facts *f;
	struct sketch_runs *runs;
	struct rd_names lines; /* numbers the lines, named "file:line" */
	/* by line: an instruction of the line; FACTS_NONE if there is none */
	uint32_t *first;
	uint32_t *next;		/* by instruction: the next instruction of the same line */
	struct decide_list *at; /* by line: the statements of the runs there */
	size_t first_capacity, at_capacity, at_count;
};

static bool has(const struct decide_list *l, uint32_t item)
{
	for (size_t i = 0; i < l->count; i++)
		if (l->items[i] == item)
			return true;
	return false;
}

void decide_list_add(struct decide_list *l, uint32_t item)
{
	if (has(l, item))
		return;
	RD_GROW(l->items, l->capacity, l->count + 1);
	l->items[l->count++] = item;
}

/* ---- instructions and statements of a line ---- */

static uint32_t line_number(struct work *w, const char *file, uint32_t line)
{
	struct rd_buf key = RD_BUF_INIT;
	size_t known = w->lines.count;
	uint32_t n;

	rd_buf_addf(&key, "%s:%" PRIu32, rd_base_name(file), line);
	n = rd_names_put(&w->lines, key.data, key.length);
	rd_buf_release(&key);
	RD_GROW(w->first, w->first_capacity, n + 1);
	if (n == known)
		w->first[n] = FACTS_NONE;
	RD_GROW(w->at, w->at_capacity, n + 1);
	for (; w->at_count <= n; w->at_count++)
		w->at[w->at_count] = (struct decide_list){0};
	RD_ASSERT(n < w->lines.count && w->at_count == w->lines.count);
	return n;
}

static uint32_t line_of(struct work *w, uint32_t value)
{
	const struct facts_value *v = &w->f->values[value];

	return line_number(w, facts_string(w->f, v->file), v->line);
}

static void find_lines(struct work *w)
{
	w->next = rd_xcalloc(w->f->value_count + 1, sizeof *w->next);
	for (uint32_t v = 0; v < w->f->value_count; v++) {
		enum slice_kind kind;

		if (!slice_kind_of(w->f, v, &kind))
			continue;
		uint32_t line = line_of(w, v);
		w->next[v] = w->first[line];
		w->first[line] = v;
	}
}

/* ---- branches ---- */

/* The instructions that are still to be examined, each once. */
struct walk {
	struct work *w;
	struct rd_umap seen;
	uint32_t *items;
	size_t count, capacity;
};

static void push(uint32_t value, void *context)
{
	struct walk *walk = context;
	bool fresh;

	if (value & FACTS_CONSTANT || walk->count == MOST_VALUES)
		return;
	rd_umap_put(&walk->seen, value, &fresh);
	if (!fresh)
		return;
	RD_GROW(walk->items, walk->capacity, walk->count + 1);
	walk->items[walk->count++] = value;
}

static void release(struct walk *walk)
{
	rd_umap_release(&walk->seen);
	free(walk->items);
}

static bool is_branch(const struct facts *f, uint32_t value)
{
	return f->values[value].kind == FACTS_BRANCH || f->values[value].kind == FACTS_SWITCH;
}

/* Adds an entry to `d` for each statement that was added to the runs. */
static void grow(struct work *w)
{
	struct decide *d = w->d;

	RD_GROW(d->statements, d->capacity, w->runs->statement_count);
	for (; d->count < w->runs->statement_count; d->count++)
		d->statements[d->count] = (struct decide_statement){0};
}

/* Finds the branches that decide whether the instructions of the walk are executed.  If `all` is
 * set, also finds the branches that decide whether these branches are executed, and so on. */
static void find_branches(struct walk *walk, bool all)
{
	const struct facts *f = walk->w->f;
	size_t begin = walk->count;

	for (size_t i = 0; i < walk->count; i++) {
		uint32_t v = walk->items[i];

		if (i >= begin && is_branch(f, v) && !all)
			continue;
		if (i >= begin && f->values[v].kind == FACTS_CALL &&
		    depend_starts_thread(&walk->w->depend, v))
			continue;
		depend_control(&walk->w->depend, v, push, walk);
	}
}

/* ---- values that branches test ---- */

static void push_operands(struct walk *walk, uint32_t value)
{
	struct facts_run run = facts_operands_of(walk->w->f, value);

	for (uint32_t i = run.first; i < run.end; i++)
		push(walk->w->f->operands[i].operand, walk);
}

/* Adds the return instructions of the called functions to the walk.  Returns false if the facts do
 * not contain the code of one of these functions. */
static bool push_results(struct walk *walk, uint32_t call)
{
	const struct facts *f = walk->w->f;
	struct facts_run calls = facts_calls_of(f, call);
	bool known = calls.first < calls.end;

	for (uint32_t c = calls.first; c < calls.end; c++) {
		struct facts_run values = facts_values_of(f, f->calls[c].function);

		known = known && !(f->functions[f->calls[c].function].flags & FACTS_FUNCTION_EXTERNAL);
		for (uint32_t v = values.first; v < values.end; v++)
			if (f->values[v].kind == FACTS_RETURN)
				push(v, walk);
	}
	return known;
}

static void look_through(struct walk *walk, uint32_t value, struct decide_list *lines)
{
	switch (walk->w->f->values[value].kind) {
	case FACTS_LOAD:
	case FACTS_UPDATE:
	case FACTS_EXCHANGE: decide_list_add(lines, line_of(walk->w, value)); return;
	case FACTS_CALL:
		if (!push_results(walk, value))
			decide_list_add(lines, line_of(walk->w, value));
		return;
	case FACTS_ARGUMENT: depend_given(&walk->w->depend, value, push, walk); return;
	default: push_operands(walk, value); return;
	}
}

/* Finds the reads and library calls from which the condition of the branch is computed, and adds
 * their lines. */
static void find_looks(struct work *w, uint32_t branch, struct decide_list *lines)
{
	struct walk walk = {.w = w, .seen = RD_UMAP_INIT};

	push_operands(&walk, branch);
	for (size_t i = 0; i < walk.count; i++)
		look_through(&walk, walk.items[i], lines);
	release(&walk);
}

/* ---- statements ---- */

/* Returns true if the statement has a value that a branch can depend on. */
static bool is_looked_at(const struct slice_statement *s)
{
	return s->kind == SLICE_READ || s->kind == SLICE_CALL ||
	       (s->kind == SLICE_SYNC && s->role != SLICE_NEUTRAL);
}

static void add_looks(struct work *w, uint32_t branch, uint32_t value)
{
	struct decide_list lines = {0};

	find_looks(w, value, &lines);
	for (size_t i = 0; i < lines.count; i++)
		for (size_t k = 0; k < w->at[lines.items[i]].count; k++) {
			uint32_t look = w->at[lines.items[i]].items[k];

			if (is_looked_at(&w->runs->statements[look]))
				decide_list_add(&w->d->statements[branch].looks, look);
		}
	free(lines.items);
}

static uint32_t branch_statement(struct work *w, uint32_t value)
{
	const struct facts *f = w->f;
	const struct facts_value *v = &f->values[value];
	size_t before = w->runs->statement_count;
	struct slice_statement s = {
		.file = (char *)facts_string(f, v->file),
		.function = (char *)facts_string(f, f->functions[facts_function_at(f, value)].name),
		.line = v->line,
		.column = v->column,
		.distance = UINT32_MAX,
		.kind = SLICE_BRANCH};
	uint32_t n = sketch_statement(w->runs, &s);

	if (w->runs->statement_count > before)
		grow(w);
	RD_ASSERT(n < w->d->count);
	if (!w->d->statements[n].looks.count)
		add_looks(w, n, value);
	return n;
}

static void push_line(struct walk *walk, const struct slice_statement *s)
{
	struct work *w = walk->w;
	uint32_t line = line_number(w, s->file, s->line);

	for (uint32_t v = w->first[line]; v != FACTS_NONE; v = w->next[v])
		if (is_branch(w->f, v) == (s->kind == SLICE_BRANCH) && w->f->values[v].kind != FACTS_RETURN)
			push(v, walk);
}

static void decide_about(struct work *w, uint32_t statement)
{
	for (int all = 0; all < 2; all++) {
		struct walk walk = {.w = w, .seen = RD_UMAP_INIT};
		size_t begin, found = 0;

		push_line(&walk, &w->runs->statements[statement]);
		begin = walk.count;
		find_branches(&walk, all);
		for (size_t i = begin; i < walk.count && found < MOST_BRANCHES; i++) {
			uint32_t v = walk.items[i], branch;

			if (!is_branch(w->f, v) || !w->f->values[v].line)
				continue;
			branch = branch_statement(w, v);
			decide_list_add(all ? &w->d->statements[statement].above
					    : &w->d->statements[statement].by,
					branch);
			found++;
		}
		release(&walk);
	}
}

/* ---- values that differ between runs ---- */

/* Returns the value of an event in a form that can be compared between runs.  All values that look
 * like addresses become the same number, because addresses differ from run to run. */
static uint64_t plain_value(const struct sketch_event *e)
{
	return e->size == 8 && e->value > UINT32_MAX && (int64_t)e->value > 0 ? UINT64_MAX : e->value;
}

static void find_varying(struct decide *d, const struct sketch_runs *runs)
{
	struct rd_umap values = RD_UMAP_INIT;

	for (size_t i = 0; i < runs->count; i++)
		for (size_t k = 0; k < runs->items[i].count; k++) {
			const struct sketch_event *e = &runs->items[i].events[k];
			bool fresh;
			uint64_t *value;

			d->statements[e->statement].seen = true;
			if (!e->size)
				continue;
			value = rd_umap_put(&values, e->statement, &fresh);
			if (!fresh && *value != plain_value(e))
				d->statements[e->statement].varies = true;
			*value = plain_value(e);
		}
	rd_umap_release(&values);
}

/* ---- all decisions ---- */

static void add_failure(struct work *w, const struct sketch_failure *failure)
{
	struct slice_statement s = {.file = failure->file,
				    .function = failure->function ? failure->function : (char *)"",
				    .line = failure->line,
				    .distance = UINT32_MAX,
				    .kind = SLICE_CALL};

	w->d->failure = UINT32_MAX;
	if (failure->file)
		w->d->failure = sketch_statement(w->runs, &s);
}

void decide_open(struct decide *d, const struct facts *f, struct sketch_runs *runs,
		 const struct sketch_failure *failure)
{
	struct work w = {.d = d, .f = f, .runs = runs, .lines = RD_NAMES_INIT};
	size_t known;

	*d = (struct decide){0};
	depend_init(&w.depend, f);
	find_lines(&w);
	add_failure(&w, failure);
	grow(&w);
	known = runs->statement_count;
	for (uint32_t i = 0; i < known; i++) {
		uint32_t line = line_number(&w, runs->statements[i].file, runs->statements[i].line);

		decide_list_add(&w.at[line], i);
	}
	for (uint32_t i = 0; i < runs->statement_count; i++)
		decide_about(&w, i);
	RD_ASSERT(d->count == runs->statement_count);
	find_varying(d, runs);
	for (size_t i = 0; i < w.at_count; i++)
		free(w.at[i].items);
	rd_names_release(&w.lines);
	RD_FREE(w.first, w.next, w.at);
	depend_release(&w.depend);
}

void decide_close(struct decide *d)
{
	for (size_t i = 0; i < d->count; i++)
		RD_FREE(d->statements[i].by.items, d->statements[i].above.items,
			d->statements[i].looks.items);
	free(d->statements);
	*d = (struct decide){0};
}

/* ---- events ---- */

/* A branch that was not watched but that a thread must have executed.  Its event is inserted before
 * event number `after` of the run, so that it directly follows the thread's previous event. */
struct implied {
	/* `number` counts the implied branches in the order in which they were found. */
	size_t after, number;
	uint32_t thread, branch;
};

struct thread {
	/* The branches that the thread has taken and whose two sides have not joined again yet. */
	struct decide_list in;
	size_t last; /* 1 + the index of the thread's last event; 0 if it has no event */
};

struct imply {
	const struct decide *d;
	const struct sketch_runs *runs;
	struct thread *threads;
	size_t thread_count, thread_capacity;
	struct implied *found;
	size_t count, capacity;
};

static struct thread *thread_of(struct imply *m, uint32_t thread)
{
	RD_GROW(m->threads, m->thread_capacity, thread + 1);
	for (; m->thread_count <= thread; m->thread_count++)
		m->threads[m->thread_count] = (struct thread){0};
	return &m->threads[thread];
}

static bool is_on_line(const struct sketch_runs *runs, uint32_t a, uint32_t b)
{
	const struct slice_statement *x = &runs->statements[a], *y = &runs->statements[b];

	return x->line == y->line && !strcmp(rd_base_name(x->file), rd_base_name(y->file));
}

/* Called when a thread reaches a statement.  If a branch does not decide whether this statement is
 * executed, the thread has left both sides of that branch, so the branch is removed from t->in.  A
 * branch on the statement's own line is also removed, because it is executed again. */
static void leave(const struct imply *m, struct thread *t, uint32_t statement)
{
	size_t kept = 0;

	for (size_t i = 0; i < t->in.count; i++)
		if (has(&m->d->statements[statement].above, t->in.items[i]) &&
		    !is_on_line(m->runs, statement, t->in.items[i]))
			t->in.items[kept++] = t->in.items[i];
	t->in.count = kept;
}

static void visit(struct imply *m, uint32_t thread, uint32_t statement, size_t at)
{
	struct thread *t = thread_of(m, thread);
	const struct decide_list *above = &m->d->statements[statement].above;

	RD_ASSERT(statement < m->d->count);
	leave(m, t, statement);
	for (size_t i = above->count; i-- > 0;) { /* outer branches come first */
		uint32_t branch = above->items[i];

		if (has(&t->in, branch) || m->d->statements[branch].seen)
			continue;
		if (is_on_line(m->runs, statement, branch))
			continue;
		decide_list_add(&t->in, branch);
		RD_GROW(m->found, m->capacity, m->count + 1);
		m->found[m->count] = (struct implied){t->last ? t->last : at, m->count, thread, branch};
		m->count++;
	}
	t->last = at + 1;
}

RD_COMPARISON(by_place, struct implied, after, number)

static void insert(const struct imply *m, struct sketch_run *run)
{
	struct sketch_run old = *run;
	size_t next = 0;

	run->events = NULL;
	run->count = run->capacity = 0;
	for (size_t i = 0; i <= old.count; i++) {
		for (; next < m->count && m->found[next].after == i; next++)
			sketch_event_add(run, &(struct sketch_event){.thread = m->found[next].thread,
								     .statement = m->found[next].branch});
		if (i < old.count)
			sketch_event_add(run, &old.events[i]);
	}
	RD_ASSERT(run->count == old.count + m->count);
	free(old.events);
}

static void imply(const struct decide *d, const struct sketch_runs *runs, struct sketch_run *run)
{
	struct imply m = {.d = d, .runs = runs};

	for (size_t i = 0; i < run->count; i++)
		visit(&m, run->events[i].thread, run->events[i].statement, i);
	if (run->outcome != SKETCH_PASSED && d->failure != UINT32_MAX)
		visit(&m, run->failed_thread, d->failure, run->count);
	if (m.count) {
		qsort(m.found, m.count, sizeof *m.found, by_place);
		insert(&m, run);
	}
	for (size_t i = 0; i < m.thread_count; i++)
		free(m.threads[i].in.items);
	RD_FREE(m.threads, m.found);
}

void decide_imply(const struct decide *d, struct sketch_runs *runs)
{
	for (size_t i = 0; i < runs->count; i++)
		imply(d, runs, &runs->items[i]);
}
