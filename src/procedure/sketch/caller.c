// SPDX-License-Identifier: Apache-2.0
/*
 * Finds the callers of functions in headers (sketch/caller-int.h).
 *
 * If only one line of the program calls a function of a header, every call comes from that line.  A
 * constructor that creates a thread is usually called from several lines, one for each thread.  The
 * creations of a run are assigned to these lines in order, under two conditions: the lines are
 * executed one after the other, each at most once; and there are as many creations as lines.
 */
#include "sketch/caller-int.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "sketch/place.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Largest number of calls that are examined for one statement; chosen by hand. */
#define MOST_CALLS 256

struct work {
	struct depend *depend;
	const struct facts *f;
	struct sketch_runs *runs;
};

/* The calls in the program that lead to a statement.  Each line is listed only once. */
struct calls {
	struct work *w;
	uint32_t lines[MOST_CALLS]; /* an instruction (a value of the facts) of each line */
	size_t count;
	/* instructions in headers, whose callers are still to be found */
	uint32_t todo[MOST_CALLS];
	size_t todo_count;
	struct rd_umap seen;
	bool too_many; /* there are too many calls, or not all of them are known */
};

static bool is_in_header(const struct work *w, uint32_t value)
{
	return sketch_is_system_file(facts_string(w->f, w->f->values[value].file));
}

static bool is_same_line(const struct facts *f, uint32_t a, uint32_t b)
{
	const struct facts_value *x = &f->values[a], *y = &f->values[b];

	return x->line == y->line && x->file == y->file;
}

static void add_line(struct calls *c, uint32_t value)
{
	for (size_t i = 0; i < c->count; i++)
		if (is_same_line(c->w->f, c->lines[i], value))
			return;
	if (c->count == MOST_CALLS)
		c->too_many = true;
	else
		c->lines[c->count++] = value;
}

static void add_call(uint32_t value, void *context)
{
	struct calls *c = context;
	bool fresh;

	if (!c->w->f->values[value].line)
		return;
	rd_umap_put(&c->seen, value, &fresh);
	if (!fresh)
		return;
	if (!is_in_header(c->w, value))
		add_line(c, value);
	else if (c->todo_count == MOST_CALLS)
		c->too_many = true;
	else
		c->todo[c->todo_count++] = value;
}

/* Adds a caller.  If the function is also the start function of a thread, the code that starts the
 * thread is not a caller, so not all calls are known. */
static void add_caller(uint32_t value, void *context)
{
	struct calls *c = context;

	if (depend_starts_thread(c->w->depend, value))
		c->too_many = true;
	else
		add_call(value, c);
}

/* Finds the calls in the program through which a thread can reach a statement in a header. */
static void find_calls(struct calls *c, const struct slice_statement *s)
{
	const struct facts *f = c->w->f;

	for (uint32_t v = 0; v < f->value_count; v++)
		if (f->values[v].line == s->line && !strcmp(facts_string(f, f->values[v].file), s->file))
			add_call(v, c);
	for (size_t i = 0; i < c->todo_count; i++)
		depend_callers(c->w->depend, facts_function_at(f, c->todo[i]), add_caller, c);
	rd_umap_release(&c->seen);
}

static void set(char **text, const char *to)
{
	free(*text);
	*text = rd_xstrdup(to);
}

static void move_to(const struct work *w, struct slice_statement *s, uint32_t call)
{
	const struct facts *f = w->f;
	const struct facts_value *v = &f->values[call];

	set(&s->file, facts_string(f, v->file));
	set(&s->function, facts_string(f, f->functions[facts_function_at(f, call)].name));
	s->line = v->line;
	s->column = v->column;
}

/* ---- creations ---- */

static bool is_creation(const struct slice_statement *s)
{
	return s->operation && !strcmp(s->operation, "thread-create");
}

/* Returns true if block `to` of a function can be executed after block `from`.  Blocks are numbered
 * from the first block of the function. */
static bool can_follow(const struct facts_graph *g, uint32_t from, uint32_t to)
{
	uint32_t *todo = rd_xcalloc(g->nodes + 1, sizeof *todo);
	bool *seen = rd_xcalloc(g->nodes + 1, sizeof *seen);
	size_t count = 0;
	bool found;

	todo[count++] = from;
	while (count && !seen[to]) {
		uint32_t n = todo[--count];

		for (uint32_t e = g->succ_start[n]; e < g->succ_start[n + 1]; e++)
			if (!seen[g->succ[e]]) {
				seen[g->succ[e]] = true;
				todo[count++] = g->succ[e];
			}
	}
	found = seen[to];
	RD_FREE(todo, seen);
	return found;
}

/* Returns true if a thread makes the calls in this order, and each of them at most once.  This is
 * so if each call can follow the one before it, and no path leads back. */
