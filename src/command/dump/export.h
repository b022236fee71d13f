/* SPDX-License-Identifier: Apache-2.0 */
/* Writes traces in the formats of other tools. */
#ifndef DUMP_EXPORT_H
#define DUMP_EXPORT_H

#include <stdbool.h>
#include <stdio.h>

enum dump_format { DUMP_STD, DUMP_PERFETTO, DUMP_CSP };

struct dump_export {
	enum dump_format format;
	/* The path of the file, or NULL for the stream.  In STD format, the locations are written
	 * to PATH.locs. */
	const char *path;
	bool all;   /* whether to include data that no two threads share (STD only) */
	bool force; /* whether to export even a damaged trace */
};

/* Finds a format by its name (std, perfetto, csp).  Returns false if there is no such format. */
bool dump_export_format(const char *name, enum dump_format *format);

int dump_export(const char *trace, const struct dump_export *how, FILE *out);

#endif
