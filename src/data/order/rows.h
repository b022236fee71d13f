/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vector clocks.  Each event has a row with a number for each thread: how many of that thread's
 * events must precede it.  An event that adds nothing shares the row of the event before it.  So a
 * row's number for its own thread may be out of date; the caller uses the event's index in its
 * thread instead.
 */
#ifndef ORDER_ROWS_H
#define ORDER_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rows {
	uint32_t *of;	/* by event: the number of its row */
	uint32_t *data; /* the rows, of `width` numbers each */
	size_t count, capacity;
	uint32_t width; /* number of threads */
};

/* Makes an empty table, in which `of` has an entry for each event. */
void rows_init(struct rows *r, size_t events, uint32_t width);
void rows_release(struct rows *r);

/* Adds a row that is a copy of `from`, which must not be in the table.  Returns its number. */
uint32_t rows_add(struct rows *r, const uint32_t *from);

static inline uint32_t *rows_row(const struct rows *r, uint32_t row)
{
	return r->data + (size_t)row * r->width;
}

static inline const uint32_t *rows_of(const struct rows *r, uint32_t event)
{
	return rows_row(r, r->of[event]);
}

/* Extends the clock `p` by an event, number `n` of its thread counted from 1, and by everything
 * that the event needs. */
static inline void rows_include(const struct rows *r, uint32_t event, uint32_t thread, uint32_t n,
				uint32_t *p)
{
	const uint32_t *row = rows_of(r, event);

	for (uint32_t t = 0; t < r->width; t++)
		if (row[t] > p[t] && t != thread)
			p[t] = row[t];
	if (n > p[thread])
		p[thread] = n;
}

#endif
