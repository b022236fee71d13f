/* SPDX-License-Identifier: Apache-2.0 */
/* Parts that all SARIF 2.1.0 documents have: the frame around the run, texts, places. */
#ifndef REPORT_SARIF_PARTS_INT_H
#define REPORT_SARIF_PARTS_INT_H

#include "base/json.h"
#include "report/uri-int.h"

/* The name of the base of relative URIs.  Code scanning services know this name. */
#define SARIF_BASE "%SRCROOT%"

/* Writes the beginning of a document with one run, up to the members of the run. */
void sarif_begin(struct rd_json *j, FILE *out, bool indent);
void sarif_end(struct rd_json *j);

/* Writes "name": {"text": "..."}. */
void sarif_text(struct rd_json *j, const char *name, const char *text);

struct sarif_place {
	const char *file;      /* the path; if it is NULL or "", nothing is written */
	uint32_t line, column; /* 0 if unknown */
	/* the text of the line, for readers who do not have the source; may be NULL */
	const char *snippet;
};
void sarif_physical(struct rd_json *j, const struct uri_root *root, const struct sarif_place *place);

#endif
