/* SPDX-License-Identifier: Apache-2.0 */
/* Inside report/: source files as URIs. */
#ifndef REPORT_URI_INT_H
#define REPORT_URI_INT_H

#include "base/buf.h"

#include <stdbool.h>

/* Absolute paths without "." and "..", ending in '/'. */
struct uri_root {
	char *here; /* what relative names are relative to */
	char *top;  /* what URIs are relative to: `here` or a parent of it */
};

/* `root` is also the top.  NULL: the working directory, and the top is the repository that contains
 * it, if any. */
void uri_root_find(struct uri_root *r, const char *root);
void uri_root_release(struct uri_root *r);

/* Appends the URI of a file; returns whether it is relative to the top. */
bool uri_add(struct rd_buf *out, const struct uri_root *r, const char *path);

#endif
