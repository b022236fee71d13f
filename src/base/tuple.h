/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A table that numbers sequences of numbers: each distinct sequence gets the next of the numbers 0,
 * 1, 2 … when it first appears.  Sequences are compared in full, so two sequences with the same
 * hash stay distinct.
 */
#ifndef BASE_TUPLE_H
#define BASE_TUPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rd_tuples {
	uint32_t *numbers; /* all sequences, concatenated */
	size_t number_count, number_capacity;
	struct rd_tuple {
		uint64_t hash;
		size_t begin, length;
	} * items;
	size_t count, capacity;
	uint32_t *slots;
	size_t slot_count; /* 0 or a power of two */
};

/* Returns the number of a sequence.  A new sequence is copied into the table.  `hash` may be any
 * function of the sequence, so a caller can update it incrementally. */
uint32_t rd_tuples_put(struct rd_tuples *m, const uint32_t *tuple, size_t length, uint64_t hash,
		       bool *is_new); /* is_new may be NULL */
uint64_t rd_tuple_hash(const uint32_t *tuple, size_t length);

/* Removes all sequences; keeps the memory of a small table. */
void rd_tuples_clear(struct rd_tuples *m);
void rd_tuples_release(struct rd_tuples *m);

#endif
