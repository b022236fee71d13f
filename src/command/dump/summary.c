// SPDX-License-Identifier: Apache-2.0
/*
 * `raddle dump --summary`: an overview of a trace.  It shows how the run ended, its threads, its
 * locks with wait and hold times, the data that threads share, and the number of events of each
 * kind.
 */
#include "dump/dump-int.h"

#include "base/alloc.h"
#include "base/compare.h"
#include "base/error.h"
#include "base/map.h"
#include "base/name.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The maximum number of rows of a table in text form; the table of threads may have twice as many.
 * The summary then fills about two screens. */
#define ROWS 12
/* A synchronisation object with fewer uses than this gets no row, because a single use orders
 * nothing. */
#define USES_MIN 2

/* The sums of the accesses of a shared object. */
struct use {
	uint32_t object;
	uint32_t threads, last_thread;
	uint64_t reads, writes;
	uint32_t site; /* the site of the first write or, until there is one, of the first access */
};

struct summary {
	struct dump *dump;
	FILE *out;
	const struct model *model;
	struct use *uses;
	size_t use_count;
	uint32_t *use_of; /* for each object, its index in `uses`, or MODEL_NONE */
	/* The synchronisation objects; the most contended ones are first, then the most used
	 * ones. */
	uint32_t *syncs;
};

static void count_use(struct summary *s, uint32_t object, uint32_t thread, const struct trace_event *e)
{
	RD_ASSERT(s->use_of[object] < s->use_count);
	struct use *u = &s->uses[s->use_of[object]];
	bool write = dump_event_writes(s->dump, e);
	u->reads += !write;
	u->writes += write;
	if (u->last_thread != thread)
		u->threads++;
	u->last_thread = thread;
	if (u->site == 0 || (write && u->writes == 1))
		u->site = e->site;
}

static void count_stream(struct summary *s, size_t stream)
{
	const struct model *m = s->model;
	struct trace_stream in;
	struct trace_event e;
	uint32_t thread = model_thread_of_stream(m, stream);
	if (trace_open_thread(m->trace, stream, &in) != RD_OK)
		return;
	while (trace_stream_next(&in, &e) > 0) {
		if (!raddle_is_access(e.kind))
			continue;
		uint32_t object = model_find_cached(m, &s->dump->cache, e.address, in.last_q);
		if (object != MODEL_NONE && s->use_of[object] != MODEL_NONE)
			count_use(s, object, thread, &e);
	}
	trace_stream_close(&in);
}

static int by_touches(const void *a, const void *b)
{
	const struct use *x = a, *y = b;
	RD_BY(y->reads + y->writes, x->reads + x->writes);
	RD_BY(x->object, y->object);
	return 0;
}

static void collect_uses(struct summary *s)
{
	const struct model *m = s->model;
	size_t capacity = 0;
	s->use_of = rd_xmalloc((m->object_count + 1) * sizeof *s->use_of);
	for (size_t i = 0; i < m->object_count; i++) {
		s->use_of[i] = MODEL_NONE;
		if (!(m->objects[i].flags & MODEL_SHARED))
			continue;
		RD_GROW(s->uses, capacity, s->use_count + 1);
		s->use_of[i] = (uint32_t)s->use_count;
		s->uses[s->use_count++] = (struct use){.object = (uint32_t)i, .last_thread = MODEL_NONE};
	}
	RD_ASSERT(s->use_count <= m->object_count);
	for (size_t i = 0; i < trace_thread_count(m->trace); i++)
		count_stream(s, i);
	if (s->use_count > 0)
		qsort(s->uses, s->use_count, sizeof *s->uses, by_touches);
}

static int by_uses(const void *a, const void *b, void *model)
{
	const struct model_sync *syncs = ((const struct model *)model)->syncs;
	const struct model_sync *x = &syncs[*(const uint32_t *)a], *y = &syncs[*(const uint32_t *)b];
	if (x->contended != y->contended)
		return x->contended > y->contended ? -1 : 1;
	if (x->uses != y->uses)
		return x->uses > y->uses ? -1 : 1;
	return x < y ? -1 : 1;
}

