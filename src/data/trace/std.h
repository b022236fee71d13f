/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Imports traces in RAPID's STD text format: one event per line, `T|op(x)|loc`. doc/format/std.md
 * describes the mapping.
 */
#ifndef TRACE_STD_H
#define TRACE_STD_H

#include "base/buf.h"
#include "base/file.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The flavour of an imported trace in meta.json.  For such a trace, exports use the original names
 * and locations. */
#define TRACE_STD_FLAVOUR "std"

struct trace;
bool trace_is_std(const struct trace *trace);

struct trace_std_opts {
	const char *name; /* name of the text in messages and in the site table */
	bool force;	  /* ill-formed locking, forks and joins cause only warnings */
};

/* Writes the trace directory.  Stores the number of lines that became events in *events. */
int trace_std_import(const char *text, size_t length, const char *directory,
		     const struct trace_std_opts *opts, uint64_t *events);

/* Does the same as trace_std_import(), but reads the text from a pipe or file, which may be
 * compressed by gzip, zstd, xz or bzip2. */
int trace_std_import_file(const char *path, const char *directory, bool force);

#endif
