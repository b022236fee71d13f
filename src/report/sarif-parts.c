// SPDX-License-Identifier: Apache-2.0
/* Parts of SARIF documents, for findings (sarif.c) and for sketches (sketch-sarif.c). */
#include "report/sarif-parts-int.h"

#include "base/buf.h"
#include "base/error.h"

void sarif_begin(struct rd_json *j, FILE *out, bool indent)
{
	rd_json_begin(j, out);
	j->indent = indent;
	rd_json_object(j, NULL);
	rd_json_string(j, "$schema", "https://json.schemastore.org/sarif-2.1.0.json");
	rd_json_string(j, "version", "2.1.0");
	rd_json_array(j, "runs");
	rd_json_object(j, NULL);
}

void sarif_end(struct rd_json *j)
{
	RD_ASSERT(j->depth == 3);
	for (int i = 0; i < 3; i++)
		rd_json_end(j);
}

void sarif_text(struct rd_json *j, const char *name, const char *text)
{
	rd_json_object(j, name);
	rd_json_string(j, "text", text);
	rd_json_end(j);
}

static void put_uri(struct rd_json *j, const struct uri_root *root, const char *path)
{
	struct rd_buf uri = RD_BUF_INIT;
	bool relative = uri_add(&uri, root, path);

	rd_json_object(j, "artifactLocation");
	rd_json_string(j, "uri", uri.data);
	if (relative)
		rd_json_string(j, "uriBaseId", SARIF_BASE);
	rd_json_end(j);
	rd_buf_release(&uri);
}

void sarif_physical(struct rd_json *j, const struct uri_root *root, const struct sarif_place *place)
{
	if (!place->file || !*place->file)
		return;
	rd_json_object(j, "physicalLocation");
	put_uri(j, root, place->file);
	if (place->line) {
		rd_json_object(j, "region");
		rd_json_unsigned(j, "startLine", place->line);
		if (place->column)
			rd_json_unsigned(j, "startColumn", place->column);
		if (place->snippet)
			sarif_text(j, "snippet", place->snippet);
		rd_json_end(j);
	}
	rd_json_end(j);
}
