// SPDX-License-Identifier: Apache-2.0
/*
 * The input of a witness as text, for people and programs that read findings.  Bytes that are not
 * text are replaced here; the schedule has the original bytes.
 */
#include "classify/input-int.h"

#include "base/json-text.h"
#include "base/json.h"

#include <stdio.h>
#include <stdlib.h>

static const char *const members[] = {"argv", "stdin", "files", "env"};

static void put_kind(struct rd_json *j, const struct rd_override *given, enum rd_override_kind kind)
{
	bool open = false;

	for (size_t i = 0; i < given->count; i++) {
		const struct rd_override_part *p = &given->parts[i];
		char number[16];

		if (p->kind != kind)
			continue;
		if (kind == RD_OVERRIDE_STDIN) {
			rd_json_string(j, members[kind], p->data);
			continue;
		}
		if (!open)
			rd_json_object(j, members[kind]);
		open = true;
		snprintf(number, sizeof number, "%u", p->number);
		rd_json_string(j, kind == RD_OVERRIDE_ARGV ? number : p->name, p->data);
	}
	if (open)
		rd_json_end(j);
}

void input_format(const struct rd_override *given, struct rd_buf *out)
{
	struct rd_json_text text;
	struct rd_json *j = rd_json_text_begin(&text);

	rd_json_object(j, NULL);
	for (unsigned i = 0; i < RD_OVERRIDE_KINDS; i++)
		put_kind(j, given, i);
	rd_json_end(j);
	rd_json_text_end(&text, out);
}
