/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cuts accesses into granules, and merges granules that have the same accesses.
 *
 * A granule is a range of bytes that no access touches in part.  Cuts are stored as bits, in
 * blocks of 64 bytes.  Granules are numbered by object and first byte, so an access is a range of
 * numbers.
 *
 * The first pass over the histories of the threads sets the cuts.  The second pass assigns to each
 * granule a number that represents the granule's access history so far.  This history consists of
 * the segments, sites and directions (read or write) of the accesses, thread by thread.  Granules
 * of one object with the same history become one variable.  A loop that touches a granule
 * repeatedly counts as one access.
 */
#include "predict/granule-int.h"

#include "base/alloc.h"
#include "base/compare.h"
#include "base/error.h"
#include "base/map.h"

#include <stdlib.h>

#define BLOCK 64 /* number of bytes in a block; each byte has a bit in a word of 64 bits */
#define NOT_SHARED UINT32_MAX
/* The number of bits in a key that hold the number of the block within its object.  The other bits
 * hold the number of the object. */
#define OFFSET_BITS 38
#define OFFSET_MASK ((1ull << OFFSET_BITS) - 1)

_Static_assert(MODEL_OBJECT_MAX / BLOCK <= OFFSET_MASK, "every block of an object has a key of its own");

struct block {
	uint64_t key, cuts;
	uint32_t first; /* number of the granule at the lowest bit */
	uint32_t object;
};

struct mark {
	uint32_t story;		/* number of its access history; 0 if only one thread uses it */
	uint32_t segment, site; /* segment and site of the latest access, to skip repetitions */
	bool write;
};

struct granules {
	const struct model *m;
	struct rd_umap numbers; /* maps (object, block) to an index of blocks */
	struct block *blocks;
	size_t block_count, block_capacity;
	uint64_t last_key; /* 1 + the key of `last` */
	size_t last;
	uint64_t *starts; /* the offset of each granule */
	/* One mark for each granule.  The marks exist only while the access histories are
	 * computed. */
	struct mark *marks;
	/* Assigns numbers to access histories.  The key consists of the number of a history and of
	 * an access (segment, site, write).  The value is the number of the history that results
	 * when this access is added.  A segment occurs only once, so entries of earlier segments
	 * may be forgotten. */
	struct rd_pmap next;
	uint32_t story_count;
	uint32_t *variables; /* the variable of each granule, or NOT_SHARED */
	uint32_t count, variable_count;
};

static uint64_t key_of(uint32_t object, uint64_t offset)
{
	RD_ASSERT(offset <= MODEL_OBJECT_MAX);
	return (uint64_t)object << OFFSET_BITS | offset / BLOCK;
}

static void cut(struct granules *g, uint32_t object, uint64_t offset)
{
	uint64_t key = key_of(object, offset);

	if (g->last_key != key + 1) {
		bool is_new;
		uint64_t *number = rd_umap_put(&g->numbers, key, &is_new);
		if (is_new) {
			*number = g->block_count;
			RD_GROW(g->blocks, g->block_capacity, g->block_count + 1);
			g->blocks[g->block_count++] = (struct block){.key = key, .object = object};
		}
		g->last_key = key + 1;
		g->last = *number;
	}
	g->blocks[g->last].cuts |= 1ull << (offset % BLOCK);
}

static void cut_all(struct granules *g)
{
	for (size_t i = 0; i < g->m->thread_count; i++) {
		const struct model_history *h = &g->m->histories[i];
		for (size_t k = 0; k < h->access_count; k++) {
			const struct model_access *a = &h->accesses[k];
			cut(g, a->object, a->offset);
			cut(g, a->object, a->offset + a->size);
		}
	}
}

RD_COMPARISON(compare_blocks, struct block, key)

static void number_granules(struct granules *g)
{
	uint32_t n = 0;

	if (g->block_count > 0)
		qsort(g->blocks, g->block_count, sizeof *g->blocks, compare_blocks);
	for (size_t i = 0; i < g->block_count; i++) {
		g->blocks[i].first = g->count;
		g->count += (uint32_t)__builtin_popcountll(g->blocks[i].cuts);
		*rd_umap_put(&g->numbers, g->blocks[i].key, NULL) = i;
	}
	g->last_key = 0;
	g->starts = rd_xmalloc(((size_t)g->count + 1) * sizeof *g->starts);
	for (size_t i = 0; i < g->block_count; i++) {
		uint64_t base = (g->blocks[i].key & OFFSET_MASK) * BLOCK;
		for (uint64_t bits = g->blocks[i].cuts; bits; bits &= bits - 1)
			g->starts[n++] = base + (uint64_t)__builtin_ctzll(bits);
	}
}