static bool is_sequence(const struct calls *c, const struct facts_graph *g, uint32_t base)
{
	const uint32_t *block_of = c->w->depend->block_of;

	for (size_t i = 0; i < c->count; i++)
		for (size_t k = i; k < c->count; k++) {
			uint32_t a = block_of[c->lines[i]] - base, b = block_of[c->lines[k]] - base;

			if (can_follow(g, b, a) || (a != b && !can_follow(g, a, b)))
				return false;
		}
	return true;
}

static int by_block(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* Sorts the calls in the order in which threads make them.  Returns false unless all of them are in
 * one function that no code calls, such as main().  Also returns false if a thread may make a call
 * twice, or if the order may vary. */
static bool sort_calls(struct calls *c)
{
	const struct facts *f = c->w->f;
	const struct depend *d = c->w->depend;
	uint32_t function = facts_function_at(f, c->lines[0]);
	struct facts_graph g;
	bool sorted;

	for (size_t i = 0; i < c->count; i++)
		if (facts_function_at(f, c->lines[i]) != function)
			return false;
	if (d->callers_of[function] != d->callers_of[function + 1])
		return false;
	qsort(c->lines, c->count, sizeof *c->lines, by_block);
	facts_flow(f, function, &g);
	sorted = is_sequence(c, &g, facts_blocks_of(f, function).first);
	facts_graph_release(&g);
	return sorted;
}

static void tell_apart(const struct calls *c, struct sketch_run *run, uint32_t statement,
		       const uint32_t *numbers)
{
	size_t met = 0;

	for (size_t i = 0; i < run->count; i++)
		met += run->events[i].statement == statement;
	RD_ASSERT(c->count >= 2 && c->count <= MOST_CALLS);
	if (met != c->count || run->cut)
		return;
	met = 0;
	for (size_t i = 0; i < run->count; i++)
		if (run->events[i].statement == statement)
			run->events[i].statement = numbers[met++];
}

static void place_creations(struct calls *c, uint32_t statement)
{
	struct sketch_runs *runs = c->w->runs;
	uint32_t numbers[MOST_CALLS];

	if (c->count < 2 || !sort_calls(c))
		return;
	for (size_t i = 0; i < c->count; i++) {
		struct slice_statement s = runs->statements[statement];

		s.file = s.function = NULL;
		move_to(c->w, &s, c->lines[i]);
		numbers[i] = sketch_statement(runs, &s);
		RD_FREE(s.file, s.function);
	}
	for (size_t i = 0; i < runs->count; i++)
		tell_apart(c, &runs->items[i], statement, numbers);
}

void caller_place(const struct facts *f, struct sketch_runs *runs)
{
	struct depend depend;
	struct work w = {.depend = &depend, .f = f, .runs = runs};
	size_t known = runs->statement_count;

	depend_init(&depend, f);
	for (uint32_t i = 0; i < known; i++) {
		struct calls c = {.w = &w, .seen = RD_UMAP_INIT};

		if (!sketch_is_system_file(runs->statements[i].file))
			continue;
		find_calls(&c, &runs->statements[i]);
		if (c.too_many)
			continue;
		if (c.count == 1)
			move_to(&w, &runs->statements[i], c.lines[0]);
		else if (is_creation(&runs->statements[i]))
			place_creations(&c, i);
	}
	depend_release(&depend);
}

/* ---- questions ---- */

static bool leads(struct caller *c, const struct slice_statement *header, const char *file, uint32_t line)
{
	struct work w = {.depend = &c->depend, .f = c->f};
	struct calls calls = {.w = &w, .seen = RD_UMAP_INIT};

	find_calls(&calls, header);
	for (size_t i = 0; i < calls.count; i++) {
		const struct facts_value *v = &c->f->values[calls.lines[i]];

		if (v->line == line && !strcmp(rd_base_name(facts_string(c->f, v->file)), rd_base_name(file)))
			return true;
	}
	return false;
}

bool caller_leads(struct caller *c, const struct slice_statement *header, const char *file, uint32_t line)
{
	struct rd_buf key = RD_BUF_INIT;
	size_t known = c->asked.count;
	uint32_t n;

	if (!c->open) {
		depend_init(&c->depend, c->f);
		c->asked = (struct rd_names)RD_NAMES_INIT;
		c->open = true;
	}
	rd_buf_addf(&key, "%s:%" PRIu32 " %s:%" PRIu32, header->file, header->line, file, line);
	n = rd_names_put(&c->asked, key.data, key.length);
	rd_buf_release(&key);
	RD_GROW(c->answers, c->answer_capacity, n + 1);
	if (n == known)
		c->answers[n] = leads(c, header, file, line);
	return c->answers[n];
}

void caller_release(struct caller *c)
{
	if (!c->open)
		return;
	depend_release(&c->depend);
	rd_names_release(&c->asked);
	free(c->answers);
	*c = (struct caller){0};
}
