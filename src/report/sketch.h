/* SPDX-License-Identifier: Apache-2.0 */
/* Failure sketches for people and other tools. */
#ifndef REPORT_SKETCH_H
#define REPORT_SKETCH_H

#include "base/json.h"
#include "sketch/sketch.h"

#include <stdio.h>

struct sketch_report {
	const struct sketch_set *set;
	const char *root; /* the directory of relative source files; NULL for the current directory */
	bool all;	  /* for text: if set, steps are printed that are otherwise folded */
	/* Returns the source line of a step, or NULL if it is unknown.  The text belongs to
	 * `context`.  If the function pointer is NULL, lines are read from the source files. */
	const char *(*source)(void *context, const struct sketch_step *step);
	void *context;
};

int sketch_text(const struct sketch_report *r, FILE *out);
int sketch_json(const struct sketch_report *r, FILE *out); /* the format of doc/format/sketch.md */
int sketch_html(const struct sketch_report *r, FILE *out);
int sketch_sarif(const struct sketch_report *r, FILE *out);
int sketch_perfetto(const struct sketch_report *r, FILE *out); /* JSON, for ui.perfetto.dev */

/* Returns the source line of a step, without white space around it, or NULL if it cannot be read.
 * The caller frees it. */
char *sketch_source(const struct sketch_report *r, const struct sketch_step *step);

/* Writes a text such as "forced 3/4 fail, prevented 0/20" to `out`, or "" if no runs forced or
 * prevented the order.  For use inside report/. */
void sketch_tries_text(const struct sketch_predictor *p, char *out, size_t size);

/* Calls `put` for each value of a step, to write it as a member of a JSON object.  For use inside
 * report/. */
void sketch_put_values(struct rd_json *j, const struct sketch_step *step,
		       void (*put)(struct rd_json *j, const char *name, const char *value));

/* Returns the kind of the failure, such as "crash" or "failed assertion".  For use inside
 * report/. */
const char *sketch_title(const struct sketch *s);

#endif
