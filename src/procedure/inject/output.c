// SPDX-License-Identifier: Apache-2.0
/* Compares the outputs of runs.  In: two outputs.  Out: whether they differ in a way that matters,
 * and how. */
#include "inject/output.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "base/process.h"
#include "inject/setup.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Limits that keep diffs readable, chosen by hand. */
#define DIFF_LINES 60 /* maximum number of lines of each side */
#define DIFF_BYTES 16384
#define LINE_BYTES 1024 /* number of bytes of a line; longer lines are cut */
#define CONTEXT 3	/* number of unchanged lines around a difference, as in diff -u */

/* --- comparing ----------------------------------------------------------------------------- */

/* Runs the filter on the data.  Returns false if the filter cannot be run. */
static bool filter_data(const char *command, const struct rd_buf *data, struct rd_buf *result)
{
	int in = memfd_create("raddle-output", MFD_CLOEXEC);
	struct rd_argv argv = RD_ARGV_INIT;
	bool good = in >= 0 && !rd_write_all(in, data->data, data->length);

	if (good) {
		rd_argv_add(&argv, "sh");
		rd_argv_add(&argv, "-c");
		rd_argv_addf(&argv, "{ %s\n} </proc/%d/fd/%d", command, (int)getpid(), in);
		good = rd_run_capture(argv.items, RD_FILE_MAX, result) >= 0;
		rd_argv_release(&argv);
	}
	if (in >= 0)
		close(in);
	return good;
}

static bool equal_data(const struct rd_buf *a, const struct rd_buf *b, const char *filter)
{
	struct rd_buf x = RD_BUF_INIT, y = RD_BUF_INIT;
	bool equal = a->length == b->length && !memcmp(a->data, b->data, a->length);

	if (equal || !filter)
		return equal;
	equal = filter_data(filter, a, &x) && filter_data(filter, b, &y) && x.length == y.length &&
		!memcmp(x.data, y.data, x.length);
	rd_buf_release(&x);
	rd_buf_release(&y);
	return equal;
}

static bool is_ignored(const struct inject_list *patterns, const char *name)
{
	for (size_t i = 0; patterns && i < patterns->count; i++)
		if (!fnmatch(patterns->items[i], name, 0))
			return true;
	return false;
}

bool inject_output_equal(const struct run_output *golden, const struct run_output *run,
			 const struct inject_judge *judge, const char **name)
{
	*name = "stdout";
	if (!is_ignored(judge->ignore, "stdout") && !equal_data(&golden->out, &run->out, judge->filter))
		return false;
	*name = "stderr";
	if (judge->errors && !equal_data(&golden->err, &run->err, judge->filter))
		return false;
	for (size_t i = 0, k = 0; i < golden->count || k < run->count;) {
		int order = i == golden->count ? 1
			    : k == run->count  ? -1
					       : strcmp(golden->files[i].name, run->files[k].name);
		*name = order <= 0 ? golden->files[i].name : run->files[k].name;
		if (!is_ignored(judge->ignore, *name) &&
		    (order || !equal_data(&golden->files[i].data, &run->files[k].data, judge->filter)))
			return false;
		i += order <= 0;
		k += order >= 0;
	}
	*name = NULL;
	return true;
}

/* --- diffs ------------------------------------------------------------------------------------ */

static const struct rd_buf *find_data(const struct run_output *o, const char *name)
{
	static const struct rd_buf nothing = RD_BUF_INIT;

	if (!strcmp(name, "stdout"))
		return &o->out;
	if (!strcmp(name, "stderr"))
		return &o->err;
	for (size_t i = 0; i < o->count; i++)
		if (!strcmp(o->files[i].name, name))
			return &o->files[i].data;
	return &nothing;
}

static size_t line_end(const struct rd_buf *b, size_t at)
{
	RD_ASSERT(at <= b->length);
	const char *newline = memchr(b->data + at, '\n', b->length - at);

	return newline ? (size_t)(newline - b->data) + 1 : b->length;
}

/* Returns the offset of the first byte of a line.  This is the line that contains the byte before
 * `at`. */
static size_t line_begin(const struct rd_buf *b, size_t at)
{
	RD_ASSERT(at <= b->length);
	if (at)
		at--;
	while (at && b->data[at - 1] != '\n')
		at--;
	return at;
}

static void add_lines(struct rd_buf *diff, char sign, const struct rd_buf *b, size_t from, size_t to)
{
	RD_ASSERT(from <= to && to <= b->length);
	for (unsigned n = 0; from < to; n++) {
		size_t end = line_end(b, from), length = end - from;

		if (n == DIFF_LINES || diff->length > DIFF_BYTES) {
			rd_buf_addf(diff, "\\ and %zu bytes more\n", to - from);
			return;
		}
		if (length > LINE_BYTES)
			length = LINE_BYTES;
		rd_buf_addc(diff, sign);
		rd_buf_add(diff, b->data + from, length);
		if (b->data[from + length - 1] != '\n')
			rd_buf_adds(diff, length < end - from ? "...\n" : "\n\\ No newline at end of file\n");
		from = end;
	}
}

static size_t count_lines(const struct rd_buf *b, size_t from, size_t to)
{
	RD_ASSERT(from <= to && to <= b->length);
	size_t n = 0;

	for (; from < to; n++)
		from = line_end(b, from);
	return n;
}

void inject_output_diff(const struct run_output *golden, const struct run_output *run, const char *name,
			struct rd_buf *diff)
{
	const struct rd_buf *a = find_data(golden, name), *b = find_data(run, name);
	size_t shorter = a->length < b->length ? a->length : b->length, same = 0, tail = 0, begin;

	while (same < shorter && a->data[same] == b->data[same])
		same++;
	while (same && a->data[same - 1] != '\n')
		same--;
	while (tail < shorter - same && a->data[a->length - tail - 1] == b->data[b->length - tail - 1])
		tail++;
	while (tail && (tail == a->length - same || a->data[a->length - tail - 1] != '\n' ||
			tail == b->length - same || b->data[b->length - tail - 1] != '\n'))
		tail--;
	begin = same;
	for (int i = 0; i < CONTEXT && begin; i++)
		begin = line_begin(a, begin);
	rd_buf_addf(diff, "--- golden/%s\n+++ run/%s\n@@ -%zu,%zu +%zu,%zu @@\n", name, name,
		    count_lines(a, 0, begin) + 1, count_lines(a, begin, a->length - tail),
		    count_lines(b, 0, begin) + 1, count_lines(b, begin, b->length - tail));
	add_lines(diff, ' ', a, begin, same);
	add_lines(diff, '-', a, same, a->length - tail);
	add_lines(diff, '+', b, same, b->length - tail);
}
