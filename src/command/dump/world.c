// SPDX-License-Identifier: Apache-2.0
/*
 * `raddle dump` of the input that a run received from outside, which is in the file `world` of a
 * trace.  Records are shown in the order of the file.  Threads are shown by number.
 */
#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "base/hex.h"
#include "dump/dump-int.h"
#include "trace/world.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The number of bytes of a record that are shown as text.  A line then fits on a wide terminal. */
#define BYTES_SHOWN 60

bool dump_is_world(const char *path)
{
	char magic[8];

	return rd_file_head(path, magic, 8) == 8 && memcmp(magic, "RDWORLDS", 8) == 0;
}

/* Copies the next word of the list, and moves *list after it. */
static const char *next_word(const char **list, char word[24])
{
	size_t n = strcspn(*list, " ");

	RD_ASSERT(n > 0 && n < 24); /* world.inc has a name for each operand */
	snprintf(word, 24, "%.*s", (int)n, *list);
	*list += n + ((*list)[n] == ' ');
	return word;
}

static void text_bytes(const uint8_t *bytes, size_t length, FILE *out)
{
	fprintf(out, " %zu bytes \"", length);
	for (size_t i = 0; i < length && i < BYTES_SHOWN; i++)
		if (isprint(bytes[i]) && bytes[i] != '"' && bytes[i] != '\\')
			putc(bytes[i], out);
		else
			fprintf(out, "\\x%02x", bytes[i]);
	fprintf(out, "\"%s", length > BYTES_SHOWN ? "..." : "");
}

static void text_record(const struct trace_world_record *r, FILE *out)
{
	const struct trace_world_row *row = trace_world_row(r->kind);
	const char *names = row->names;
	char word[24];
	size_t at = 0;

	fprintf(out, "%3" PRIu32 " %s", r->thread, row->name);
	for (const char *letter = row->operands; *letter; letter++) {
		next_word(&names, word);
		switch (*letter) {
		case 'o': fprintf(out, " o=%" PRIu64, r->order); break;
		case 's': fprintf(out, " %s", trace_source_row((uint32_t)r->operand[at++])->name); break;
		case 'b': text_bytes(r->bytes, r->length, out); break;
		default: fprintf(out, " %s=%" PRIu64, word, r->operand[at++]); break;
		}
	}
	putc('\n', out);
}

static void json_bytes(struct rd_json *j, const char *name, const struct trace_world_record *r)
{
	char *hex = rd_xmalloc(2 * r->length + 1);

	rd_hex_write(hex, r->bytes, r->length);
	rd_json_string(j, name, hex);
	free(hex);
}

static void json_record(struct rd_json *j, const struct trace_world_record *r)
{
	const struct trace_world_row *row = trace_world_row(r->kind);
	const char *names = row->names;
	char word[24];
	size_t at = 0;

	rd_json_object(j, NULL);
	RD_JSON(j, RD_JU("thread", r->thread), RD_JS("record", row->name));
	for (const char *letter = row->operands; *letter; letter++) {
		next_word(&names, word);
		switch (*letter) {
		case 'o': rd_json_unsigned(j, "o", r->order); break;
		case 's': rd_json_string(j, word, trace_source_row((uint32_t)r->operand[at++])->name); break;
		case 'b': json_bytes(j, word, r); break;
		default: rd_json_unsigned(j, word, r->operand[at++]); break;
		}
	}
	rd_json_end(j);
}

int dump_world(const char *path, bool json, FILE *out)
{
	struct trace_world w;
	struct trace_world_record r;
	struct rd_json j;
	int got = trace_world_open(&w, path);

	if (got)
		return got;
	if (json) {
		rd_json_begin(&j, out);
		rd_json_object(&j, NULL);
		rd_json_number(&j, "version", 1);
		rd_json_array(&j, "records");
	}
	while ((got = trace_world_next(&w, &r)) > 0)
		if (json)
			json_record(&j, &r);
		else
			text_record(&r, out);
	if (json) {
		rd_json_end(&j);
		rd_json_end(&j);
		putc('\n', out);
	}
	trace_world_close(&w);
	return got;
}

int dump_check_world(const char *directory)
{
	char *path = rd_xasprintf("%s/world", directory);
	struct trace_world w;
	struct trace_world_record r;
	int got = rd_file_exists(path) ? trace_world_open(&w, path) : 0;

	if (!got && rd_file_exists(path)) {
		while ((got = trace_world_next(&w, &r)) > 0)
			;
		trace_world_close(&w);
	}
	free(path);
	return got;
}
