/* SPDX-License-Identifier: Apache-2.0 */
/* Inside report/: source files as URIs. */
#ifndef REPORT_URI_H
#define REPORT_URI_H

#include "base/buf.h"

#include <stdbool.h>

/* Where source files lie: an absolute path without "." and ".." that ends in '/'. */
struct uri_root {
	char *here; /* what relative names are relative to */
	char *top;  /* what URIs are relative to: `here` or a directory above it */
};

/* `root` NULL: the working directory, and as top the repository that it is in, if it is in one. */
void uri_root_find(struct uri_root *r, const char *root);
void uri_root_release(struct uri_root *r);

/* Adds the URI of a file; whether it is relative to the top. */
bool uri_add(struct rd_buf *out, const struct uri_root *r, const char *path);

#endif