static void sort_syncs(struct summary *s)
{
	s->syncs = rd_xmalloc((s->model->sync_count + 1) * sizeof *s->syncs);
	for (size_t i = 0; i < s->model->sync_count; i++)
		s->syncs[i] = (uint32_t)i;
	if (s->model->sync_count > 0)
		qsort_r(s->syncs, s->model->sync_count, sizeof *s->syncs, by_uses, (void *)s->model);
}

static void text_end(const struct summary *s, const struct trace_meta *m)
{
	char life[24];
	if (m->end == TRACE_EXITED)
		fprintf(s->out, "exit status %d", m->code);
	else if (m->end == TRACE_SIGNALLED)
		fprintf(s->out, "killed by signal %d%s", m->code, m->core ? " (core dumped)" : "");
	else
		fprintf(s->out, "end not recorded");
	if (m->end_ns > m->start_ns)
		fprintf(s->out, " after %s", dump_duration(m->end_ns - m->start_ns, life));
	if (m->stopped)
		fprintf(s->out, "; recording stopped: %s", m->stopped);
	putc('\n', s->out);
}

static void text_head(const struct summary *s)
{
	const struct trace_meta *meta = trace_get_meta(s->model->trace);
	char bytes[24];
	fprintf(s->out, "Recorded:");
	for (size_t i = 0; i < meta->argc; i++)
		fprintf(s->out, " %s", meta->argv[i]);
	if (meta->argc == 0)
		fprintf(s->out, " %s", meta->program ? meta->program : RD_UNKNOWN);
	fprintf(s->out, "\nEnded:    ");
	text_end(s, meta);
	fprintf(s->out, "Trace:    %llu events of %zu threads", (unsigned long long)s->model->events,
		s->model->thread_count);
	if (meta->bytes > 0 && s->model->events > 0)
		fprintf(s->out, ", %s on disk (%.2f bytes per event)", dump_bytes(meta->bytes, bytes),
			(double)meta->bytes / (double)s->model->events);
	fprintf(s->out, "\n");
	if (meta->left_from)
		fprintf(s->out, "Left out: %llu accesses at frequently executed places, from q %llu on\n",
			(unsigned long long)meta->left_out, (unsigned long long)meta->left_from);
	if (s->model->kinds[RADDLE_FORK] > 0)
		fprintf(s->out, "Forked:   %llu times; the children's traces are %s/fork-0 and so on\n",
			(unsigned long long)s->model->kinds[RADDLE_FORK], trace_path(s->model->trace));
}

static void text_threads(const struct summary *s)
{
	const struct model *m = s->model;
	struct rd_buf where = RD_BUF_INIT;
	char life[24];
	fprintf(s->out, "\nThreads          accesses   atomics  sync ops      life  created at\n");
	for (size_t i = 0; i < m->thread_count && i < 2 * ROWS; i++) {
		const struct model_thread *t = &m->threads[i];
		rd_buf_clear(&where);
		if (t->create_stack)
			dump_location(m->sites, m->stacks[t->create_stack].site, &where);
		if (t->parent == MODEL_NONE && i == 0)
			rd_buf_adds(&where, "(the initial thread)");
		if (t->label)
			rd_buf_addf(&where, " \"%s\"", t->label);
		fprintf(s->out, "  %-12s %10llu %9llu %9llu %9s  %s\n", t->name,
			(unsigned long long)(t->accesses + t->ranges), (unsigned long long)t->atomics,
			(unsigned long long)t->operations,
			t->end_t > t->start_t ? dump_duration(t->end_t - t->start_t, life) : RD_UNKNOWN,
			where.data);
	}
	if (m->thread_count > 2 * ROWS)
		fprintf(s->out, "  ... and %zu more\n", m->thread_count - 2 * ROWS);
	rd_buf_release(&where);
}

static void text_sync(const struct summary *s, uint32_t sync)
{
	const struct model_sync *y = &s->model->syncs[sync];
	bool lock = raddle_is_lock_class(y->class);
	struct rd_buf text = RD_BUF_INIT;
	char time[24];
	model_name_sync(s->model, sync, &text);
	fprintf(s->out, "  %-26s %-7s %7llu  ", text.data, trace_class_name(y->class),
		(unsigned long long)y->uses);
	rd_buf_clear(&text);
	if (y->contended > 0)
		rd_buf_addf(&text, "%llu x %s", (unsigned long long)y->contended,
			    dump_duration(y->wait_ns / y->contended, time));
	else if (y->wait_ns > 0)
		rd_buf_addf(&text, "%s in total", dump_duration(y->wait_ns, time));
	else if (lock)
		rd_buf_adds(&text, "never");
	if (lock)
		fprintf(s->out, "%-18s %s\n", text.data, dump_duration(y->hold_max_ns, time));
	else
		fprintf(s->out, "%s\n", text.data);
	rd_buf_release(&text);
}

