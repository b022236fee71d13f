/* SPDX-License-Identifier: Apache-2.0 */
/* Shows artefacts to people (text) and programs (JSON, doc/format/dump-json.md). */
#ifndef DUMP_DUMP_H
#define DUMP_DUMP_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* The options of `raddle dump`.  Only `json` applies to artefacts that are not traces. */
struct dump_options {
	const char *threads, *kinds; /* lists separated by commas; NULL for all */
	uint64_t limit;		     /* maximum number of events that are written; 0 for no limit */
	bool json, stacks;
	bool summary, sites, check, count; /* whether to show one of these instead of the events */
	/* Whether to show the records of values that a fault may change (full traces only). */
	bool values;
	bool force; /* whether to show even a damaged trace */
};

/* Writes the content of a trace directory or one of its files, a findings document, a schedule,
 * facts, or a program.  The function detects the type from the first bytes of a file, or from the
 * names of the files in a directory. */
int dump_path(const char *path, const struct dump_options *options, FILE *out);

#endif
