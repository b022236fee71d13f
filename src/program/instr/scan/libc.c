/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the rows of a library function (raddle/libc.inc) by its name. */
#include "instr/scan/libc.h"

#include "base/alloc.h"
#include "base/map.h"

#include <string.h>

enum { R, W, KR, KW };

static const struct instr_libc rows[] = {
#define LIBC_RANGE(name, argument, direction, length, a, b)                                                  \
	{name, argument, (direction)&1, (direction) >= KR, LENGTH_##length, a, b},
#include "raddle/libc.inc"
};

static const size_t row_count = sizeof rows / sizeof *rows;

/* Tables that are made on first use.  No lock is needed, because each worker has only one
 * thread. */
static struct {
	struct rd_names names;
	uint16_t first[sizeof rows / sizeof *rows]; /* the first row of each name */
	/* The rows made from formats; each is made only once. */
	struct instr_libc **formatted;
	size_t formatted_count, formatted_capacity;
} table;

static void index_rows(void)
{
	for (size_t i = 0; i < row_count; i++) {
		size_t before = table.names.count;
		uint32_t number = rd_names_put(&table.names, rows[i].name, strlen(rows[i].name));
		if (table.names.count != before)
			table.first[number] = i;
	}
}

const struct instr_libc *instr_libc_find(const char *name, size_t *count)
{
	uint32_t number;
	if (table.names.count == 0)
		index_rows();
	if (!rd_names_find(&table.names, name, strlen(name), &number))
		return NULL;
	const struct instr_libc *row = &rows[table.first[number]];
	size_t n = 1;
	while (row + n < rows + row_count && strcmp(row[n].name, name) == 0)
		n++;
	*count = n;
	return row;
}

bool instr_libc_emits(const char *name)
{
	static const char *const streams[] = {
#define LIBC_STREAM(name, argument) name,
#include "raddle/libc.inc"
	};
	for (size_t i = 0; i < sizeof streams / sizeof *streams; i++)
		if (strcmp(streams[i], name) == 0)
			return true;
	return false;
}

static struct instr_libc row_of(const struct instr_conversion *c)
{
	struct instr_libc row = {.name = "", .argument = (int)c->argument, .write = c->write};
	row.a = c->size <= INT32_MAX ? (int)c->size : -1;
	row.b = c->is_scanned ? (int)c->least : c->limit;
	row.length = LENGTH_FIXED;
	if (c->is_scanned)
		row.length = c->is_string ? LENGTH_SCANNED_STRING : LENGTH_SCANNED;
	else if (c->is_string)
		row.length = LENGTH_PRINTED_STRING;
	return row;
}

/* There are few different rows, so a linear search is enough. */
const struct instr_libc *instr_libc_of_format(const struct instr_conversion *c)
{
	struct instr_libc row = row_of(c);
	for (size_t i = 0; i < table.formatted_count; i++) {
		const struct instr_libc *have = table.formatted[i];
		if (have->argument == row.argument && have->write == row.write &&
		    have->length == row.length && have->a == row.a && have->b == row.b)
			return have;
	}
	RD_GROW(table.formatted, table.formatted_capacity, table.formatted_count + 1);
	table.formatted[table.formatted_count] = rd_xmalloc(sizeof row);
	*table.formatted[table.formatted_count] = row;
	return table.formatted[table.formatted_count++];
}

bool instr_libc_after(const struct instr_libc *row)
{
	switch (row->length) {
	case LENGTH_RESULT:
	case LENGTH_RESULT_TIMES:
	case LENGTH_PRINTED:
	case LENGTH_STRING_IF:
	case LENGTH_FOUND:
	case LENGTH_SCANNED:
	case LENGTH_SCANNED_STRING:
	case LENGTH_OPENED: return true;
	case LENGTH_FIXED: return row->write;
	default: return false;
	}
}
