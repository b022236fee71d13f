/* SPDX-License-Identifier: Apache-2.0 */
/* Failure sketches for people and other tools. */
#ifndef REPORT_SKETCH_H
#define REPORT_SKETCH_H

#include "sketch/sketch.h"

#include <stdio.h>

struct sketch_report {
	const struct sketch_set *set;
	const char *root; /* where relative names of source files lie; NULL: here */
	bool all;	  /* text: steps that are folded otherwise */
	/* Who has the source otherwise than in files; NULL: nobody.  The text is the caller's; NULL: unknown.
	 */
	const char *(*source)(void *context, const struct sketch_step *step);
	void *context;
};

int sketch_text(const struct sketch_report *r, FILE *out);
int sketch_json(const struct sketch_report *r, FILE *out); /* doc/format/sketch.md */
int sketch_html(const struct sketch_report *r, FILE *out);
int sketch_sarif(const struct sketch_report *r, FILE *out);
int sketch_perfetto(const struct sketch_report *r, FILE *out); /* JSON, for ui.perfetto.dev */

/* The line of the source, without blanks around it, to be freed; NULL: it cannot be read. */
char *sketch_source(const struct sketch_report *r, const struct sketch_step *step);

/* Inside report/: "3 of 4 forced runs fail, 0 of 20 prevented ones"; "" if none were made. */
void sketch_tries_text(const struct sketch_predictor *p, char *out, size_t size);

/* Inside report/: "segmentation fault", "failed assertion x"; what the failure is called. */
const char *sketch_title(const struct sketch *s);

#endif
