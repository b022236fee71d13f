/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Implements sparse bitmaps.  Invariant: keys ascend strictly and no word is zero, so equal sets
 * have equal bytes.  The places of an object have consecutive numbers, so large points-to sets are
 * dense.  A sorted array of words is therefore small, and a union is one pass over memory.
 */
#include "ir/bits.h"

#include "base/alloc.h"
#include "base/compare.h"
#include "base/error.h"

#include <stdlib.h>
#include <string.h>

void ir_bits_release(struct ir_bits *s)
{
	free(s->words);
	*s = (struct ir_bits){0};
}

/* Returns the index of the first word whose key is not less than `key`. */
static size_t find(const struct ir_bits *s, uint64_t key)
{
	size_t i = 0;

	if (s->count != 0 && s->words[s->count - 1].key < key)
		return s->count;
	RD_BISECT(i, s->count, at, s->words[at].key < key);
	return i;
}

bool ir_bits_add(struct ir_bits *s, uint32_t n)
{
	size_t i = find(s, n / 64);
	uint64_t bit = 1ull << n % 64;
	if (i == s->count || s->words[i].key != n / 64) {
		RD_GROW(s->words, s->capacity, s->count + 1);
		memmove(s->words + i + 1, s->words + i, (s->count - i) * sizeof *s->words);
		s->words[i] = (struct ir_word){n / 64, bit};
		s->count++;
		return true;
	}
	bool is_new = !(s->words[i].bits & bit);
	s->words[i].bits |= bit;
	return is_new;
}

/* Returns the number of words of `other` that `s` lacks.  Sets *grows to true if `other` has any
 * bits that `s` lacks. */
static size_t missing(const struct ir_bits *s, const struct ir_bits *other, bool *grows)
{
	size_t i = 0, lacks = 0;
	*grows = false;
	for (size_t k = 0; k < other->count; k++) {
		while (i < s->count && s->words[i].key < other->words[k].key)
			i++;
		if (i == s->count || s->words[i].key != other->words[k].key)
			lacks++;
		else if (other->words[k].bits & ~s->words[i].bits)
			*grows = true;
	}
	*grows |= lacks != 0;
	return lacks;
}

bool ir_bits_unite(struct ir_bits *s, const struct ir_bits *other)
{
	bool grows;
	size_t lacks = missing(s, other, &grows);
	if (!grows)
		return false;
	size_t i = s->count, k = other->count, to = s->count + lacks;
	RD_GROW(s->words, s->capacity, to);
	s->count = to;
	/* Moves words from the end, so that no word is overwritten before it is moved. */
	while (k != 0) {
		const struct ir_word *w = &other->words[k - 1];
		if (i != 0 && s->words[i - 1].key > w->key) {
			s->words[--to] = s->words[--i];
			continue;
		}
		struct ir_word sum = *w;
		if (i != 0 && s->words[i - 1].key == w->key)
			sum.bits |= s->words[--i].bits;
		s->words[--to] = sum;
		k--;
	}
	return true;
}

void ir_bits_intersect(struct ir_bits *s, const struct ir_bits *other)
{
	size_t k = 0, to = 0;
	for (size_t i = 0; i < s->count; i++) {
		while (k < other->count && other->words[k].key < s->words[i].key)
			k++;
		if (k == other->count || other->words[k].key != s->words[i].key)
			continue;
		struct ir_word w = {s->words[i].key, s->words[i].bits & other->words[k].bits};
		if (w.bits != 0)
			s->words[to++] = w;
	}
	s->count = to;
}

void ir_bits_subtract(struct ir_bits *s, const struct ir_bits *a, const struct ir_bits *b)
{
	RD_ASSERT(s != a && s != b);
	size_t k = 0;
	s->count = 0;
	for (size_t i = 0; i < a->count; i++) {
		struct ir_word w = a->words[i];
		while (k < b->count && b->words[k].key < w.key)
			k++;
		if (k < b->count && b->words[k].key == w.key)
			w.bits &= ~b->words[k].bits;
		if (w.bits == 0)
			continue;
		RD_GROW(s->words, s->capacity, s->count + 1);
		s->words[s->count++] = w;
	}
}

void ir_bits_copy(struct ir_bits *s, const struct ir_bits *other)
{
	RD_ASSERT(s != other);
	if (other->count != 0) {
		RD_GROW(s->words, s->capacity, other->count);
		memcpy(s->words, other->words, other->count * sizeof *s->words);
	}
	s->count = other->count;
}

size_t ir_bits_size(const struct ir_bits *s)
{
	size_t n = 0;
	for (size_t i = 0; i < s->count; i++)
		n += (size_t)__builtin_popcountll(s->words[i].bits);
	return n;
}

bool ir_bits_next(const struct ir_bits *s, struct ir_bits_iterator *i, uint32_t *n)
{
	if (!i->started) {
		i->started = true;
		i->left = s->count != 0 ? s->words[0].bits : 0;
	}
	while (i->word < s->count && i->left == 0)
		if (++i->word < s->count)
			i->left = s->words[i->word].bits;
	if (i->word >= s->count)
		return false;
	*n = (uint32_t)s->words[i->word].key * 64 + (uint32_t)__builtin_ctzll(i->left);
	i->left &= i->left - 1;
	return true;
}