static void text_syncs(const struct summary *s)
{
	const struct model *m = s->model;
	size_t rows = 0, shared = 0;
	for (size_t i = 0; i < m->sync_count; i++) {
		const struct model_sync *y = &m->syncs[s->syncs[i]];
		if (!y->multi || y->uses + y->contended < USES_MIN)
			continue;
		if (shared++ >= ROWS)
			continue;
		if (rows++ == 0)
			fprintf(s->out,
				"\nLocks and other synchronisation between threads\n"
				"  name                       kind       used  waited for         longest "
				"held\n");
		text_sync(s, s->syncs[i]);
	}
	if (shared > rows)
		fprintf(s->out, "  ... and %zu more\n", shared - rows);
	if (rows == 0)
		fprintf(s->out, "\nNo lock or other synchronisation object is used by two threads.\n");
}

/* A row of the table of shared data: one object, or all heap objects that were allocated at one
 * place. */
struct row {
	const struct use *first;
	uint32_t site; /* the site of the allocation; 0 if it is unknown or not a heap object */
	uint32_t objects, threads;
	uint64_t bytes, reads, writes;
};

static int by_row(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	RD_BY(y->reads + y->writes, x->reads + x->writes);
	RD_BY(x->first, y->first);
	return 0;
}

static struct row *find_row(struct rd_umap *rows_of, struct row *rows, size_t *count, uint32_t site)
{
	bool is_new = true;
	uint64_t *index = site ? rd_umap_put(rows_of, site, &is_new) : NULL;
	if (!is_new)
		return &rows[*index];
	if (index)
		*index = *count;
	rows[*count] = (struct row){.site = site};
	return &rows[(*count)++];
}

static struct row *group_uses(const struct summary *s, size_t *count)
{
	const struct model *m = s->model;
	struct rd_umap rows_of = RD_UMAP_INIT;
	struct row *rows = rd_xcalloc(s->use_count + 1, sizeof *rows);
	*count = 0;
	for (size_t i = 0; i < s->use_count; i++) {
		const struct use *u = &s->uses[i];
		const struct model_object *o = &m->objects[u->object];
		struct row *r = find_row(&rows_of, rows, count, m->stacks[o->stack].site);
		r->first = r->first ? r->first : u;
		r->threads = u->threads > r->threads ? u->threads : r->threads;
		r->objects++;
		r->bytes += model_shared_bytes(m, u->object);
		r->reads += u->reads;
		r->writes += u->writes;
	}
	RD_ASSERT(*count > 0 && *count <= s->use_count);
	rd_umap_release(&rows_of);
	qsort(rows, *count, sizeof *rows, by_row);
	return rows;
}

static void text_row(const struct summary *s, const struct row *r)
{
	const struct model *m = s->model;
	struct rd_buf text = RD_BUF_INIT;
	RD_ASSERT(r->first && r->objects > 0);
	model_name_object(m, r->first->object, &text);
	if (r->objects > 1)
		rd_buf_addf(&text, " and %u like it", r->objects - 1);
	fprintf(s->out, "  %-26s %8llu %9llu %9llu %7u", text.data, (unsigned long long)r->bytes,
		(unsigned long long)r->reads, (unsigned long long)r->writes, r->threads);
	rd_buf_clear(&text);
	rd_buf_adds(&text, r->site ? "allocated at " : "written at ");
	dump_location(m->sites, r->site ? r->site : r->first->site, &text);
	fprintf(s->out, "  %s\n", text.data);
	rd_buf_release(&text);
}

