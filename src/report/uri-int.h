/* SPDX-License-Identifier: Apache-2.0 */
/* Source files as URIs; for use inside report/. */
#ifndef REPORT_URI_INT_H
#define REPORT_URI_INT_H

#include "base/buf.h"

#include <stdbool.h>

/* Two absolute paths without "." and "..", ending in '/'. */
struct uri_root {
	char *here; /* the directory to which relative names are relative */
	char *top;  /* the directory to which URIs are relative: `here` or a parent of it */
};

/* Sets both paths to `root`.  If `root` is NULL, sets `here` to the working directory, and `top`
 * to the top directory of the repository that contains the working directory.  Outside a
 * repository, `top` is the same as `here`. */
void uri_root_find(struct uri_root *r, const char *root);
void uri_root_release(struct uri_root *r);

/* Appends the URI of a file.  Returns true if the URI is relative to r->top. */
bool uri_add(struct rd_buf *out, const struct uri_root *r, const char *path);

#endif
