// SPDX-License-Identifier: Apache-2.0
/*
 * The census.  In: a full trace.  Out: entries that consist of a thread, a site and a number of
 * executions.  Executions are counted in one pass over the records of each thread, including the
 * records of values.  Threads have the names that the walk gives them (epa/walk.h).
 */
#include "inject/census.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/map.h"
#include "epa/show.h"
#include "raddle/event.h"
#include "trace/event.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct named {
	char *name;
	size_t stream;
};

static int compare_names(const void *a, const void *b)
{
	const struct named *x = a, *y = b;

	return strcmp(x->name, y->name);
}

/* Finds the threads and their names.  The index of a thread in the walk is that of its stream.  A
 * thread is left out if its name contains a '?', which means that its creation, or that of an
 * ancestor, is unknown. */
static int find_threads(struct inject_census *c, struct epa_source *source)
{
	struct named *threads;
	struct epa_walk *walk;
	int err = epa_walk_open(&walk, source);

	if (err)
		return err;
	threads = rd_xcalloc(epa_walk_threads(walk) + 1, sizeof *threads);
	for (size_t i = 0; i < epa_walk_threads(walk); i++)
		if (!strchr(epa_walk_name(walk, i), '?'))
			threads[c->thread_count++] = (struct named){rd_xstrdup(epa_walk_name(walk, i)), i};
	err = epa_walk_error(walk);
	epa_walk_close(walk);
	qsort(threads, c->thread_count, sizeof *threads, compare_names);
	c->names = rd_xcalloc(c->thread_count + 1, sizeof *c->names);
	c->streams = rd_xcalloc(c->thread_count + 1, sizeof *c->streams);
	for (size_t i = 0; i < c->thread_count; i++) {
		c->names[i] = threads[i].name;
		c->streams[i] = threads[i].stream;
	}
	free(threads);
	return err;
}

bool inject_census_counts(const struct trace_record *r)
{
	const struct trace_value *v;

	if (r->kind == TRACE_FULL_VALUE)
		return true;
	if ((r->kind != TRACE_FULL_LOAD && r->kind != TRACE_FULL_RESULT) || !r->op || r->op->value_count != 1)
		return false;
	v = &r->op->values[0];
	return (v->type == TRACE_VALUE_FLOAT && (v->size == 4 || v->size == 8)) ||
	       ((v->type == TRACE_VALUE_INT || v->type == TRACE_VALUE_POINTER) && v->size <= 8);
}

static int compare_entries(const void *a, const void *b)
{
	const struct inject_entry *x = a, *y = b;

	return x->site < y->site ? -1 : x->site > y->site;
}

static int count_thread(struct inject_census *c, struct trace *trace, const struct trace_layout *layout,
			size_t thread)
{
	struct rd_umap counts = RD_UMAP_INIT;
	struct trace_full *f;
	struct trace_record r;
	size_t first = c->entry_count;
	int err = trace_full_open(&f, trace, layout, c->streams[thread], true);

	if (err)
		return err;
	while ((err = trace_full_next(f, &r)) > 0) {
		c->records += r.kind != TRACE_FULL_VALUE;
		c->forks += r.kind == TRACE_FULL_EVENT && r.event->kind == RADDLE_FORK;
		if (inject_census_counts(&r))
			++*rd_umap_put(&counts, r.site, NULL);
	}
	trace_full_close(f);
	for (size_t i = 0; i < counts.capacity; i++)
		if (counts.used[i]) {
			RD_GROW(c->entries, c->capacity, c->entry_count + 1);
			c->entries[c->entry_count++] = (struct inject_entry){
				(uint32_t)thread, (uint32_t)counts.keys[i], counts.values[i]};
		}
	if (c->entry_count > first)
		qsort(c->entries + first, c->entry_count - first, sizeof *c->entries, compare_entries);
	rd_umap_release(&counts);
	return err;
}

int inject_census_take(struct inject_census *c, struct epa_source *source, struct trace *trace,
		       const struct trace_layout *layout)
{
	int err;

	*c = (struct inject_census){0};
	err = find_threads(c, source);
	for (size_t i = 0; i < c->thread_count && !err; i++)
		err = count_thread(c, trace, layout, i);
	if (err)
		inject_census_release(c);
	return err;
}

void inject_census_release(struct inject_census *c)
{
	RD_FREE_EACH(c->names, c->thread_count);
	RD_FREE(c->names, c->streams, c->entries);
	*c = (struct inject_census){0};
}

void inject_where(const struct trace_sites *sites, uint32_t site, char *out, size_t size)
{
	RD_ASSERT(size > 0);
	struct rd_buf place = RD_BUF_INIT;

	epa_show_place(sites, site, &place);
	snprintf(out, size, "%s", place.data);
	rd_buf_release(&place);
}