static void text_shared(const struct summary *s)
{
	size_t count;
	if (s->use_count == 0) {
		fprintf(s->out,
			"\nNo data is shared: no byte is written by one thread and touched by another.\n");
		return;
	}
	struct row *rows = group_uses(s, &count);
	fprintf(s->out, "\nShared data: touched by two threads or more, and written\n"
			"  object                        bytes     reads    writes threads  where\n");
	for (size_t i = 0; i < count && i < ROWS; i++)
		text_row(s, &rows[i]);
	if (count > ROWS)
		fprintf(s->out, "  ... and %zu more\n", count - ROWS);
	free(rows);
}

static void text_kinds(const struct summary *s)
{
	int column = 0;
	fprintf(s->out, "\nEvents by kind\n");
	for (unsigned kind = 0; kind <= RADDLE_ACCESS; kind++) {
		if (s->model->kinds[kind] == 0)
			continue;
		fprintf(s->out, "  %-18s%8llu", trace_kind(kind)->name,
			(unsigned long long)s->model->kinds[kind]);
		if (++column % 2 == 0)
			putc('\n', s->out);
		else
			fprintf(s->out, "    ");
	}
	if (column % 2)
		putc('\n', s->out);
}

static void json_syncs(struct rd_json *j, const struct summary *s)
{
	const struct model *m = s->model;
	struct rd_buf name = RD_BUF_INIT;
	rd_json_array(j, "syncs");
	for (size_t i = 0; i < m->sync_count; i++) {
		const struct model_sync *y = &m->syncs[s->syncs[i]];
		rd_buf_clear(&name);
		model_name_sync(m, s->syncs[i], &name);
		rd_json_object(j, NULL);
		RD_JSON(j, RD_JS("name", name.data), RD_JS("class", trace_class_name(y->class)),
			RD_JB("shared", y->multi), RD_JU("uses", y->uses), RD_JU("contended", y->contended),
			RD_JU("wait_ns", y->wait_ns), RD_JU("hold_ns", y->hold_ns),
			RD_JU("hold_max_ns", y->hold_max_ns));
		rd_json_end(j);
	}
	rd_json_end(j);
	rd_buf_release(&name);
}

static void json_stack(struct rd_json *j, const struct model *m, uint32_t stack)
{
	rd_json_array(j, "allocated_at");
	for (; stack; stack = m->stacks[stack].parent)
		dump_json_frames(j, m->sites, m->stacks[stack].site);
	rd_json_end(j);
}

static void json_shared(struct rd_json *j, const struct summary *s)
{
	const struct model *m = s->model;
	struct rd_buf name = RD_BUF_INIT;
	rd_json_array(j, "shared");
	for (size_t i = 0; i < s->use_count; i++) {
		const struct use *u = &s->uses[i];
		rd_buf_clear(&name);
		model_name_object(m, u->object, &name);
		rd_json_object(j, NULL);
		RD_JSON(j, RD_JS("object", name.data), RD_JU("size", m->objects[u->object].size),
			RD_JU("shared_bytes", model_shared_bytes(m, u->object)), RD_JU("reads", u->reads),
			RD_JU("writes", u->writes), RD_JU("threads", u->threads));
		if (m->objects[u->object].stack)
			json_stack(j, m, m->objects[u->object].stack);
		rd_json_end(j);
	}
	rd_json_end(j);
	rd_buf_release(&name);
}

static void json_summary(const struct summary *s)
{
	struct rd_json j;
	rd_json_begin(&j, s->out);
	rd_json_object(&j, NULL);
	rd_json_number(&j, "version", 1);
	dump_json_trace(&j, s->dump);
	dump_json_threads(&j, s->dump);
	json_syncs(&j, s);
	json_shared(&j, s);
	rd_json_object(&j, "kinds");
	for (unsigned kind = 0; kind <= RADDLE_ACCESS; kind++) {
		if (s->model->kinds[kind] > 0)
			rd_json_unsigned(&j, trace_kind(kind)->name, s->model->kinds[kind]);
	}
	rd_json_end(&j);
	rd_json_end(&j);
	putc('\n', s->out);
}

int dump_summary(struct dump *d)
{
	struct summary s = {.dump = d, .out = d->out, .model = d->model};
	collect_uses(&s);
	sort_syncs(&s);
	if (d->opt->json) {
		json_summary(&s);
	} else {
		text_head(&s);
		text_threads(&s);
		text_syncs(&s);
		text_shared(&s);
		text_kinds(&s);
	}
	RD_FREE(s.uses, s.use_of, s.syncs);
	return d->model->err;
}
