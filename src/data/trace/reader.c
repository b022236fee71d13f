/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads a trace directory on disk.  Callers get the meta data, the site table, the streams of
 * single threads, and all streams merged into one.
 *
 * Invariants:
 * 1. Stream files are mapped when the trace is opened and stay mapped, so any number of streams can
 *    be opened on them.
 * 2. In a merge, a lane (the stream of one thread and its next event) advances only when it is at
 *    the top of the heap.  Its key never decreases, so the heap needs repair only after an event
 *    with q.
 */
#include "trace/reader.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "base/heap.h"
#include "trace/format-int.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Marks a file whose name does not contain a thread number.  Its header contains the number. */
#define ANY_NUMBER UINT32_MAX

struct thread_file {
	uint32_t number;
	char *path;
	struct rd_map map;
	bool mapped;
	bool reported; /* damage of the file has been reported */
	bool unusable; /* the header of the file is invalid, which has been reported */
};

struct trace {
	char *path;
	struct trace_meta meta;
	struct trace_sites *sites;
	struct thread_file *threads;
	size_t count, capacity;
	struct trace_inflater *inflater;
	struct trace_limit limit;
};

static void add_thread(struct trace *t, uint32_t number, char *path)
{
	RD_GROW(t->threads, t->capacity, t->count + 1);
	t->threads[t->count++] = (struct thread_file){.number = number, .path = path};
}

/* Returns true if the name is "thread-" and a number without leading zeros, and nothing else. */
static bool thread_number(const char *name, uint32_t *number)
{
	unsigned n;
	int used = 0;
	char again[32];
	if (sscanf(name, "thread-%9u%n", &n, &used) != 1 || name[used])
		return false;
	snprintf(again, sizeof again, "thread-%u", n);
	*number = n;
	return strcmp(name, again) == 0;
}

static int compare_threads(const void *a, const void *b)
{
	const struct thread_file *x = a, *y = b;
	return x->number < y->number ? -1 : x->number > y->number;
}

static int list_threads(struct trace *t, bool force)
{
	DIR *d = opendir(t->path);
	if (!d)
		return rd_fail_errno("trace: cannot list the directory %s", t->path);
	for (struct dirent *e = readdir(d); e; e = readdir(d)) {
		uint32_t number;
		if (thread_number(e->d_name, &number))
			add_thread(t, number, rd_xasprintf("%s/%s", t->path, e->d_name));
	}
	closedir(d);
	if (t->count > 0)
		qsort(t->threads, t->count, sizeof *t->threads, compare_threads);
	/* An import also counts threads that have no lines, but are mentioned by other threads. */
	if (!force && t->meta.complete && t->meta.key && t->count < t->meta.threads)
		return rd_fail(
			RD_EFORMAT,
			"trace: %s has %zu streams, but meta.json counts %llu; 'raddle dump --force' shows "
			"what is there",
			t->path, t->count, (unsigned long long)t->meta.threads);
	return RD_OK;
}

static int map_threads(struct trace *t)
{
	for (size_t i = 0; i < t->count; i++) {
		int err = rd_map_open(&t->threads[i].map, t->threads[i].path);
		if (err)
			return err;
		t->threads[i].mapped = true;
		if (t->threads[i].number == ANY_NUMBER && t->threads[i].map.length >= TRACE_STREAM_HEADER)
			t->threads[i].number = trace_get32(t->threads[i].map.data + 12);
	}
	return RD_OK;
}

/* Reads meta.json and the site table of `directory`. */
static int read_tables(struct trace *t, const char *directory, bool force)
{
	char *meta = rd_xasprintf("%s/meta.json", directory);
	char *sites = rd_xasprintf("%s/sites", directory);
	int err = RD_OK;
	if (rd_file_exists(meta))
		err = trace_meta_read(&t->meta, meta);
	else if (!force)
		err = rd_fail(RD_ENOTFOUND,
			      "trace: %s has no meta.json; 'raddle dump --force' shows the trace without it",
			      directory);
	if (force)
		err = RD_OK;
	if (!err && rd_file_exists(sites))
		err = trace_sites_read(&t->sites, sites);
	else if (!err && !force)
		err = rd_fail(
			RD_ENOTFOUND,
			"trace: %s has no site table; 'raddle dump --force' shows the trace without names",
			directory);
	if (force)
		err = RD_OK;
	free(meta);
	free(sites);
	return err;
}

static int open_file(struct trace *t, const char *path)
{
	const char *slash = strrchr(path, '/');
	char *directory = slash ? rd_xstrndup(path, (size_t)(slash - path)) : rd_xstrdup(".");
	uint32_t number = ANY_NUMBER;
	thread_number(slash ? slash + 1 : path, &number);
	add_thread(t, number, rd_xstrdup(path));
	int err = read_tables(t, directory, true);
	free(directory);
	return err;
}

void trace_close(struct trace *t)
{
	if (!t)
		return;
	for (size_t i = 0; i < t->count; i++) {
		if (t->threads[i].mapped)
			rd_map_close(&t->threads[i].map);
		free(t->threads[i].path);
	}
	free(t->threads);
	trace_meta_release(&t->meta);
	trace_sites_free(t->sites);
	trace_inflater_free(t->inflater);
	free(t->path);
	free(t);
}

