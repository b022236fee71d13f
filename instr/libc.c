/* SPDX-License-Identifier: Apache-2.0 */
/* The table of library functions (libc.inc): a name comes in, its rows go out. */
#include "instr/libc.h"

#include "base/map.h"

#include <string.h>

enum { R, W, KR, KW };

static const struct instr_libc rows[] = {
#define LIBC(name, argument, direction, length, a, b)                                                        \
	{name, argument, (direction)&1, (direction) >= KR, LENGTH_##length, a, b},
#include "instr/libc.inc"
#undef LIBC
};

static const size_t row_count = sizeof rows / sizeof *rows;

/* The first row of each name, built when first asked; workers are single-threaded. */
static struct rd_names names;
static uint16_t first[sizeof rows / sizeof *rows];

static void index_rows(void)
{
	for (size_t i = 0; i < row_count; i++) {
		size_t before = names.count;
		uint32_t number = rd_names_put(&names, rows[i].name, strlen(rows[i].name));
		if (names.count != before)
			first[number] = i;
	}
}

const struct instr_libc *instr_libc_find(const char *name, size_t *count)
{
	uint32_t number;
	if (names.count == 0)
		index_rows();
	if (!rd_names_find(&names, name, strlen(name), &number))
		return NULL;
	const struct instr_libc *row = &rows[first[number]];
	size_t n = 1;
	while (row + n < rows + row_count && strcmp(row[n].name, name) == 0)
		n++;
	*count = n;
	return row;
}

bool instr_libc_after(const struct instr_libc *row)
{
	switch (row->length) {
	case LENGTH_RESULT:
	case LENGTH_RESULT_TIMES:
	case LENGTH_PRINTED:
	case LENGTH_STRING_IF:
	case LENGTH_FOUND:
		return true;
	case LENGTH_FIXED:
		return row->write;
	default:
		return false;
	}
}
