/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Moves statements in system headers to the line of the program that calls them, because the
 * reader of a sketch knows the call, not the header.  In: facts and runs.  Out: the same runs.  A
 * statement is moved only if it is certain which call leads to it.
 */
#ifndef SKETCH_CALLER_INT_H
#define SKETCH_CALLER_INT_H

#include "base/map.h"
#include "facts/facts.h"
#include "slice/depend.h"
#include "sketch/run.h"

/* Finds out whether a call on some line of the program leads to a place in a header.  Initialise
 * this struct with zeros, and set `f` to the facts. */
struct caller {
	const struct facts *f;
	struct depend depend;
	bool open;
	struct rd_names asked; /* the questions answered so far, as "header:line file:line" */
	bool *answers;
	size_t answer_capacity;
};
bool caller_leads(struct caller *c, const struct slice_statement *header, const char *file, uint32_t line);
void caller_release(struct caller *c);

void caller_place(const struct facts *f, struct sketch_runs *runs);

#endif
