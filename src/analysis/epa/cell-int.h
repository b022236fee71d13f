/* SPDX-License-Identifier: Apache-2.0 */
/* A table of the words of memory that contain wrong bytes, and of the nodes of the propagation
 * graph that wrote them.  The table has room for EPA_CELLS words. */
#ifndef EPA_CELL_INT_H
#define EPA_CELL_INT_H

#include "epa/name.h"

/* The largest number of words in the table; set by hand, to limit memory. */
#define EPA_CELLS (1u << 19)
/* The number of bytes in a word.  It is small because adjacent ints are often written by different
 * nodes. */
#define EPA_CELL 4

struct epa_cell {
	uint64_t word;	 /* address of the word divided by EPA_CELL */
	uint64_t serial; /* serial number of the object that contained the word */
	struct epa_name name;
	uint32_t node;
	uint8_t bytes; /* a bit mask of the wrong bytes; 0 if all bytes are right again */
	bool used;
};

struct epa_cells {
	struct epa_cell *list;
	size_t capacity, used; /* capacity is 0 or a power of two */
	size_t wrong;	       /* number of words with wrong bytes */
};
void epa_cells_release(struct epa_cells *c);

/* Returns the number of words that contain bytes of [address, address + size).  The range may end
 * at the end of the address space. */
static inline uint64_t epa_cell_words(uint64_t address, uint64_t size)
{
	uint64_t last = size - 1 <= UINT64_MAX - address ? address + size - 1 : UINT64_MAX;
	return size ? last / EPA_CELL - address / EPA_CELL + 1 : 0;
}

/* Returns a bit mask of the bytes of `word` that are in [address, address + size). */
static inline uint8_t epa_cell_bytes(uint64_t address, uint64_t size, uint64_t word)
{
	uint64_t first = word * EPA_CELL, from = address > first ? address - first : 0;
	uint64_t to = address + size - first;
	to = to > EPA_CELL ? EPA_CELL : to;
	return (uint8_t)((0xffu << from) & (0xffu >> (8 - to)));
}

/* Returns the cell of a word, or NULL if the word has no wrong bytes. */
struct epa_cell *epa_cells_find(const struct epa_cells *c, uint64_t word);

/* Returns the cell of a word, and creates it if necessary.  Returns NULL if there are too many
 * cells. */
struct epa_cell *epa_cells_put(struct epa_cells *c, uint64_t word);

/* Marks the given bytes of a cell as right again. */
void epa_cells_clear(struct epa_cells *c, struct epa_cell *cell, uint8_t bytes);

#endif