int trace_open(struct trace **out, const char *path, bool force)
{
	RD_ASSERT(out != NULL && path != NULL);
	struct stat st;
	if (stat(path, &st) != 0)
		return rd_fail_errno("trace: %s", path);
	struct trace *t = rd_xcalloc(1, sizeof *t);
	t->path = rd_xstrdup(path);
	t->inflater = trace_inflater_new();
	int err = S_ISDIR(st.st_mode) ? read_tables(t, path, force) : open_file(t, path);
	if (!err && S_ISDIR(st.st_mode))
		err = list_threads(t, force);
	if (!err)
		err = map_threads(t);
	if (err)
		trace_close(t);
	else
		*out = t;
	return err;
}

const char *trace_path(const struct trace *t)
{
	return t->path;
}

const struct trace_meta *trace_get_meta(const struct trace *t)
{
	return &t->meta;
}

const struct trace_sites *trace_get_sites(const struct trace *t)
{
	return t->sites;
}

size_t trace_thread_count(const struct trace *t)
{
	return t->count;
}

uint32_t trace_thread_number(const struct trace *t, size_t index)
{
	RD_ASSERT(index < t->count);
	return t->threads[index].number;
}

static int open_thread(struct trace *t, size_t index, struct trace_stream *s, bool full)
{
	RD_ASSERT(index < t->count);
	struct thread_file *f = &t->threads[index];
	if (f->unusable)
		return RD_EFORMAT;
	int err = trace_stream_open(s, t->inflater, f->map.data, f->map.length, f->path, full);
	if (!err && s->thread != f->number) {
		err = rd_fail(RD_EFORMAT, "trace: %s: offset 12: the stream is that of thread %u", f->path,
			      s->thread);
		trace_stream_close(s);
	}
	if (err) {
		f->unusable = true;
		return err;
	}
	s->reported = &f->reported;
	s->limit = &t->limit;
	return RD_OK;
}

void trace_set_deadline(struct trace *t, int64_t deadline_ns)
{
	t->limit.deadline_ns = deadline_ns;
	t->limit.late = false;
}

bool trace_is_late(const struct trace *t)
{
	return t->limit.late;
}

int trace_open_thread(struct trace *t, size_t index, struct trace_stream *s)
{
	return open_thread(t, index, s, false);
}

int trace_open_thread_full(struct trace *t, size_t index, struct trace_stream *s)
{
	return open_thread(t, index, s, true);
}

bool trace_is_full(const struct trace *t)
{
	for (size_t i = 0; i < t->count; i++)
		if (t->threads[i].map.length >= 8 && memcmp(t->threads[i].map.data, TRACE_FULL_MAGIC, 8) == 0)
			return true;
	return false;
}

static bool lane_before(const void *merge, uint32_t a, uint32_t b)
{
	const struct trace_lane *lanes = ((const struct trace_merge *)merge)->lanes;

	if (lanes[a].stream.last_q != lanes[b].stream.last_q)
		return lanes[a].stream.last_q < lanes[b].stream.last_q;
	return a < b;
}

static void advance(struct trace_merge *m, struct trace_lane *lane)
{
	int got = trace_stream_next(&lane->stream, &lane->event);
	if (got < 0 && !m->err)
		m->err = got;
	lane->live = got > 0;
}

int trace_merge_open(struct trace_merge *m, struct trace *t)
{
	RD_ASSERT(t != NULL);
	memset(m, 0, sizeof *m);
	m->trace = t;
	m->lane_count = t->count;
	m->lanes = rd_xcalloc(t->count + 1, sizeof *m->lanes);
	m->heap = rd_xcalloc(t->count + 1, sizeof *m->heap);
	for (size_t i = 0; i < t->count; i++) {
		struct trace_lane *lane = &m->lanes[i];
		lane->index = i;
		int err = trace_open_thread(t, i, &lane->stream);
		if (err && !m->err)
			m->err = err;
		if (!err)
			advance(m, lane);
		if (lane->live)
			rd_heap_push(m->heap, &m->heap_count, (uint32_t)i, lane_before, m);
	}
	return RD_OK;
}

void trace_merge_close(struct trace_merge *m)
{
	for (size_t i = 0; i < m->lane_count; i++)
		trace_stream_close(&m->lanes[i].stream);
	free(m->lanes);
	free(m->heap);
	memset(m, 0, sizeof *m);
}

struct trace_lane *trace_merge_next(struct trace_merge *m)
{
	if (m->heap_count == 0)
		return NULL;
	if (m->started) {
		struct trace_lane *lane = &m->lanes[m->heap[0]];
		uint64_t key = lane->stream.last_q;
		advance(m, lane);
		if (!lane->live)
			rd_heap_pop(m->heap, &m->heap_count, lane_before, m);
		else if (lane->stream.last_q != key)
			rd_heap_place(m->heap, m->heap_count, 0, m->heap[0], lane_before, m);
	}
	m->started = true;
	return m->heap_count > 0 ? &m->lanes[m->heap[0]] : NULL;
}

int trace_each(struct trace *trace, trace_lane_fn *fn, void *context)
{
	struct trace_merge m;
	int err = trace_merge_open(&m, trace);

	if (err)
		return err;
	for (struct trace_lane *lane = trace_merge_next(&m); lane; lane = trace_merge_next(&m))
		fn(context, lane);
	trace_merge_close(&m);
	return RD_OK;
}
