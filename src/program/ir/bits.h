/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sets of numbers as sparse bitmaps: an array of nonzero 64-bit words, in ascending order of their
 * keys.  Zeroed memory is the empty set.
 */
#ifndef IR_BITS_H
#define IR_BITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ir_word {
	uint64_t key; /* the number divided by 64; as wide as `bits`, so that a word has no padding */
	uint64_t bits;
};

struct ir_bits {
	struct ir_word *words;
	size_t count, capacity;
};

void ir_bits_release(struct ir_bits *s);
bool ir_bits_add(struct ir_bits *s, uint32_t n);		    /* returns true if n is new */
bool ir_bits_unite(struct ir_bits *s, const struct ir_bits *other); /* returns true if s grew */
void ir_bits_intersect(struct ir_bits *s, const struct ir_bits *other);
/* Sets s to the members of a that are not in b. */
void ir_bits_subtract(struct ir_bits *s, const struct ir_bits *a, const struct ir_bits *b);
void ir_bits_copy(struct ir_bits *s, const struct ir_bits *other);
size_t ir_bits_size(const struct ir_bits *s);

/* Iterates over a set: for (uint32_t n; ir_bits_next(s, &i, &n);) visits the members in order.  The
 * iterator i starts zeroed. */
struct ir_bits_iterator {
	size_t word;
	uint64_t left;
	bool started;
};
bool ir_bits_next(const struct ir_bits *s, struct ir_bits_iterator *i, uint32_t *n);

#endif
