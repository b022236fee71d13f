// SPDX-License-Identifier: Apache-2.0
/*
 * Writes and parses the bytes of a link line, whose records collect.c makes.  A link line consists
 * of "RADLN001", a u64 with the total length, and the records.  A record consists of a u8 kind, a
 * u64 length of the text, a u64 length of the data, the text, a NUL, and the data.  Numbers are
 * little-endian.
 */
#include "bitcode/line.h"

#include "base/error.h"
#include "base/alloc.h"
#include "bitcode/line-int.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

#define MAGIC "RADLN001"
/* Bytes of the header, and of a record without text and data. */
enum { HEADER_SIZE = 16, RECORD_SIZE = 17 };

static void put64(uint8_t *p, uint64_t v)
{
	v = htole64(v);
	memcpy(p, &v, sizeof v);
}

static uint64_t get64(const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof v);
	return le64toh(v);
}

void bitcode_line_begin(struct rd_buf *out)
{
	uint8_t zero[8] = {0};

	rd_buf_clear(out);
	rd_buf_add(out, MAGIC, 8);
	rd_buf_add(out, zero, sizeof zero);
}

void bitcode_line_add(struct rd_buf *out, const struct bitcode_item *item)
{
	RD_ASSERT(item->text != NULL);
	uint8_t head[RECORD_SIZE];
	size_t length = strlen(item->text);

	head[0] = (uint8_t)item->kind;
	put64(head + 1, length);
	put64(head + 9, item->length);
	rd_buf_add(out, head, sizeof head);
	rd_buf_add(out, item->text, length + 1);
	rd_buf_add(out, item->data, item->length);
}

void bitcode_line_end(struct rd_buf *out)
{
	RD_ASSERT(out->length >= HEADER_SIZE);
	put64((uint8_t *)out->data + 8, out->length);
}

static void keep(struct bitcode_line *line, const struct bitcode_item *item)
{
	if (item->kind == BITCODE_LINE_DIRECTORY) {
		line->directory = item->text;
	} else if (item->kind == BITCODE_LINE_DRIVER) {
		line->driver = item->text;
	} else if (item->kind == BITCODE_LINE_OUTPUT) {
		line->output = item->text;
	} else {
		RD_GROW(line->items, line->capacity, line->count + 1);
		line->items[line->count++] = *item;
	}
}

/* Parses one record at `p`.  Returns its length, or 0 if the record is damaged. */
static size_t parse_item(const uint8_t *p, size_t left, struct bitcode_item *item)
{
	uint64_t text, data;

	if (left < RECORD_SIZE + 1)
		return 0;
	text = get64(p + 1);
	data = get64(p + 9);
	left -= RECORD_SIZE + 1;
	if (text > left || data > left - text)
		return 0;
	*item = (struct bitcode_item){
		.kind = (enum bitcode_item_kind)p[0],
		.text = (const char *)p + RECORD_SIZE,
		.data = p + RECORD_SIZE + text + 1,
		.length = data,
	};
	if (strnlen(item->text, text + 1) != text)
		return 0;
	return RECORD_SIZE + text + 1 + data;
}

bool bitcode_line_parse(struct bitcode_line *line, const uint8_t *data, size_t length)
{
	uint64_t total;
	size_t at = HEADER_SIZE;

	*line = (struct bitcode_line){0};
	if (length < HEADER_SIZE || memcmp(data, MAGIC, 8))
		return false;
	total = get64(data + 8);
	if (total < HEADER_SIZE || total > length)
		return false;
	while (at < total) {
		struct bitcode_item item;
		size_t n = parse_item(data + at, total - at, &item);

		if (!n)
			break;
		keep(line, &item);
		at += n;
	}
	if (at == total && line->directory && line->driver && line->output)
		return true;
	bitcode_line_release(line);
	return false;
}

void bitcode_line_release(struct bitcode_line *line)
{
	free(line->items);
	*line = (struct bitcode_line){0};
}
