/* SPDX-License-Identifier: Apache-2.0 */
/* Failure sketches for people and other tools. */
#ifndef REPORT_SKETCH_H
#define REPORT_SKETCH_H

#include "sketch/sketch.h"

#include <stdio.h>

struct sketch_report {
	const struct sketch_set *set;
	const char *root; /* where relative names of source files are searched; NULL: the current directory */
	bool all;	  /* text: print steps that are otherwise folded */
	/* Returns a source line that cannot be read from a file, or NULL if it is unknown.  The
	 * caller owns the text.  The function pointer may be NULL. */
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

/* Inside report/: "3 of 4 forced runs fail, 0 of 20 prevented ones"; "" without such runs. */
void sketch_tries_text(const struct sketch_predictor *p, char *out, size_t size);

/* Inside report/: the name of the failure: "segmentation fault", "failed assertion x". */
const char *sketch_title(const struct sketch *s);

#endif
