/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the instructions after which other threads can reach memory (candidates/fresh-int.h). */
#include "candidates/fresh-int.h"

#include "base/alloc.h"
#include "facts/role.h"

#include <stdlib.h>
#include <string.h>

/* The number of nested calls through which an address is followed.  Set by hand, to limit the
 * time. */
enum { DEPTH_MAX = 12 };

struct fresh {
	struct program *p;
	/* For each value of the facts, the index in `users` at which its users begin.  A user is an
	 * instruction that has the value as an operand. */
	uint32_t *user_start, *users;
	struct rd_umap blocks; /* maps a root to 1 + its index in `known` */
	struct known {
		uint32_t *publications; /* instructions that publish the address */
		size_t count, capacity;
		/* For each block, true if the address may already be published when the block
		 * starts. */
		bool *blocks;
		/* The number of relaxed instructions among `publications`.  After a relaxed
		 * publication, other threads may see earlier accesses late. */
		size_t relaxed;
	} * known;
	size_t known_count, known_capacity;
	uint8_t *keeps; /* what a function does with each argument (enum keeps) */
};

bool fresh_is_made(const struct program *p, uint32_t value)
{
	const struct facts *f = p->f;
	uint32_t kind = f->values[value].kind;
	struct facts_run run = facts_members_of(f, f->values[value].set);
	if ((kind != FACTS_CALL && kind != FACTS_VARIABLE) || run.first == run.end)
		return false;
	for (uint32_t i = run.first; i < run.end; i++) {
		const struct facts_object *o = &f->objects[f->places[f->members[i].place].object];
		if ((o->kind != FACTS_OBJECT_HEAP && o->kind != FACTS_OBJECT_STACK) || o->origin != value)
			return false;
	}
	return true;
}

struct fresh *fresh_new(struct program *p)
{
	const struct facts *f = p->f;
	struct fresh *h = rd_xcalloc(1, sizeof *h);
	h->p = p;
	h->user_start = rd_xcalloc(f->value_count + 2, sizeof *h->user_start);
	h->users = rd_xcalloc(f->operand_count + 1, sizeof *h->users);
	h->keeps = rd_xcalloc(f->value_count + 1, 1);
	for (size_t i = 0; i < f->operand_count; i++)
		if (!(f->operands[i].operand & FACTS_CONSTANT))
			h->user_start[f->operands[i].operand + 1]++;
	for (size_t v = 0; v < f->value_count; v++)
		h->user_start[v + 1] += h->user_start[v];
	uint32_t *next = rd_xmalloc((f->value_count + 1) * sizeof *next);
	memcpy(next, h->user_start, (f->value_count + 1) * sizeof *next);
	for (uint32_t v = 0; v < f->value_count; v++) {
		struct facts_run run = facts_operands_of(f, v);
		for (uint32_t i = run.first; i < run.end; i++)
			if (!(f->operands[i].operand & FACTS_CONSTANT))
				h->users[next[f->operands[i].operand]++] = v;
	}
	free(next);
	return h;
}

void fresh_free(struct fresh *h)
{
	for (size_t i = 0; i < h->known_count; i++)
		RD_FREE(h->known[i].publications, h->known[i].blocks);
	rd_umap_release(&h->blocks);
	RD_FREE(h->user_start, h->users, h->keeps, h->known, h);
}

/* ------------------------------------------------------ uses of an address --- */

/* Whether a function publishes an argument, so that other threads can reach its memory.  RELAXED
 * means that it publishes the argument only by relaxed operations.  NOT_YET means that the
 * argument has not been analysed, and IN_PROGRESS that it is being analysed. */
enum keeps { NOT_YET, IN_PROGRESS, NO, YES, RELAXED };

static enum keeps keeps_argument(struct fresh *h, uint32_t argument, unsigned depth);

/* Returns true if a library function may store its arguments where other threads can find them. */
static bool library_keeps(const struct facts_function *called)
{
	if (called->flags & FACTS_FUNCTION_INTRINSIC)
		return false;
	return !(called->flags & FACTS_FUNCTION_MODELLED) || called->role == FACTS_ROLE_THREAD_CREATE ||
	       called->role == FACTS_ROLE_HANDLER;
}

static enum keeps call_keeps(struct fresh *h, uint32_t call, uint32_t pointer, unsigned depth)
{
	enum keeps most = NO;
	const struct facts *f = h->p->f;
	const struct facts_function *called = program_library(h->p, call);
	struct facts_run calls = facts_calls_of(f, call), run = facts_operands_of(f, call);
	if (called != NULL)
		return library_keeps(called) ? YES : NO;
	if (calls.first == calls.end)
		return YES;
	for (uint32_t i = calls.first; i < calls.end; i++) {
		const struct facts_function *callee = &f->functions[f->calls[i].function];
		for (uint32_t k = run.first; k + 1 < run.end; k++) {
			if (f->operands[k].operand != pointer)
				continue;
			if (k - run.first >= callee->arguments || f->calls[i].kind > FACTS_EDGE_INDIRECT)
				return YES;
			enum keeps keeps = keeps_argument(h, callee->values + (k - run.first), depth + 1);
			most = keeps == NO || most == RELAXED ? most : keeps;
		}
	}
	return most;
}

/* What an instruction does with the pointer to fresh memory. */
enum use { USE_NOTHING, USE_DERIVES, USE_PUBLISHES, USE_PUBLISHES_RELAXED };

static enum use stored(const struct facts_value *v, bool is_stored)
{
	if (!is_stored)
		return USE_NOTHING;
	return v->flags & FACTS_VALUE_RELAXED ? USE_PUBLISHES_RELAXED : USE_PUBLISHES;
}

