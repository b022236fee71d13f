/* SPDX-License-Identifier: Apache-2.0 */
/* Failure sketches for people and other tools. */
#ifndef REPORT_SKETCH_H
#define REPORT_SKETCH_H

#include "base/json.h"
#include "sketch/sketch.h"

#include <stdio.h>

struct sketch_report {
	const struct sketch_set *set;
	const char *root; /* where relative names of source files are searched; NULL: the current directory */
	bool all;	  /* text: print steps that are otherwise folded */
	/* Returns the source line of a step, or NULL if it is unknown.  The text belongs to
	 * `context`.  If the function pointer is NULL, lines are read from the source files. */
	const char *(*source)(void *context, const struct sketch_step *step);
	void *context;
};

int sketch_text(const struct sketch_report *r, FILE *out);
int sketch_json(const struct sketch_report *r, FILE *out); /* doc/format/sketch.md */
int sketch_html(const struct sketch_report *r, FILE *out);
int sketch_sarif(const struct sketch_report *r, FILE *out);
int sketch_perfetto(const struct sketch_report *r, FILE *out); /* JSON, for ui.perfetto.dev */

/* The source line, without white space around it, to be freed; NULL: it cannot be read. */
char *sketch_source(const struct sketch_report *r, const struct sketch_step *step);

/* Inside report/: "forced 3/4 fail, prevented 0/20"; "" without such runs. */
void sketch_tries_text(const struct sketch_predictor *p, char *out, size_t size);

/* Inside report/: the values of a step as members, which `put` writes. */
void sketch_put_values(struct rd_json *j, const struct sketch_step *step,
		       void (*put)(struct rd_json *j, const char *name, const char *value));

/* Inside report/: the kind of the failure: "crash", "failed assertion". */
const char *sketch_title(const struct sketch *s);

#endif
