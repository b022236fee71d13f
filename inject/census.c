// SPDX-License-Identifier: Apache-2.0
/*
 * The census.  In: a full trace.  Out: entries (thread, site, executions).  One pass over the records of each
 * thread, with those of values; numbers of threads, which depend on the schedule, are replaced by names
 * first.
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

#define NAME_MAX_BYTES 1024

struct start {
	char *name;
	uint32_t number, parent, index;
	size_t stream;
	bool known, root;
};

/* What the thread-start event says, which is among the first records. */
static int read_start(struct trace *trace, const struct trace_layout *layout, size_t i, struct start *s)
{
	struct trace_full *f;
	struct trace_record r;
	int err = trace_full_open(&f, trace, layout, i, false);

	*s = (struct start){.number = trace_thread_number(trace, i), .stream = i};
	if (err)
		return err;
	s->root = s->number == 0;
	while (!s->known && (err = trace_full_next(f, &r)) > 0)
		if (r.kind == TRACE_FULL_EVENT && r.event->kind == RADDLE_THREAD_START) {
			s->parent = (uint32_t)r.event->values[2];
			s->index = (uint32_t)r.event->values[3];
			s->known = true;
		}
	trace_full_close(f);
	return err < 0 ? err : 0;
}

static const struct start *find_start(const struct start *starts, size_t count, uint32_t number)
{
	for (size_t i = 0; i < count; i++)
		if (starts[i].number == number)
			return &starts[i];
	return NULL;
}

/* Parents were numbered before their children. */
static void name_threads(struct start *starts, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct start *parent = starts[i].known ? find_start(starts, i, starts[i].parent) : NULL;

		if (starts[i].root)
			starts[i].name = rd_xstrdup("T_0");
		else if (parent && parent->name && strlen(parent->name) < NAME_MAX_BYTES)
			starts[i].name = rd_xasprintf("%s_%u", parent->name, starts[i].index);
	}
}

static int compare_starts(const void *a, const void *b)
{
	const struct start *x = a, *y = b;

	return strcmp(x->name ? x->name : "", y->name ? y->name : "");
}

static int find_threads(struct inject_census *c, struct trace *trace, const struct trace_layout *layout)
{
	size_t count = trace_thread_count(trace);
	struct start *starts = rd_xcalloc(count + 1, sizeof *starts);
	int err = 0;

	for (size_t i = 0; i < count && !err; i++)
		err = read_start(trace, layout, i, &starts[i]);
	if (!err) {
		name_threads(starts, count);
		qsort(starts, count, sizeof *starts, compare_starts);
	}
	c->names = rd_xcalloc(count + 1, sizeof *c->names);
	c->streams = rd_xcalloc(count + 1, sizeof *c->streams);
	for (size_t i = 0; i < count; i++) {
		if (err || !starts[i].name) {
			free(starts[i].name);
			continue;
		}
		c->names[c->thread_count] = starts[i].name;
		c->streams[c->thread_count++] = starts[i].stream;
	}
	free(starts);
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

int inject_census_take(struct inject_census *c, struct trace *trace, const struct trace_layout *layout)
{
	int err;

	*c = (struct inject_census){0};
	err = find_threads(c, trace, layout);
	for (size_t i = 0; i < c->thread_count && !err; i++)
		err = count_thread(c, trace, layout, i);
	if (err)
		inject_census_release(c);
	return err;
}

void inject_census_release(struct inject_census *c)
{
	for (size_t i = 0; i < c->thread_count; i++)
		free(c->names[i]);
	free(c->names);
	free(c->streams);
	free(c->entries);
	*c = (struct inject_census){0};
}

void inject_where(const struct trace_sites *sites, uint32_t site, char *out, size_t size)
{
	struct rd_buf place = RD_BUF_INIT;

	epa_show_place(sites, site, &place);
	snprintf(out, size, "%s", place.data);
	rd_buf_release(&place);
}