static enum use kept(enum keeps keeps)
{
	return keeps == NO ? USE_NOTHING : keeps == RELAXED ? USE_PUBLISHES_RELAXED : USE_PUBLISHES;
}

static enum use use_of(struct fresh *h, uint32_t user, uint32_t pointer, unsigned depth)
{
	const struct facts *f = h->p->f;
	const struct facts_value *v = &f->values[user];
	switch (v->kind) {
	case FACTS_ADDRESS: return f->operands[v->operands].operand == pointer ? USE_DERIVES : USE_NOTHING;
	case FACTS_CAST: /* the compiler casts pointers to numbers for atomic operations */
	case FACTS_PHI:
	case FACTS_SELECT: return USE_DERIVES;
	case FACTS_STORE: return stored(v, f->operands[v->operands].operand == pointer);
	case FACTS_UPDATE:
	case FACTS_EXCHANGE: return stored(v, f->operands[v->operands].operand != pointer);
	case FACTS_CALL: return kept(call_keeps(h, user, pointer, depth));
	case FACTS_COMPUTE: return USE_PUBLISHES;
	/* Loads and comparisons do nothing with the pointer, and a return ends the function. */
	default: return USE_NOTHING;
	}
}

/* Collects the instructions that publish the address in `root`.  Sets *returned to true if the
 * function returns the address. */
static void find_publications(struct fresh *h, uint32_t root, unsigned depth, struct known *k, bool *returned)
{
	struct rd_umap seen = RD_UMAP_INIT;
	uint32_t *work = NULL;
	size_t count = 0, capacity = 0;
	RD_GROW(work, capacity, 1);
	work[count++] = root;
	while (count != 0) {
		uint32_t pointer = work[--count];
		for (uint32_t i = h->user_start[pointer]; i < h->user_start[pointer + 1]; i++) {
			uint32_t user = h->users[i];
			enum use use = use_of(h, user, pointer, depth);
			bool is_new;
			*returned |= h->p->f->values[user].kind == FACTS_RETURN;
			if (use == USE_PUBLISHES || use == USE_PUBLISHES_RELAXED) {
				k->relaxed += use == USE_PUBLISHES_RELAXED;
				RD_GROW(k->publications, k->capacity, k->count + 1);
				k->publications[k->count++] = user;
			}
			if (use != USE_DERIVES)
				continue;
			rd_umap_put(&seen, user, &is_new);
			if (is_new) {
				RD_GROW(work, capacity, count + 1);
				work[count++] = user;
			}
		}
	}
	free(work);
	rd_umap_release(&seen);
}

/* Determines whether a function publishes an argument.  Returns NO if it does not, RELAXED if every
 * publication is relaxed, and YES otherwise.  Returning the argument counts as publishing, since
 * callers do not track results.  The result is also YES if the depth limit is reached. */
static enum keeps keeps_argument(struct fresh *h, uint32_t argument, unsigned depth)
{
	if (h->keeps[argument] == NOT_YET && depth < DEPTH_MAX) {
		struct known k = {0};
		bool returned = false;
		h->keeps[argument] = IN_PROGRESS;
		find_publications(h, argument, depth, &k, &returned);
		bool loosely = k.count != 0 && k.relaxed == k.count && !returned;
		h->keeps[argument] = loosely ? RELAXED : k.count != 0 || returned ? YES : NO;
		free(k.publications);
	}
	return h->keeps[argument] == NO || h->keeps[argument] == RELAXED ? h->keeps[argument] : YES;
}

/* ------------------------------------------------------------ published blocks --- */

/* Marks the blocks that can be reached after a publication without creating the memory again. */
static void spread(struct fresh *h, uint32_t root, struct known *k)
{
	const struct program *p = h->p;
	uint32_t function = facts_function_at(p->f, root), count = 0;
	const struct facts_graph *g = &p->functions[function].graph;
	uint32_t *work = rd_xcalloc((size_t)g->nodes + 1 + k->count, sizeof *work);
	k->blocks = rd_xcalloc((size_t)g->nodes + 1, sizeof *k->blocks);
	for (size_t i = 0; i < k->count; i++)
		work[count++] = p->block_of[k->publications[i]];
	while (count != 0) {
		uint32_t n = work[--count];
		for (uint32_t s = g->succ_start[n]; s < g->succ_start[n + 1]; s++) {
			uint32_t to = g->succ[s];
			if (to == p->block_of[root] || k->blocks[to])
				continue;
			k->blocks[to] = true;
			work[count++] = to;
		}
	}
	free(work);
}

bool fresh_is_known(struct fresh *h, uint32_t root, uint32_t at)
{
	bool is_new, returned = false;
	uint64_t *row = rd_umap_put(&h->blocks, root, &is_new);
	if (is_new) {
		struct known k = {0};
		find_publications(h, root, 0, &k, &returned);
		spread(h, root, &k);
		RD_GROW(h->known, h->known_capacity, h->known_count + 1);
		h->known[h->known_count++] = k;
		*rd_umap_get(&h->blocks, root) = h->known_count;
		row = rd_umap_get(&h->blocks, root);
	}
	const struct known *k = &h->known[*row - 1];
	if (k->relaxed != 0)
		return true;
	for (size_t i = 0; i < k->count; i++)
		if (h->p->block_of[k->publications[i]] == h->p->block_of[at] && k->publications[i] < at &&
		    (h->p->block_of[root] != h->p->block_of[at] || root < k->publications[i]))
			return true;
	return k->blocks[h->p->block_of[at]];
}
