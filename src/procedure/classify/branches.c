// SPDX-License-Identifier: Apache-2.0
/*
 * Branches that depend on input (classify/branches-int.h).  In: the paths of both orders of a race.
 * Out: which branch to flip next, the conditions for the solver, and sentences for the report.
 * This file runs no program.
 */
#include "classify/branches-int.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/map.h"

#include <stdlib.h>

/* maximum number of conditions of a path that are shown, which is about a paragraph; the others are
 * only counted */
#define CONDITIONS_SHOWN 12

/* ---- branches that can be flipped ---- */

static int by_rank(const void *x, const void *y)
{
	const struct path_branch *a = x, *b = y;

	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	return a->step != b->step ? (a->step < b->step ? -1 : 1) : a->trace - b->trace;
}

/* Returns an array with a hash of each node.  The hashes do not depend on how nodes are numbered.
 * The caller must free the array. */
static uint64_t *hash_nodes(const struct sym_trace *t)
{
	uint64_t *hash = rd_xcalloc(t->node_count + 1, sizeof *hash);

	for (size_t i = 0; i < t->node_count; i++) {
		const struct raddle_expr *e = &t->nodes[i];
		uint64_t h = rd_hash_add((uint64_t)e->op << 8 | e->bits, e->k);

		if (e->op == RADDLE_EXPR_VAR) {
			const struct raddle_shadow_var *v = &t->vars[e->k];

			h = rd_hash_add(rd_hash_add((uint64_t)v->sort << 8 | v->bits, v->offset), v->input);
		}
		hash[i] = rd_hash_add(rd_hash_add(rd_hash_add(h, hash[e->a]), hash[e->b]), hash[e->c]);
	}
	return hash;
}

/* Collects the conditions that one order has after the race.  A condition that occurs in only one
 * of the two orders depends both on the race and on the input, so either of them can flip it. */
static void find_common(const struct sym_trace *t, struct rd_umap *common)
{
	uint64_t *hash = hash_nodes(t);

	for (size_t i = 0; i < t->step_count; i++)
		if (t->steps[i].met)
			rd_umap_put(common, rd_hash_add(t->steps[i].site, hash[t->steps[i].cond]), NULL);
	free(hash);
}

/* The classes of ranks.  Branches with smaller ranks are flipped first.  BY_RACE is for branches
 * that both the race and the input can flip.  The other branches after the race follow in the order
 * of the path: first those of created threads (BY_THREADS), then those of the initial thread
 * (BY_OTHERS).  After them come the branches before the race, the last one first, and finally the
 * steps at which an address depends on input. */
enum { BY_RACE, BY_THREADS, BY_OTHERS, BEFORE, ADDRESSES };

static uint32_t rank_of(const struct sym_trace *t, size_t step, bool common)
{
	const struct raddle_shadow_step *s = &t->steps[step];
	uint32_t back = (uint32_t)(t->step_count - step);

	if (s->kind == RADDLE_STEP_ADDRESS)
		return (uint32_t)ADDRESSES << 28 | back;
	if (!s->met)
		return (uint32_t)BEFORE << 28 | back;
	return (uint32_t)(!common ? BY_RACE : s->thread ? BY_THREADS : BY_OTHERS) << 28 | (uint32_t)step;
}

static size_t add_candidates(const struct sym_trace traces[2], uint8_t k, uint64_t chosen,
			     struct path_branch *to)
{
	const struct sym_trace *t = &traces[k];
	uint64_t *hash = hash_nodes(t);
	struct rd_umap common = {0};
	size_t count = 0;

	find_common(&traces[!k], &common);
	for (size_t i = 0; i < t->step_count && i < BRANCHES_MOST; i++) {
		const struct raddle_shadow_step *s = &t->steps[i];
		bool known = rd_umap_get(&common, rd_hash_add(s->site, hash[s->cond])) != NULL;

		if (s->kind != RADDLE_STEP_ASSUME && (t->nodes[s->cond].inputs & chosen))
			to[count++] = (struct path_branch){(uint32_t)i, rank_of(t, i, known), k};
	}
	RD_UMAP_RELEASE(&common);
	free(hash);
	return count;
}

struct path_branch *branches_find(const struct sym_trace traces[2], const uint64_t chosen[2], size_t *count)
{
	struct path_branch *all = rd_xcalloc(traces[0].step_count + traces[1].step_count + 1, sizeof *all);

	*count = 0;
	for (uint8_t k = 0; k < 2; k++)
		*count += add_candidates(traces, k, chosen[k], all + *count);
	RD_ASSERT(*count <= traces[0].step_count + traces[1].step_count);
	qsort(all, *count, sizeof *all, by_rank);
	return all;
}

struct sym_fact *branches_facts(const struct sym_trace *t, size_t step)
{
	struct sym_fact *facts = rd_xcalloc(step + 1, sizeof *facts);

	RD_ASSERT(step < t->step_count);
	for (size_t i = 0; i <= step; i++)
		facts[i] = (struct sym_fact){t->steps[i].cond, t->steps[i].taken};
	facts[step].holds = !facts[step].holds;
	return facts;
}

uint64_t branches_hash(const struct sym_trace traces[2])
{
	uint64_t h = 1;

	for (int k = 0; k < 2; k++) {
		const struct sym_trace *t = &traces[k];

		for (size_t i = 0; i < t->step_count; i++)
			if (t->steps[i].kind == RADDLE_STEP_BRANCH)
				h = rd_hash_add(h, (uint64_t)t->steps[i].site << 1 | t->steps[i].taken);
		h = rd_hash_add(h, t->step_count);
	}
	return h;
}

/* ---- conditions of a path ---- */

void branches_describe(const struct sym_trace *t, struct rd_buf *out)
{
	struct rd_names said = RD_NAMES_INIT;
	size_t more = 0;

	for (size_t i = 0; i < t->step_count; i++) {
		struct rd_buf text = RD_BUF_INIT;
		size_t before = said.count;

		if (t->steps[i].kind != RADDLE_STEP_BRANCH)
			continue;
		if (!sym_words_condition(t, t->steps[i].cond, t->steps[i].taken, &text)) {
			more++;
		} else if (rd_names_put(&said, text.data, text.length) == before) {
			if (before < CONDITIONS_SHOWN)
				rd_buf_addf(out, "%s%s", before ? " and " : "", text.data);
			else
				more++;
		}
		rd_buf_release(&text);
	}
	if (!said.count && !more)
		rd_buf_adds(out, "any input");
	else if (more)
		rd_buf_addf(out, "%s%zu conditions that are not shown", said.count ? " and " : "", more);
	rd_buf_addc(out, '\n');
	rd_names_release(&said);
}
