// SPDX-License-Identifier: Apache-2.0
/* JSON in memory: the streaming writer writes to a memory stream. */
#include "base/json-text.h"

#include "base/alloc.h"
#include "base/error.h"

#include <stdlib.h>

struct rd_json *rd_json_text_begin(struct rd_json_text *t)
{
	FILE *out;

	*t = (struct rd_json_text){0};
	out = open_memstream(&t->text, &t->length);
	if (!out)
		rd_out_of_memory();
	rd_json_begin(&t->json, out);
	return &t->json;
}

void rd_json_text_end(struct rd_json_text *t, struct rd_buf *out)
{
	RD_ASSERT(t->json.out != NULL && t->json.depth == 0);
	if (fclose(t->json.out))
		rd_out_of_memory();
	rd_buf_add(out, t->text, t->length);
	free(t->text);
	*t = (struct rd_json_text){0};
}
