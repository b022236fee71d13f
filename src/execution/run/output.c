// SPDX-License-Identifier: Apache-2.0
/*
 * Outputs of runs.  Reads the streams and the directory of a run into memory, and writes them to
 * disk.  The content of a symbolic link is its target path.  Other special files have a name but
 * no content.
 */
#include "run/output.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"

#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The maximum depth of directories; deeper ones are ignored.  Chosen by hand to bound the
 * recursion. */
#define DIRECTORY_DEPTH_MAX 32

/* --- gathering --------------------------------------------------------------------------- */

static struct run_file *add_file(struct run_output *o, const char *name)
{
	struct run_file *f;

	RD_GROW(o->files, o->capacity, o->count + 1);
	f = &o->files[o->count++];
	*f = (struct run_file){rd_xstrdup(name), RD_BUF_INIT};
	return f;
}

static int gather_directory(struct run_output *o, const char *root, const char *below, int depth);

static int gather_one(struct run_output *o, const char *root, const char *name, int depth)
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
		r = depth < DIRECTORY_DEPTH_MAX ? gather_directory(o, root, name, depth + 1) : 0;
	} else if (S_ISREG(st.st_mode)) {
		r = rd_file_read(path, &add_file(o, name)->data);
	} else {
		struct run_file *f = add_file(o, name);
		n = S_ISLNK(st.st_mode) ? readlink(path, target, sizeof target) : 0;
		rd_buf_add(&f->data, target, n > 0 ? (size_t)n : 0);
	}
	free(path);
	return r;
}

static int gather_directory(struct run_output *o, const char *root, const char *below, int depth)
{
	char *path = *below ? rd_xasprintf("%s/%s", root, below) : rd_xstrdup(root);
	DIR *d = opendir(path);
	const struct dirent *e;
	int r = d ? 0 : rd_fail_errno("cannot read %s", path);

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
	const struct run_file *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static int gather_files(struct run_output *o, const char *directory)
{
	int r = gather_directory(o, directory, "", 0);

	if (o->count)
		qsort(o->files, o->count, sizeof *o->files, compare_files);
	return r;
}

static void init(struct run_output *o)
{
	*o = (struct run_output){.out = RD_BUF_INIT, .err = RD_BUF_INIT};
}

int run_output_gather(struct run_output *o, const struct run_streams *streams, const char *directory)
{
	int r;

	init(o);
	r = run_streams_read(streams, STDOUT_FILENO, &o->out);
	if (!r)
		r = run_streams_read(streams, STDERR_FILENO, &o->err);
	if (!r && directory)
		r = gather_files(o, directory);
	return r;
}

void run_output_release(struct run_output *o)
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

int run_output_save(const struct run_output *o, const char *directory)
{
	RD_ASSERT(directory != NULL);
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

int run_output_load(struct run_output *o, const char *directory)
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
	RD_FREE(out, err, files);
	return r;
}
