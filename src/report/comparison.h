/* SPDX-License-Identifier: Apache-2.0 */
/* Reports where runs deviate from a golden run and how the error spread: as text, as JSON
 * (doc/format/compare.md) or as a page. */
#ifndef REPORT_COMPARISON_H
#define REPORT_COMPARISON_H

#include "base/json.h"
#include "epa/process.h"

#include <stdio.h>

/* Writes text for people, in 80 columns.  Lists at most `limit` of the places that the error
 * reached. */
void report_comparison_text(const struct epa_process *p, const struct epa_comparison *c, uint64_t limit,
			    FILE *out);

/* Writes a self-contained page. */
int report_comparison_html(const struct epa_process *p, const struct epa_comparison *c, FILE *out);

/* These functions write a document in parts: the beginning with the golden run, an element for each
 * comparison, and the end. */
void report_comparison_json_begin(struct rd_json *j, const char *golden,
				  const struct epa_reference *reference, FILE *out);
void report_comparison_json(struct rd_json *j, const struct epa_process *p, const struct epa_comparison *c);
void report_comparison_json_end(struct rd_json *j);

#endif
