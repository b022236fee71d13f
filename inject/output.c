// SPDX-License-Identifier: Apache-2.0
/*
 * Outputs of runs.  In: a scratch directory and two descriptors.  Out: their contents, whether they differ
 * from others, and how.  Symbolic links count as files that hold where they point to; other things that are
 * no files count by their name.
 */
#include "inject/output.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "base/process.h"
#include "inject/setup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEPTH_MAX 32
#define DIFF_LINES 60 /* of each side */
#define DIFF_BYTES 16384
#define CONTEXT 3

/* --- gathering --------------------------------------------------------------------------- */

static int read_fd(int fd, struct rd_buf *b)
{
	struct stat st;
	off_t at = 0;

	if (fstat(fd, &st))
		return rd_fail_errno("inject: cannot read what the program wrote");
	rd_buf_reserve(b, (size_t)st.st_size + 1);
	while (at < st.st_size) {
		ssize_t n = pread(fd, b->data + b->length, (size_t)(st.st_size - at), at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		at += n;
		b->length += (size_t)n;
	}
	b->data[b->length] = '\0';
	return 0;
}

static struct inject_file *add_file(struct inject_output *o, const char *name)
{
	struct inject_file *f;

	RD_GROW(o->files, o->capacity, o->count + 1);
	f = &o->files[o->count++];
	*f = (struct inject_file){rd_xstrdup(name), RD_BUF_INIT};
	return f;
}

static int gather_directory(struct inject_output *o, const char *root, const char *below, int depth);

static int gather_one(struct inject_output *o, const char *root, const char *name, int depth)
{
	char *path = rd_xasprintf("%s/%s", root, name), target[PATH_MAX];
	struct stat st;
	ssize_t n;
	int r = 0;

	if (lstat(path, &st)) {
		free(path);
		return 0;
	}
	if (S_ISDIR(st.st_mode)) {
		r = depth < DEPTH_MAX ? gather_directory(o, root, name, depth + 1) : 0;
	} else if (S_ISREG(st.st_mode)) {
		struct inject_file *f = add_file(o, name);
		int fd = open(path, O_RDONLY | O_CLOEXEC);
		r = fd < 0 ? rd_fail_errno("%s: cannot read it", path) : read_fd(fd, &f->data);
		if (fd >= 0)
			close(fd);
	} else {
		struct inject_file *f = add_file(o, name);
		n = S_ISLNK(st.st_mode) ? readlink(path, target, sizeof target) : 0;
		rd_buf_add(&f->data, target, n > 0 ? (size_t)n : 0);
	}
	free(path);
	return r;
}

static int gather_directory(struct inject_output *o, const char *root, const char *below, int depth)
{
	char *path = *below ? rd_xasprintf("%s/%s", root, below) : rd_xstrdup(root);
	DIR *d = opendir(path);
	const struct dirent *e;
	int r = d ? 0 : rd_fail_errno("%s: cannot read it", path);

	while (!r && d && (e = readdir(d))) {
		char *name;
		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		name = *below ? rd_xasprintf("%s/%s", below, e->d_name) : rd_xstrdup(e->d_name);
		r = gather_one(o, root, name, depth);
		free(name);
	}
	if (d)
		closedir(d);
	free(path);
	return r;
}

static int compare_files(const void *a, const void *b)
{
	const struct inject_file *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static int gather_files(struct inject_output *o, const char *directory)
{
	int r = gather_directory(o, directory, "", 0);

	if (o->count)
		qsort(o->files, o->count, sizeof *o->files, compare_files);
	return r;
}

static void init(struct inject_output *o)
{
	*o = (struct inject_output){.out = RD_BUF_INIT, .err = RD_BUF_INIT};
}

int inject_output_gather(struct inject_output *o, const char *directory, const int *streams)
{
	int r;

	init(o);
	r = read_fd(streams[0], &o->out);
	if (!r)
		r = read_fd(streams[1], &o->err);
	if (!r)
		r = gather_files(o, directory);
	return r;
}

void inject_output_release(struct inject_output *o)
{
	for (size_t i = 0; i < o->count; i++) {
		free(o->files[i].name);
		rd_buf_release(&o->files[i].data);
	}
	free(o->files);
	rd_buf_release(&o->out);
	rd_buf_release(&o->err);
	init(o);
}

/* --- on the disk --------------------------------------------------------------------------- */

static int save_as(const char *directory, const char *name, const struct rd_buf *data)
{
	char *path = rd_xasprintf("%s/%s", directory, name), *slash = strrchr(path, '/');
	int r;

	*slash = '\0';
	r = rd_mkdirs(path);
	*slash = '/';
	if (!r)
		r = rd_file_write(path, data->data, data->length);
	free(path);
	return r;
}

int inject_output_save(const struct inject_output *o, const char *directory)
{
	int r = save_as(directory, "stdout", &o->out);

	if (!r)
		r = save_as(directory, "stderr", &o->err);
	for (size_t i = 0; i < o->count && !r; i++) {
		char *name = rd_xasprintf("files/%s", o->files[i].name);
		r = save_as(directory, name, &o->files[i].data);
		free(name);
	}
	return r;
}

int inject_output_load(struct inject_output *o, const char *directory)
{
	char *out = rd_xasprintf("%s/stdout", directory), *err = rd_xasprintf("%s/stderr", directory);
	char *files = rd_xasprintf("%s/files", directory);
	int r;

	init(o);
	r = rd_file_read(out, &o->out);
	if (!r)
		r = rd_file_read(err, &o->err);
	if (!r && rd_file_exists(files))
		r = gather_files(o, files);
	free(out);
	free(err);
	free(files);
	return r;
}

/* --- comparing ----------------------------------------------------------------------------- */

/* What the filter makes of the data; false if it cannot be run. */
static bool filter_data(const char *command, const struct rd_buf *data, struct rd_buf *result)
{
	int in = memfd_create("raddle-output", MFD_CLOEXEC);
	struct rd_argv argv = RD_ARGV_INIT;
	bool good = in >= 0 && !rd_write_all(in, data->data, data->length);

	if (good) {
		rd_argv_add(&argv, "sh");
		rd_argv_add(&argv, "-c");
		rd_argv_addf(&argv, "{ %s\n} </proc/%d/fd/%d", command, (int)getpid(), in);
		good = rd_run_capture(argv.items, result) >= 0;
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

bool inject_output_equal(const struct inject_output *golden, const struct inject_output *run,
			 const struct inject_judge *judge, const char **name)
{
	*name = "stdout";
	if (!is_ignored(judge->ignore, "stdout") && !equal_data(&golden->out, &run->out, judge->filter))
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

static const struct rd_buf *find_data(const struct inject_output *o, const char *name)
{
	static const struct rd_buf nothing = RD_BUF_INIT;

	if (!strcmp(name, "stdout"))
		return &o->out;
	for (size_t i = 0; i < o->count; i++)
		if (!strcmp(o->files[i].name, name))
			return &o->files[i].data;
	return &nothing;
}

static size_t line_end(const struct rd_buf *b, size_t at)
{
	const char *newline = memchr(b->data + at, '\n', b->length - at);

	return newline ? (size_t)(newline - b->data) + 1 : b->length;
}

/* Where the last line before `at` begins. */
static size_t line_begin(const struct rd_buf *b, size_t at)
{
	if (at)
		at--;
	while (at && b->data[at - 1] != '\n')
		at--;
	return at;
}

static void add_lines(struct rd_buf *diff, char sign, const struct rd_buf *b, size_t from, size_t to)
{
	for (unsigned n = 0; from < to; n++) {
		size_t end = line_end(b, from), length = end - from;

		if (n == DIFF_LINES || diff->length > DIFF_BYTES) {
			rd_buf_addf(diff, "\\ and %zu bytes more\n", to - from);
			return;
		}
		if (length > 1024)
			length = 1024;
		rd_buf_addc(diff, sign);
		rd_buf_add(diff, b->data + from, length);
		if (b->data[from + length - 1] != '\n')
			rd_buf_adds(diff, length < end - from ? "...\n" : "\n\\ No newline at end of file\n");
		from = end;
	}
}

static size_t count_lines(const struct rd_buf *b, size_t from, size_t to)
{
	size_t n = 0;

	for (; from < to; n++)
		from = line_end(b, from);
	return n;
}

void inject_output_diff(const struct inject_output *golden, const struct inject_output *run, const char *name,
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
