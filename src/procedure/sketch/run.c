// SPDX-License-Identifier: Apache-2.0
/*
 * Runs and their statements.  A statement has the same number in all runs of a diagnosis, so that
 * events of different runs can be compared.
 */
#include "sketch/run.h"

#include "base/alloc.h"
#include "base/error.h"

#include <stdlib.h>
#include <string.h>

static void release_run(struct sketch_run *run)
{
	RD_FREE(run->signature, run->events, run->schedule);
}

void sketch_runs_release(struct sketch_runs *r)
{
	for (size_t i = 0; i < r->count; i++)
		release_run(&r->items[i]);
	for (size_t i = 0; i < r->statement_count; i++) {
		struct slice_statement *s = &r->statements[i];

		RD_FREE(s->file, s->function, s->variable, s->operation);
	}
	RD_FREE(r->items, r->statements);
	*r = (struct sketch_runs){0};
}

struct sketch_run *sketch_run_add(struct sketch_runs *r)
{
	RD_GROW(r->items, r->capacity, r->count + 1);
	r->items[r->count] = (struct sketch_run){0};
	return &r->items[r->count++];
}

static bool is_same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static bool is_same(const struct slice_statement *a, const struct slice_statement *b)
{
	return a->line == b->line && a->column == b->column && a->kind == b->kind &&
	       is_same_text(a->file, b->file) && is_same_text(a->variable, b->variable) &&
	       is_same_text(a->operation, b->operation);
}

static char *copy(const char *text)
{
	return text ? rd_xstrdup(text) : NULL;
}

uint32_t sketch_statement(struct sketch_runs *r, const struct slice_statement *s)
{
	struct slice_statement *now;

	RD_ASSERT(s->file && r->statement_count < UINT32_MAX);
	for (size_t i = 0; i < r->statement_count; i++)
		if (is_same(&r->statements[i], s))
			return (uint32_t)i;
	RD_GROW(r->statements, r->statement_capacity, r->statement_count + 1);
	now = &r->statements[r->statement_count];
	*now = *s;
	now->file = copy(s->file);
	now->function = copy(s->function);
	now->variable = copy(s->variable);
	now->operation = copy(s->operation);
	return (uint32_t)r->statement_count++;
}

void sketch_event_add(struct sketch_run *run, const struct sketch_event *e)
{
	RD_GROW(run->events, run->capacity, run->count + 1);
	run->events[run->count++] = *e;
}

const char *sketch_outcome_name(enum sketch_outcome o)
{
	static const char *const names[] = {"passed", "crash", "assertion", "hang", "exit", "output"};

	RD_ASSERT(o < sizeof names / sizeof *names);
	return names[o];
}
