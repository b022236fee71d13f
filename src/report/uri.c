// SPDX-License-Identifier: Apache-2.0
/*
 * Source files as URIs.  In: a name from debug information.  Out: a URI relative to the top
 * directory of the repository, so that a report made on one machine matches the checkout on
 * another.  A file outside the repository gets an absolute file: URI.  Names are compared as text.
 * The file system is only used to find the top directory.
 */
#include "report/uri-int.h"

#include "base/alloc.h"
#include "base/error.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Appends `path` and a '/' to `out`, which contains an absolute path that ends in '/'.  Leaves out
 * empty parts and ".", and resolves "..". */
static void add_parts(struct rd_buf *out, const char *path)
{
	RD_ASSERT(out->length > 0 && out->data[out->length - 1] == '/');
	while (*path) {
		size_t length = strcspn(path, "/");

		if (length == 2 && memcmp(path, "..", 2) == 0) {
			while (out->length > 1 && out->data[--out->length - 1] != '/')
				;
			out->data[out->length] = '\0';
		} else if (length && !(length == 1 && *path == '.')) {
			rd_buf_addf(out, "%.*s/", (int)length, path);
		}
		path += length + (path[length] == '/');
	}
}

/* Returns the absolute path of a directory or file, always with a '/' at its end. */
static char *resolve(const char *here, const char *path)
{
	struct rd_buf out = RD_BUF_INIT;

	rd_buf_addc(&out, '/');
	if (*path != '/')
		add_parts(&out, here);
	add_parts(&out, path);
	return rd_buf_detach(&out);
}

/* Returns the length of that part of `here` that is the top directory of a repository.  If no such
 * directory is found, returns the length of the whole path. */
static size_t top_length(const char *here)
{
	size_t length = strlen(here);

	while (length) {
		char *git = rd_xasprintf("%.*s.git", (int)length, here);
		bool found = access(git, F_OK) == 0;

		free(git);
		if (found)
			return length;
		for (length--; length && here[length - 1] != '/'; length--)
			;
	}
	return strlen(here);
}

void uri_root_find(struct uri_root *r, const char *root)
{
	char *cwd = getcwd(NULL, 0);

	r->here = resolve(cwd ? cwd : "/", root ? root : ".");
	r->top = rd_xasprintf("%.*s", (int)(root ? strlen(r->here) : top_length(r->here)), r->here);
	free(cwd);
}

void uri_root_release(struct uri_root *r)
{
	free(r->here);
	free(r->top);
}

bool uri_add(struct rd_buf *out, const struct uri_root *r, const char *path)
{
	RD_ASSERT(path != NULL && r->top != NULL);
	static const char plain[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/+,=@!$&()*;:";
	char *whole = resolve(r->here, path);
	size_t top = strlen(r->top), length = strlen(whole);
	bool below = length > top && strncmp(whole, r->top, top) == 0;
	const char *rest = below ? whole + top : whole;

	RD_ASSERT(top && r->top[top - 1] == '/');
	if (path[0] && path[strlen(path) - 1] != '/' && length > 1)
		whole[length - 1] = '\0';
	rd_buf_adds(out, below ? "" : "file://");
	if (below && strchr(rest, ':')) /* the part before a colon would look like a scheme */
		rd_buf_adds(out, "./");
	for (; *rest; rest++) {
		if (strchr(plain, *rest))
			rd_buf_addc(out, *rest);
		else
			rd_buf_addf(out, "%%%02X", (unsigned)(unsigned char)*rest);
	}
	free(whole);
	return below;
}
