/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Vector clocks.  The clock of an event is a row of a table.  For each thread, the row contains
 * how many of that thread's events must precede the event.  An event shares the row of the
 * previous event of its thread if both must follow the same events of other threads.  The entry
 * for its own thread may then be out of date, so the caller must use the index of the event in
 * its thread instead.
 */
#ifndef ORDER_ROWS_H
#define ORDER_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rows {
	uint32_t *of;	/* the number of each event's row */
	uint32_t *data; /* the rows, of `width` numbers each */
	size_t count, capacity;
	uint32_t width; /* number of threads */
};

/* Makes an empty table, in which `of` has an entry for each event. */
void rows_init(struct rows *r, size_t events, uint32_t width);
void rows_release(struct rows *r);

/* Adds a copy of the row `from`.  `from` must not point into the table.  Returns the number of the
 * copy. */
uint32_t rows_add(struct rows *r, const uint32_t *from);

static inline uint32_t *rows_row(const struct rows *r, uint32_t row)
{
	return r->data + (size_t)row * r->width;
}

static inline const uint32_t *rows_of(const struct rows *r, uint32_t event)
{
	return rows_row(r, r->of[event]);
}

/* Adds an event, and everything that the event needs, to the clock `p`.  `n` is the number of the
 * event in its thread, counted from 1. */
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
