/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes tables to the file of facts (doc/format/facts.md), and reads them back.
 *
 * Tables are written column by column.  Each number is stored as its difference from the number
 * above it, in zigzag code with seven bits per byte.  So numbers that repeat or ascend slowly take
 * one byte per row.  The reader trusts nothing.  It checks the checksum, then every length, and
 * finally (check.c) every number that refers to a row.  A row of n members has at least n bytes,
 * so no count can request more memory than a few times the file size.
 */
#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "base/varint.h"
#include "facts/facts-int.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { MAGIC_BYTES = 8, SUM_BYTES = 8 }; /* the lengths of FACTS_MAGIC and of an XXH64 checksum */

/* -------------------------------------------------------------- writing --- */

static void put_table(struct rd_buf *b, const struct facts *f, enum facts_table table)
{
	const struct facts_layout *layout = facts_layout(table);
	const char *rows = facts_rows(f, table);
	size_t count = facts_count(f, table);
	rd_varint_put(b, count);
	for (size_t k = 0; k < layout->field_count; k++) {
		uint64_t last = 0;
		for (size_t i = 0; i < count; i++) {
			uint64_t v = (uint64_t)facts_get(&layout->fields[k], rows + i * layout->row);
			rd_varint_put(b, rd_zigzag(v - last));
			last = v;
		}
	}
}

void facts_encode(const struct facts *f, struct rd_buf *out)
{
	size_t start = out->length;
	rd_buf_add(out, FACTS_MAGIC, MAGIC_BYTES);
	rd_varint_put(out, FACTS_VERSION);
	rd_varint_put(out, f->string_count);
	for (size_t i = 0; i < f->string_count; i++)
		rd_buf_add(out, f->strings[i], strlen(f->strings[i]) + 1);
	for (unsigned t = 0; t < FACTS_TABLE_COUNT; t++)
		put_table(out, f, t);
	uint64_t sum = XXH64(out->data + start, out->length - start, 0);
	for (int i = 0; i < SUM_BYTES; i++)
		rd_buf_addc(out, (char)(sum >> 8 * i));
}

int facts_write(const struct facts *f, const char *path)
{
	struct rd_buf b = RD_BUF_INIT;
	facts_encode(f, &b);
	return rd_file_write_buf(path, &b);
}

/* -------------------------------------------------------------- reading --- */

struct input {
	const uint8_t *p, *end;
	bool bad;
};

static uint64_t get_varint(struct input *in)
{
	uint64_t v;

	if (rd_varint_get(&in->p, in->end, &v) == RD_VARINT_OK)
		return v;
	in->bad = true;
	return 0;
}

static void get_strings(struct input *in, struct facts *f)
{
	uint64_t count = get_varint(in);
	in->bad |= count > (uint64_t)(in->end - in->p) || count == 0;
	for (uint64_t i = 0; i < count && !in->bad; i++) {
		const uint8_t *nul = memchr(in->p, 0, (size_t)(in->end - in->p));
		if (nul == NULL || (i == 0 && nul != in->p)) {
			in->bad = true;
			break;
		}
		if (i != 0)
			facts_add_string(f, (const char *)in->p);
		in->p = nul + 1;
	}
}

static void get_column(struct input *in, const struct facts_field *field, char *rows, size_t row,
		       size_t count)
{
	uint64_t last = 0;
	for (size_t i = 0; i < count && !in->bad; i++) {
		last += rd_unzigzag(get_varint(in));
		char *at = rows + i * row + field->offset;
		if (field->wide)
			*(int64_t *)at = (int64_t)last;
		else
			*(uint32_t *)at = (uint32_t)last;
		in->bad |= !field->wide && last > UINT32_MAX;
	}
}

static void get_table(struct input *in, struct facts *f, enum facts_table table)
{
	const struct facts_layout *layout = facts_layout(table);
	uint64_t count = get_varint(in);
	in->bad |= count > (uint64_t)(in->end - in->p) / layout->field_count || count >= FACTS_CONSTANT;
	if (in->bad)
		return;
	char *rows = facts_make_rows(f, table, count);
	for (size_t k = 0; k < layout->field_count; k++)
		get_column(in, &layout->fields[k], rows, layout->row, count);
}

static bool sum_fits(const uint8_t *data, size_t length)
{
	uint64_t sum = 0;
	for (int i = 0; i < SUM_BYTES; i++)
		sum |= (uint64_t)data[length - SUM_BYTES + (size_t)i] << 8 * i;
	return sum == XXH64(data, length - SUM_BYTES, 0);
}

int facts_decode(struct facts **out, const void *data, size_t length, const char *name)
{
	if (length < MAGIC_BYTES + 1 + SUM_BYTES || memcmp(data, FACTS_MAGIC, MAGIC_BYTES) != 0)
		return rd_fail(RD_EFORMAT, "%s: does not contain facts of a program", name);
	if (!sum_fits(data, length))
		return rd_fail(RD_EFORMAT, "%s: damaged: its checksum is wrong", name);
	struct input in = {(const uint8_t *)data + MAGIC_BYTES, (const uint8_t *)data + length - SUM_BYTES,
			   false};
	uint64_t version = get_varint(&in);
	if (version != FACTS_VERSION)
		return rd_fail(RD_EVERSION, "%s: facts of version %llu; this raddle knows %d", name,
			       (unsigned long long)version, FACTS_VERSION);
	struct facts *f = facts_new();
	get_strings(&in, f);
	for (unsigned t = 0; t < FACTS_TABLE_COUNT && !in.bad; t++)
		get_table(&in, f, t);
	int err = 0;
	if (in.bad || in.p != in.end)
		err = rd_fail(RD_EFORMAT, "%s: damaged: its tables are cut off, or bytes follow them", name);
	if (!err)
		err = facts_check(f, name);
	if (err)
		facts_free(f);
	else
		*out = f;
	return err;
}

int facts_read(struct facts **f, const char *path)
{
	struct rd_map map;
	int err = rd_map_open(&map, path);
	if (!err) {
		err = facts_decode(f, map.data, map.length, path);
		rd_map_close(&map);
	}
	return err;
}
