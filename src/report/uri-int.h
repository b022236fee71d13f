/* SPDX-License-Identifier: Apache-2.0 */
/* Source files as URIs; for use inside report/. */
#ifndef REPORT_URI_INT_H
#define REPORT_URI_INT_H

#include "base/buf.h"

#include <stdbool.h>

/* Two absolute paths without "." and "..", ending in '/'. */
struct uri_root {
	char *here; /* the directory that relative names are relative to */
	char *top;  /* the directory that URIs are relative to: `here` or a parent of it */
};

/* Sets both paths to `root`.  If that is NULL, `here` is the working directory, and `top` the
 * repository that contains it, if any. */
void uri_root_find(struct uri_root *r, const char *root);
void uri_root_release(struct uri_root *r);

/* Appends the URI of a file; returns whether it is relative to the top. */
bool uri_add(struct rd_buf *out, const struct uri_root *r, const char *path);

#endif
