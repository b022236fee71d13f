/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A JSON document in memory.  Without `indent` it is a single line that ends with a newline, as in
 * a log of JSON lines.
 *
 *	struct rd_json_text t;
 *	struct rd_json *j = rd_json_text_begin(&t);
 *	rd_json_object(j, NULL); ... rd_json_end(j);
 *	rd_json_text_end(&t, &out);
 */
#ifndef BASE_JSON_TEXT_H
#define BASE_JSON_TEXT_H

#include "base/buf.h"
#include "base/json.h"

struct rd_json_text {
	struct rd_json json;
	char *text;
	size_t length;
};

struct rd_json *rd_json_text_begin(struct rd_json_text *t);

/* Completes the document and appends it to the buffer. */
void rd_json_text_end(struct rd_json_text *t, struct rd_buf *out);

#endif
