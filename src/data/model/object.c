/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the object that contains an address and is alive at a given time (q).
 *
 * A program may allocate millions of objects at the same few addresses, so a search must not visit
 * all of them.  Heap objects and stacks are kept in a grid of cells (model-int.h).  A lookup
 * visits one cell of each level.  It finds the last object born before q by binary search, and
 * walks back to one that contains the address.  Globals and modules never move, so each of the two
 * kinds has a sorted array.
 */
#include "model/model-int.h"

#include "base/alloc.h"
#include "base/compare.h"
#include "base/error.h"

#include <stdlib.h>
#include <string.h>

#define CELL_SHIFT 6   /* log2 of the number of bytes in a cell on the lowest level */
#define LEVEL_SHIFT 59 /* position of the level in a cell's key */
#define PAGE 4096
/* The largest number of objects that a lookup visits in a cell.  Set by hand, to limit the time
 * that a damaged trace can cost. */
#define WALK_MAX 65536

uint32_t model_add_object(struct model *m, const struct model_object *object)
{
	RD_GROW(m->objects, m->private->object_capacity, m->object_count + 1);
	struct model_object *o = &m->objects[m->object_count];
	*o = *object;
	if (o->size == 0)
		o->size = 1;
	if (o->size > MODEL_OBJECT_MAX)
		o->size = MODEL_OBJECT_MAX;
	if (o->size - 1 > UINT64_MAX - o->base)
		o->size = UINT64_MAX - o->base + 1;
	o->owner = o->freer = MODEL_NONE;
	return (uint32_t)m->object_count++;
}

static bool contains(const struct model_object *o, uint64_t address)
{
	return address - o->base < o->size;
}

static unsigned level_of(uint64_t size)
{
	unsigned level = 0;
	while (level < MODEL_GRID_LEVELS - 1 && 4ull << (CELL_SHIFT + 2 * level) < size)
		level++;
	return level;
}

static uint64_t cell_key(unsigned level, uint64_t address)
{
	RD_ASSERT(level < MODEL_GRID_LEVELS);
	return (uint64_t)level << LEVEL_SHIFT | address >> (CELL_SHIFT + 2 * level);
}

static bool is_dynamic(const struct model_object *o)
{
	return o->kind == MODEL_HEAP || o->kind == MODEL_STACK;
}

/* Visits each cell of an object.  If `fill` is NULL, only increments the number of objects in the
 * cell.  Otherwise, adds the object to the cell. */
static void visit_cells(struct model_grid *g, const struct model *m, uint32_t object, uint32_t *fill)
{
	const struct model_object *o = &m->objects[object];
	unsigned level = level_of(o->size);
	uint64_t last = cell_key(level, o->base + o->size - 1);
	g->levels |= 1u << level;
	for (uint64_t key = cell_key(level, o->base); key <= last; key++) {
		bool is_new;
		uint64_t *cell = rd_umap_put(&g->cells, key, &is_new);
		if (is_new)
			*cell = g->cells.count - 1;
		if (fill)
			g->entries[fill[*cell]++] = object;
		else
			g->starts[*cell + 1]++;
	}
}

static void build_grid(struct model *m)
{
	struct model_grid *g = &m->private->grid;
	size_t most = 1;
	for (size_t i = 0; i < m->object_count; i++)
		most += is_dynamic(&m->objects[i]) ? 5 : 0;
	g->starts = rd_xcalloc(most + 1, sizeof *g->starts);
	for (size_t i = 0; i < m->object_count; i++) {
		if (is_dynamic(&m->objects[i]))
			visit_cells(g, m, (uint32_t)i, NULL);
	}
	for (size_t i = 0; i < g->cells.count; i++)
		g->starts[i + 1] += g->starts[i];
	uint32_t *fill = rd_xmalloc((g->cells.count + 1) * sizeof *fill);
	memcpy(fill, g->starts, (g->cells.count + 1) * sizeof *fill);
	g->entries = rd_xmalloc((g->starts[g->cells.count] + 1) * sizeof *g->entries);
	for (size_t i = 0; i < m->object_count; i++) {
		if (is_dynamic(&m->objects[i]))
			visit_cells(g, m, (uint32_t)i, fill);
	}
	free(fill);
}

static int compare_bases(const void *a, const void *b, void *objects)
{
	const struct model_object *x = (const struct model_object *)objects + *(const uint32_t *)a;
	const struct model_object *y = (const struct model_object *)objects + *(const uint32_t *)b;
	RD_BY(x->base, y->base);
	return x->size > y->size ? -1 : x->size < y->size;
}

static uint32_t *sorted_kind(const struct model *m, enum model_object_kind kind, size_t *count)
{
	uint32_t *list = rd_xmalloc((m->object_count + 1) * sizeof *list);
	*count = 0;
	for (size_t i = 0; i < m->object_count; i++) {
		if (m->objects[i].kind == kind)
			list[(*count)++] = (uint32_t)i;
	}
	if (*count > 0)
		qsort_r(list, *count, sizeof *list, compare_bases, m->objects);
	return rd_xrealloc(list, (*count + 1) * sizeof *list);
}

