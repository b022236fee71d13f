/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The static backward slice of a failing statement contains everything that may have contributed to
 * the failure, as far as the code shows.  The nearest statements come first, so that they can be
 * tracked before the rest.  In: facts of a whole program (facts/facts.h) and a place.  Out:
 * instructions at which a run can be watched.
 *
 * It follows algorithm 1 of Kasikci's thesis (chapter 4): backward, interprocedural and
 * path-insensitive.  It is restricted to what may come before the failure in the flow graph of all
 * threads (slice/tflow.h).  It uses no alias analysis: a read depends on the writes to memory that
 * has the same name in the source.  The writes that are missed this way are found in runs of the
 * program. doc/design/sketch.md has the rules.
 */
#ifndef SLICE_SLICE_H
#define SLICE_SLICE_H

#include "base/json.h"
#include "base/map.h"
#include "facts/facts.h"
#include "slice/statement.h"

/* An instruction of the slice at which a run can be watched: an access, a call or a branch. */
struct slice_item {
	uint32_t value; /* number of the instruction in the facts */
	/* The number of its statement, which is a line of a function.  The failing statement has
	 * number 0. */
	uint32_t statement;
	uint32_t depth; /* distance from the failing statement, in dependences between lines */
	uint32_t steps; /* distance in edges of the flow graph of all threads */
	enum slice_kind kind;
};

struct slice {
	const struct facts *facts;
	/* The place of the failing statement; `file` is a string of the facts. */
	uint32_t file, line;
	struct slice_item *items; /* nearest to the failure first */
	size_t count, capacity;
	uint32_t statements;
	uint32_t moved;		    /* distance in lines from the requested line to `line` */
	struct rd_names operations; /* names of the operations of its statements */
};

/* If the requested line has no code, code at most this many lines away is used.  Set by hand. */
enum { SLICE_NEAR = 10 };
struct slice_place {
	uint32_t file, line;
	uint32_t moved;
	uint32_t *values;
	size_t count, capacity;
};
/*
 * Finds where a slice begins.  FILE is a path as it appears in the debug information, or the end of
 * one ("queue.c", "src/queue.c").  If the line has no code, the nearest line with code is used, up
 * to SLICE_NEAR lines away.  Stores the instructions at that line in `values`;
 * slice_place_release() frees them.  Fails if there is no such place, or if FILE matches several
 * files.
 */
int slice_find(struct slice_place *at, const struct facts *f, const char *file, uint32_t line);
void slice_place_release(struct slice_place *at);

/* Makes the slice of all instructions of the place. */
void slice_make(struct slice *s, const struct facts *f, const struct slice_place *at);
void slice_release(struct slice *s);

/* Returns an item as a statement of a sketch.  The slice owns the strings. */
struct slice_statement slice_statement_at(struct slice *s, size_t item);

/* Stores the kind of an instruction in *kind.  The instruction need not be in the slice.  Returns
 * false if the instruction cannot be watched. */
bool slice_kind_of(const struct facts *f, uint32_t value, enum slice_kind *kind);

/* Makes a statement of the given kind from an instruction.  The instruction must be one that can
 * be watched, but need not be in the slice. */
struct slice_statement slice_statement_of(struct slice *s, uint32_t value, enum slice_kind kind);

/* Returns the library function that a call instruction calls, or NULL if it calls none. */
const struct facts_function *slice_library(const struct facts *f, uint32_t call);

/* Writes the slice as members of the current JSON object (doc/format/slice.md). */
void slice_json(struct slice *s, struct rd_json *j);

#endif
