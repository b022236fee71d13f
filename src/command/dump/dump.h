/* SPDX-License-Identifier: Apache-2.0 */
/* Artefacts for people (text) and programs (JSON, doc/format/dump-json.md). */
#ifndef DUMP_DUMP_H
#define DUMP_DUMP_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* What is shown, and how.  Only `json` applies to artefacts that are not traces. */
struct dump_options {
	const char *threads, *kinds; /* lists with commas; NULL: all */
	uint64_t limit;		     /* of events that are written; 0: none */
	bool json, stacks;
	bool summary, sites, check, count; /* show this instead of the events */
	bool values; /* of full traces: with records of values that a fault may change */
	bool force;  /* even if the trace is damaged */
};

/* Writes the content of a trace directory, one of its files, a findings document, a schedule, facts
 * or a program.  The kind is determined by the first bytes of the file or by the files in the
 * directory. */
int dump_path(const char *path, const struct dump_options *options, FILE *out);

#endif
