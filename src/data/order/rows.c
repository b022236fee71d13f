// SPDX-License-Identifier: Apache-2.0
/* Implements tables of clocks (rows.h). */
#include "order/rows.h"

#include "base/alloc.h"
#include "base/error.h"

#include <stdlib.h>
#include <string.h>

void rows_init(struct rows *r, size_t events, uint32_t width)
{
	*r = (struct rows){.of = rd_xcalloc(events + 1, sizeof *r->of), .width = width};
}

void rows_release(struct rows *r)
{
	free(r->of);
	free(r->data);
	*r = (struct rows){0};
}

uint32_t rows_add(struct rows *r, const uint32_t *from)
{
	RD_ASSERT(!r->data || from + r->width <= r->data || from >= r->data + r->count * r->width);
	RD_GROW(r->data, r->capacity, (r->count + 1) * r->width);
	memcpy(rows_row(r, (uint32_t)r->count), from, r->width * sizeof *from);
	return (uint32_t)r->count++;
}
