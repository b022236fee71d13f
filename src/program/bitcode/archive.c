// SPDX-License-Identifier: Apache-2.0
/*
 * Reads and writes `ar` archives in GNU's format.  Thin archives can be read too.  A member is a
 * 60-byte text header and its data, padded to an even length.  A name is "name/" or "/offset".
 * The latter is an offset into the table of long names, which is itself a member named "//".  "/"
 * and "/SYM64/" are symbol indexes.  BSD's "#1/length" names are supported too.
 */
#include "bitcode/archive-int.h"

#include "base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Offsets and sizes in struct ar_hdr (ar.h), in bytes. */
enum { HEADER_SIZE = 60, NAME_SIZE = 16, SIZE_AT = 48, SIZE_SIZE = 10 };

bool bitcode_archive_parse(struct bitcode_archive *a, const void *data, size_t length)
{
	*a = (struct bitcode_archive){.data = data, .length = length, .next = 8};
	if (length < 8)
		return false;
	a->thin = !memcmp(data, "!<thin>\n", 8);
	return a->thin || !memcmp(data, "!<arch>\n", 8);
}

static bool read_number(const uint8_t *p, size_t n, size_t *value)
{
	size_t i = 0;

	*value = 0;
	for (; i < n && p[i] >= '0' && p[i] <= '9'; i++)
		*value = *value * 10 + (size_t)(p[i] - '0');
	return i > 0;
}

static void set_name(struct bitcode_member *m, const uint8_t *p, size_t n)
{
	if (n >= sizeof m->name)
		n = sizeof m->name - 1;
	memcpy(m->name, p, n);
	m->name[n] = '\0';
}

/* Finds a long name.  Names in the table end with "/\n". */
static void long_name(const struct bitcode_archive *a, size_t at, struct bitcode_member *m)
{
	const uint8_t *end;

	if (at >= a->names_length) {
		m->name[0] = '\0';
		return;
	}
	end = memmem(a->names + at, a->names_length - at, "/\n", 2);
	set_name(m, a->names + at, end ? (size_t)(end - a->names) - at : a->names_length - at);
}

static void read_name(const struct bitcode_archive *a, const uint8_t *header, struct bitcode_member *m)
{
	const uint8_t *end = memchr(header, '/', NAME_SIZE);
	size_t number;

	if (header[0] == '/' && read_number(header + 1, NAME_SIZE - 1, &number)) {
		long_name(a, number, m);
	} else if (m->data && !memcmp(header, "#1/", 3) && read_number(header + 3, NAME_SIZE - 3, &number) &&
		   number <= m->length) {
		set_name(m, m->data, strnlen((const char *)m->data, number));
		m->data += number;
		m->length -= number;
	} else {
		set_name(m, header, end ? (size_t)(end - header) : NAME_SIZE);
	}
}

bool bitcode_archive_next(struct bitcode_archive *a, struct bitcode_member *m)
{
	RD_ASSERT(a->data != NULL || a->length == 0);
	while (a->next < a->length && a->length - a->next >= HEADER_SIZE) {
		const uint8_t *header = a->data + a->next;
		bool table = !memcmp(header, "// ", 3);
		bool index = !memcmp(header, "/ ", 2) || !memcmp(header, "/SYM64/ ", 8);
		bool inline_data = !a->thin || table || index;

		if (!read_number(header + SIZE_AT, SIZE_SIZE, &m->length))
			return false;
		m->data = header + HEADER_SIZE;
		if (inline_data && m->length > a->length - a->next - HEADER_SIZE)
			return false;
		a->next += HEADER_SIZE + (inline_data ? m->length + m->length % 2 : 0);
		if (table) {
			a->names = m->data;
			a->names_length = m->length;
		} else if (!index) {
			if (a->thin)
				m->data = NULL;
			read_name(a, header, m);
			return true;
		}
	}
	return false;
}

void bitcode_archive_begin(struct rd_buf *out)
{
	rd_buf_clear(out);
	rd_buf_add(out, "!<arch>\n", 8);
}

/* Names are used only in the linker's messages, so long ones are cut. */
void bitcode_archive_add(struct rd_buf *out, const char *name, const void *data, size_t length)
{
	RD_ASSERT(name != NULL && (data != NULL || length == 0));
	const char *base = strrchr(name, '/');
	char field[NAME_SIZE + 1];

	snprintf(field, sizeof field, "%.15s/", base ? base + 1 : name);
	rd_buf_addf(out, "%-16s%-12u%-6u%-6u%-8u%-10zu`\n", field, 0u, 0u, 0u, 0644u, length);
	rd_buf_add(out, data, length);
	if (length % 2)
		rd_buf_addc(out, '\n');
}
