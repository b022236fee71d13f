/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds redundant accesses by a forward dataflow analysis over sets of facts.
 *
 * The definition, which test/unit/u-ir-redundant.c computes, is as follows.  Walk every path from
 * the entry.  Keep the set of bytes that were read or written and the set of bytes that were
 * written.  Empty both at a FORGET step.  A read is redundant if its bytes are in the first set on
 * all paths, and a write if they are in the second set on all paths.
 *
 * Here a fact is a bit, and each key has two: seen and written.  The set at a block's start is the
 * intersection of the sets at the ends of its predecessors.  All sets start as "all facts", so
 * that loops converge to the largest solution.
 *
 * Containment of keys is resolved when a fact is added: a step that covers eight bytes also adds
 * the facts of the keys inside them.  If only one step uses a key, and no other key contains it,
 * the key cannot matter and gets no bits.  That keeps the sets small, because most keys of a
 * function occur once.
 */
#include "ir/redundant.h"

#include "base/alloc.h"
#include "base/compare.h"
#include "base/error.h"

#include <stdlib.h>
#include <string.h>

/* The memory limit: a function whose sets need more than this many words (512 MB) is not
 * analysed. */
#define MAX_WORDS ((size_t)1 << 26)

struct added_bits {
	uint32_t first, count; /* a range of flow.covers */
};

struct redundant_flow {
	const struct facts_graph *g;
	const struct ir_steps *s;
	/* The index of each key's facts, or FACTS_NONE for a key that cannot matter. */
	uint32_t *bit;
	uint32_t bits;		  /* the number of keys that have facts; each has two */
	struct added_bits *added; /* for each key, the facts that a step on it adds */
	uint32_t *covers;
	size_t covers_count, covers_capacity;
	size_t words;
	uint64_t *out; /* the facts at the end of each block */
	uint64_t *now;
	/* The index of the first step of each block; the last entry is the number of steps. */
	size_t *first;
};

struct ranked {
	struct ir_key key;
	uint32_t number;
};

static int by_place(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;
	RD_BY(x->key.base, y->key.base);
	RD_BY(x->key.offset, y->key.offset);
	if (x->key.size != y->key.size)
		return x->key.size > y->key.size ? -1 : 1;
	return x->number < y->number ? -1 : 1;
}

static bool contains(const struct ir_key *outer, const struct ir_key *inner)
{
	return outer->base == inner->base && outer->offset <= inner->offset &&
	       inner->offset + inner->size <= outer->offset + outer->size;
}

static void add_cover(struct redundant_flow *f, uint32_t bit)
{
	RD_ASSERT(bit < f->bits);
	RD_GROW(f->covers, f->covers_capacity, f->covers_count + 1);
	f->covers[f->covers_count++] = bit;
}

/* Assigns bits to those keys (pieces of memory) that several steps use or that another key
 * contains.  For each key, lists the bits that a step on this key adds. */
static void assign_bits(struct redundant_flow *f)
{
	uint32_t n = f->s->key_count;
	struct ranked *ranked = rd_xcalloc(n + 1, sizeof *ranked);
	uint32_t *uses = rd_xcalloc(n + 1, sizeof *uses);
	for (size_t i = 0; i < f->s->count; i++)
		if (f->s->items[i].kind != IR_STEP_FORGET)
			uses[f->s->items[i].key]++;
	for (uint32_t k = 0; k < n; k++)
		ranked[k] = (struct ranked){f->s->keys[k], k};
	if (n != 0)
		qsort(ranked, n, sizeof *ranked, by_place);
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t j = i + 1;
		     j < n && ranked[j].key.base == ranked[i].key.base &&
		     ranked[j].key.offset < ranked[i].key.offset + (int64_t)ranked[i].key.size;
		     j++)
			uses[ranked[j].number] += contains(&ranked[i].key, &ranked[j].key);
	for (uint32_t k = 0; k < n; k++)
		f->bit[k] = uses[k] > 1 ? f->bits++ : FACTS_NONE;
	for (uint32_t i = 0; i < n; i++) {
		struct added_bits *added = &f->added[ranked[i].number];
		added->first = f->covers_count;
		for (uint32_t j = i;
		     j < n && ranked[j].key.base == ranked[i].key.base &&
		     ranked[j].key.offset < ranked[i].key.offset + (int64_t)ranked[i].key.size;
		     j++)
			if (f->bit[ranked[j].number] != FACTS_NONE &&
			    contains(&ranked[i].key, &ranked[j].key))
				add_cover(f, f->bit[ranked[j].number]);
		added->count = f->covers_count - added->first;
	}
	free(ranked);
	free(uses);
}