struct granule_walk granules_of(struct granules *g, const struct model_access *a)
{
	RD_ASSERT(a->size > 0);
	uint64_t key = key_of(a->object, a->offset);

	if (g->last_key != key + 1) {
		g->last_key = key + 1;
		g->last = *rd_umap_get(&g->numbers, key);
	}
	const struct block *b = &g->blocks[g->last];
	uint64_t below = b->cuts & ((1ull << (a->offset % BLOCK)) - 1);
	return (struct granule_walk){.g = g,
				     .access = a,
				     .at = a->offset,
				     .next = b->first + (uint32_t)__builtin_popcountll(below)};
}

/* Returns the granule that begins at w->at. */
static uint32_t take_granule(struct granule_walk *w)
{
	uint32_t number = w->next++;

	w->offset = w->at;
	w->at = w->g->starts[w->next];
	w->size = w->at - w->offset;
	return number;
}

bool granule_next(struct granule_walk *w)
{
	while (w->at < w->access->offset + w->access->size) {
		w->variable = w->g->variables[take_granule(w)];
		if (w->variable != NOT_SHARED)
			return true;
	}
	return false;
}

/* ---- merging ---- */

/* At the end of a segment, `next` is emptied if it has more entries than this.  The limit bounds
 * the memory that is used for past segments.  It was set by hand. */
#define TRANSITIONS_MAX 4096

static uint32_t story_after(struct granules *g, const struct mark *m, const struct model_access *a,
			    uint32_t segment)
{
	bool is_new;
	uint64_t *next = rd_pmap_put(&g->next, (uint64_t)segment << 32 | m->story,
				     (uint64_t)a->site << 1 | a->write, &is_new);

	if (is_new)
		*next = ++g->story_count;
	RD_ASSERT(g->story_count < UINT32_MAX);
	return (uint32_t)*next;
}

static void mark_access(struct granules *g, const struct model_access *a, uint32_t segment)
{
	struct granule_walk w = granules_of(g, a);

	while (w.at < a->offset + a->size) {
		struct mark *m = &g->marks[take_granule(&w)];
		if (m->story && m->segment == segment && m->site == a->site && m->write == a->write &&
		    a->site)
			continue;
		if (!m->story && !model_is_shared(g->m, a->object, w.offset, w.size))
			continue;
		*m = (struct mark){story_after(g, m, a, segment), segment, a->site, a->write};
	}
}

static void mark_all(struct granules *g)
{
	uint32_t segment = 0;

	for (size_t i = 0; i < g->m->thread_count; i++) {
		const struct model_history *h = &g->m->histories[i];
		size_t operation = 0;
		segment++;
		for (size_t k = 0; k < h->access_count; k++) {
			size_t before = operation;
			while (operation < h->operation_count && h->operations[operation].access <= k)
				operation++;
			segment += operation != before;
			RD_ASSERT(segment < UINT32_MAX);
			if (operation != before && g->next.map.count > TRANSITIONS_MAX)
				rd_pmap_release(&g->next);
			mark_access(g, &h->accesses[k], segment);
		}
	}
}

static void number_variables(struct granules *g)
{
	struct rd_umap known = RD_UMAP_INIT;

	for (size_t i = 0; i < g->block_count; i++) {
		const struct block *b = &g->blocks[i];
		uint32_t end = b->first + (uint32_t)__builtin_popcountll(b->cuts);
		for (uint32_t n = b->first; n < end; n++) {
			if (!g->marks[n].story) {
				g->variables[n] = NOT_SHARED;
				continue;
			}
			bool is_new;
			uint64_t *number =
				rd_umap_put(&known, (uint64_t)g->marks[n].story << 32 | b->object, &is_new);
			if (is_new)
				*number = g->variable_count++;
			g->variables[n] = (uint32_t)*number;
		}
	}
	rd_umap_release(&known);
}

struct granules *granules_new(const struct model *m)
{
	struct granules *g = rd_xcalloc(1, sizeof *g);

	g->m = m;
	cut_all(g);
	number_granules(g);
	g->marks = rd_xcalloc((size_t)g->count + 1, sizeof *g->marks);
	g->variables = rd_xmalloc(((size_t)g->count + 1) * sizeof *g->variables);
	mark_all(g);
	number_variables(g);
	free(g->marks);
	g->marks = NULL;
	rd_pmap_release(&g->next);
	return g;
}

void granules_free(struct granules *g)
{
	if (!g)
		return;
	rd_umap_release(&g->numbers);
	RD_FREE(g->blocks, g->starts, g->variables, g);
}

uint32_t granules_variables(const struct granules *g)
{
	return g->variable_count;
}