void model_index_objects(struct model *m)
{
	struct model_private *x = m->private;
	build_grid(m);
	x->fixed = sorted_kind(m, MODEL_GLOBAL, &x->fixed_count);
	x->module_objects = sorted_kind(m, MODEL_MODULE, &x->module_object_count);
}

static uint32_t find_sorted(const struct model *m, const uint32_t *list, size_t count, uint64_t address)
{
	RD_ASSERT(count == 0 || list != NULL);
	size_t next = 0;

	RD_BISECT(next, count, at, m->objects[list[at]].base <= address);
	if (next > 0 && contains(&m->objects[list[next - 1]], address))
		return list[next - 1];
	return MODEL_NONE;
}

/* The best candidates so far in a search for a heap object or stack. */
struct object_search {
	uint64_t address, q;
	uint32_t alive, next, dead;
};

static bool born_later(const struct model *m, uint32_t a, uint32_t b)
{
	return b == MODEL_NONE || m->objects[a].begin > m->objects[b].begin;
}

static void search_cell(const struct model *m, uint64_t cell, struct object_search *s)
{
	const struct model_grid *g = &m->private->grid;
	size_t first = g->starts[cell], low = first, last = g->starts[cell + 1];
	RD_BISECT(low, last, at, m->objects[g->entries[at]].begin <= s->q);
	for (size_t i = low, n = 0; i > first && n < WALK_MAX; i--, n++) {
		uint32_t object = g->entries[i - 1];
		if (!contains(&m->objects[object], s->address))
			continue;
		uint32_t *best = m->objects[object].end > s->q ? &s->alive : &s->dead;
		if (born_later(m, object, *best))
			*best = object;
		break;
	}
	for (size_t i = low, n = 0; i < last && n < WALK_MAX; i++, n++) {
		uint32_t object = g->entries[i];
		if (!contains(&m->objects[object], s->address))
			continue;
		if (s->next == MODEL_NONE || born_later(m, s->next, object))
			s->next = object;
		break;
	}
}

static void search_grid(const struct model *m, struct object_search *s)
{
	const struct model_grid *g = &m->private->grid;
	for (uint32_t levels = g->levels; levels; levels &= levels - 1) {
		unsigned level = (unsigned)__builtin_ctz(levels);
		uint64_t *cell = rd_umap_get(&g->cells, cell_key(level, s->address));
		if (cell)
			search_cell(m, *cell, s);
	}
}

uint32_t model_find(const struct model *m, uint64_t address, uint64_t q)
{
	const struct model_private *x = m->private;
	struct object_search s = {
		.address = address, .q = q, .alive = MODEL_NONE, .next = MODEL_NONE, .dead = MODEL_NONE};
	search_grid(m, &s);
	if (s.alive != MODEL_NONE)
		return s.alive;
	uint32_t object = find_sorted(m, x->fixed, x->fixed_count, address);
	if (object == MODEL_NONE)
		object = s.next;
	if (object == MODEL_NONE)
		object = s.dead;
	if (object == MODEL_NONE)
		object = find_sorted(m, x->module_objects, x->module_object_count, address);
	if (object == MODEL_NONE) {
		uint64_t *page = rd_umap_get(&x->pages, address / PAGE);
		object = page ? (uint32_t)*page : MODEL_NONE;
	}
	return object;
}

uint32_t model_find_cached(const struct model *m, struct model_cache *cache, uint64_t address, uint64_t q)
{
	uint64_t line = (address >> 4) + 1;
	size_t slot = (line * 0x9e3779b97f4a7c15ull) >> 52;
	uint32_t object = cache->entries[slot].object;
	if (cache->entries[slot].line == line) {
		const struct model_object *o = &m->objects[object];
		if (contains(o, address) && o->begin <= q && q < o->end)
			return object;
	}
	object = model_find(m, address, q);
	/* A module is not cached.  It contains the memory around its variables, so a variable may
	 * be in the same line of this cache. */
	if (object != MODEL_NONE && m->objects[object].kind != MODEL_MODULE) {
		cache->entries[slot].line = line;
		cache->entries[slot].object = object;
	}
	return object;
}

uint32_t model_find_or_page(struct model *m, struct model_cache *cache, uint64_t address, uint64_t q)
{
	uint32_t object = model_find_cached(m, cache, address, q);
	if (object != MODEL_NONE)
		return object;
	struct model_object page = {.kind = MODEL_PAGE,
				    .base = address / PAGE * PAGE,
				    .size = PAGE,
				    .end = MODEL_FOREVER,
				    .thread = MODEL_NONE};
	object = model_add_object(m, &page);
	*rd_umap_put(&m->private->pages, address / PAGE, NULL) = object;
	return object;
}