static void enter(struct redundant_flow *f, uint32_t block)
{
	const struct facts_graph *g = f->g;
	bool any = false;
	for (uint32_t e = g->pred_start[block]; e < g->pred_start[block + 1]; e++) {
		uint32_t p = g->pred[e];
		if (g->number[p] == FACTS_NONE)
			continue;
		const uint64_t *out = f->out + p * f->words;
		if (!any)
			memcpy(f->now, out, f->words * sizeof *f->now);
		else
			for (size_t w = 0; w < f->words; w++)
				f->now[w] &= out[w];
		any = true;
	}
	if (!any || block == 0)
		memset(f->now, 0, f->words * sizeof *f->now);
}

static bool test(const uint64_t *set, uint32_t fact)
{
	return set[fact / 64] >> (fact % 64) & 1;
}

/* Applies the steps of a block to the set f->now.  Fills in `redundant` unless it is NULL. */
static void run(struct redundant_flow *f, uint32_t block, bool *redundant)
{
	RD_ASSERT(block < f->g->nodes);
	for (size_t i = f->first[block]; i < f->first[block + 1]; i++) {
		const struct ir_step *step = &f->s->items[i];
		if (step->kind == IR_STEP_FORGET) {
			memset(f->now, 0, f->words * sizeof *f->now);
			continue;
		}
		uint32_t bit = f->bit[step->key];
		uint32_t wanted = 2 * bit + (step->kind == IR_STEP_WRITE);
		if (redundant != NULL)
			redundant[i] = bit != FACTS_NONE && test(f->now, wanted);
		const struct added_bits *added = &f->added[step->key];
		for (uint32_t c = 0; c < added->count; c++) {
			uint32_t fact = 2 * f->covers[added->first + c];
			f->now[fact / 64] |= (step->kind == IR_STEP_WRITE ? 3ull : 1ull) << (fact % 64);
		}
	}
}

static void solve(struct redundant_flow *f)
{
	bool changed = true;
	memset(f->out, 0xff, f->g->nodes * f->words * sizeof *f->out);
	while (changed) {
		changed = false;
		for (uint32_t i = 0; i < f->g->reached; i++) {
			uint32_t block = f->g->order[i];
			uint64_t *out = f->out + block * f->words;
			enter(f, block);
			run(f, block, NULL);
			if (memcmp(out, f->now, f->words * sizeof *out) == 0)
				continue;
			memcpy(out, f->now, f->words * sizeof *out);
			changed = true;
		}
	}
}

static void index_steps(struct redundant_flow *f)
{
	for (size_t i = 0; i < f->s->count; i++)
		f->first[f->s->items[i].block + 1]++;
	for (uint32_t b = 0; b < f->g->nodes; b++)
		f->first[b + 1] += f->first[b];
}

void ir_redundant(const struct facts_graph *g, const struct ir_steps *steps, bool *redundant)
{
	struct redundant_flow f = {.g = g, .s = steps};
	memset(redundant, 0, steps->count * sizeof *redundant);
	f.bit = rd_xcalloc(steps->key_count + 1, sizeof *f.bit);
	f.added = rd_xcalloc(steps->key_count + 1, sizeof *f.added);
	assign_bits(&f);
	f.words = (2 * (size_t)f.bits + 63) / 64;
	if (f.bits != 0 && f.words * g->nodes <= MAX_WORDS) {
		f.out = rd_xmalloc(g->nodes * f.words * sizeof *f.out);
		f.now = rd_xcalloc(f.words, sizeof *f.now);
		f.first = rd_xcalloc(g->nodes + 1, sizeof *f.first);
		index_steps(&f);
		solve(&f);
		for (uint32_t i = 0; i < g->reached; i++) {
			enter(&f, g->order[i]);
			run(&f, g->order[i], redundant);
		}
	}
	RD_FREE(f.bit, f.added, f.covers, f.out, f.now, f.first);
}
