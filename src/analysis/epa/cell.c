// SPDX-License-Identifier: Apache-2.0
/* The table of wrong bytes (epa/cell-int.h): a hash table with linear probing.  The entries of
 * words that are right again stay until the table grows. */
#include "epa/cell-int.h"

#include "base/alloc.h"
#include "base/error.h"

#include <stdlib.h>

void epa_cells_release(struct epa_cells *c)
{
	free(c->list);
	*c = (struct epa_cells){0};
}

static struct epa_cell *slot_of(const struct epa_cells *c, uint64_t word)
{
	size_t i = (word * 0x9e3779b97f4a7c15ull >> 20) & (c->capacity - 1);
	while (c->list[i].used && c->list[i].word != word)
		i = (i + 1) & (c->capacity - 1);
	return &c->list[i];
}

struct epa_cell *epa_cells_find(const struct epa_cells *c, uint64_t word)
{
	struct epa_cell *cell = c->wrong ? slot_of(c, word) : NULL;
	return cell && cell->used && cell->bytes ? cell : NULL;
}

static void grow(struct epa_cells *c)
{
	struct epa_cells old = *c;
	RD_ASSERT(old.wrong <= old.used && old.used <= old.capacity);
	c->capacity = 64;
	while (c->capacity < 4 * old.wrong)
		c->capacity *= 2;
	c->list = rd_xcalloc(c->capacity, sizeof *c->list);
	c->used = 0;
	for (size_t i = 0; i < old.capacity; i++) {
		if (!old.list[i].used || !old.list[i].bytes)
			continue;
		*slot_of(c, old.list[i].word) = old.list[i];
		c->used++;
	}
	free(old.list);
}

struct epa_cell *epa_cells_put(struct epa_cells *c, uint64_t word)
{
	struct epa_cell *cell;
	if (c->wrong >= EPA_CELLS)
		return epa_cells_find(c, word);
	if (2 * c->used >= c->capacity)
		grow(c);
	cell = slot_of(c, word);
	c->used += !cell->used;
	c->wrong += !cell->bytes;
	if (!cell->bytes)
		*cell = (struct epa_cell){.word = word, .used = true};
	return cell;
}

void epa_cells_clear(struct epa_cells *c, struct epa_cell *cell, uint8_t bytes)
{
	bool was = cell->bytes != 0;
	cell->bytes &= (uint8_t)~bytes;
	c->wrong -= was && !cell->bytes;
}
