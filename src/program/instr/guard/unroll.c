/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unrolls some loops with short iterations.  These are outermost loops, and loops without a
 * counter, for instance loops that walk along a list.  A test in each iteration is too expensive
 * for them, but some test is necessary.  So the body of the loop is repeated, with one test after
 * the last repetition (clone.h):
 *
 *	for (;;) { A; if (...) break; }
 *
 * becomes
 *
 *	for (;;) { A; if (...) break;  A; if (...) break;  ...  A; if (...) break;  TEST }
 *
 * A loop that ends after a few iterations executes no test.  The test leads to the guarded copy of
 * the function and not back, so that the clean loop has only one entry, as optimisation passes
 * require.
 *
 * The function is in the form that reg2mem makes, so a block can be copied by copying its
 * instructions.
 */
#include "base/error.h"
#include "instr/guard/clone.h"

#include "base/alloc.h"

#include <stdlib.h>

enum {
	AFFORDS = 150,	 /* an iteration of this many instructions can afford a test */
	MAX_TIMES = 16,	 /* largest number of repetitions of a loop's body */
	MAX_SIZE = 1200, /* largest number of instructions in all repetitions together */
	ROUNDS = 10,	 /* the assumed number of iterations of an inner loop; a guess */
};

struct weights {
	uint32_t *of; /* the weight of each block, in instructions */
	/* The least weight of a path from the header to the end of a block, or UINT32_MAX if
	 * unknown. */
	uint32_t *way;
	uint32_t size; /* the weight of the whole loop */
	bool unfit;    /* true if the loop cannot be copied */
};

static uint32_t weigh_block(LLVMBasicBlockRef block, bool *unfit)
{
	uint32_t n = 0;
	for (LLVMValueRef i = LLVMGetFirstInstruction(block); i != NULL; i = LLVMGetNextInstruction(i)) {
		*unfit |= LLVMIsAInvokeInst(i) != NULL || LLVMIsALandingPadInst(i) != NULL;
		n += instr_clone_is_real(i);
	}
	return n;
}

/* Updates the distances of successors once.  Returns true if a distance became shorter. */
static bool relax(const struct instr_clone *t, const struct facts_loop *loop, struct weights *w)
{
	const struct facts_graph *g = &t->cfg.graph;
	bool changed = false;
	for (uint32_t i = 0; i < loop->size; i++) {
		uint32_t b = loop->body[i];
		for (uint32_t e = g->succ_start[b]; w->way[b] != UINT32_MAX && e < g->succ_start[b + 1];
		     e++) {
			uint32_t to = g->succ[e];
			if (!facts_loop_has(loop, to) || w->way[b] + w->of[to] >= w->way[to])
				continue;
			w->way[to] = w->way[b] + w->of[to];
			changed = true;
		}
	}
	return changed;
}

/* Returns the length of the shortest iteration, in instructions.  Inner loops are assumed to run
 * ROUNDS iterations. */
static uint32_t shortest_round(const struct instr_clone *t, size_t number, struct weights *w)
{
	RD_ASSERT(number < t->loops.count);
	const struct facts_loop *loop = &t->loops.items[number];
	const struct facts_graph *g = &t->cfg.graph;
	uint32_t least = UINT32_MAX;
	for (uint32_t i = 0; i < loop->size; i++) {
		uint32_t b = loop->body[i], weight = weigh_block(t->cfg.blocks[b], &w->unfit);
		w->size += weight;
		for (uint32_t in = t->loops.innermost[b]; in != number && in != FACTS_NONE;
		     in = t->parent[in])
			weight = weight < AFFORDS ? weight * ROUNDS : weight;
		w->of[b] = weight;
		w->way[b] = UINT32_MAX;
	}
	w->way[loop->header] = w->of[loop->header];
	for (uint32_t i = 0; i < loop->size && relax(t, loop, w); i++)
		;
	for (uint32_t e = g->pred_start[loop->header]; e < g->pred_start[loop->header + 1]; e++)
		if (facts_loop_has(loop, g->pred[e]) && w->way[g->pred[e]] < least)
			least = w->way[g->pred[e]];
	return least;
}

/* Returns how many repetitions of its body the unrolled loop contains.  The result is 1 if the
 * loop is not unrolled.  Each iteration then has a test, because the loop can afford that or
 * cannot be unrolled. */
static uint32_t times(const struct instr_clone *t, size_t number)
{
	RD_ASSERT(number < t->loops.count);
	struct weights w = {.of = rd_xcalloc(t->cfg.graph.nodes, sizeof *w.of),
			    .way = rd_xcalloc(t->cfg.graph.nodes, sizeof *w.way)};
	uint32_t least = shortest_round(t, number, &w), n = 1;
	while (!w.unfit && n < MAX_TIMES && n * least < AFFORDS && (n + 1) * w.size <= MAX_SIZE)
		n++;
	RD_FREE(w.of, w.way);
	return n;
}

/* --- repeating the body of a loop --- */

struct copy {
	LLVMBasicBlockRef *blocks; /* the copy of each block of the loop, in the order of its body */
	struct rd_umap values;
};

static uint32_t place_of(const struct facts_loop *loop, uint32_t block)
{
	uint32_t at = 0;
	while (loop->body[at] != block)
		at++;
	return at;
}

static void make_copy(const struct instr_clone *t, const struct facts_loop *loop, struct copy *c,
		      struct instr_unrolled *all)
{
	struct instr_unit *u = t->unit;
	c->blocks = rd_xcalloc(loop->size, sizeof(LLVMBasicBlockRef));
	for (uint32_t i = 0; i < loop->size; i++) {
		LLVMBasicBlockRef from = t->cfg.blocks[loop->body[i]];
		c->blocks[i] = LLVMAppendBasicBlockInContext(u->context, t->function, "");
		/* The copy of a block has the same properties as the block. */
		if (rd_umap_get(&all->tests, (uintptr_t)from) != NULL)
			rd_umap_put(&all->tests, (uintptr_t)c->blocks[i], NULL);
		if (rd_umap_get(&all->headers, (uintptr_t)from) != NULL)
			rd_umap_put(&all->headers, (uintptr_t)c->blocks[i], NULL);
		LLVMPositionBuilderAtEnd(u->builder, c->blocks[i]);
		instr_copy_block(u, from, &c->values);
	}
	for (uint32_t i = 0; i < loop->size; i++) {
		const uint64_t *first = rd_umap_get(&all->first, (uintptr_t)t->cfg.blocks[loop->body[i]]);
		LLVMBasicBlockRef of = first != NULL ? (LLVMBasicBlockRef)(uintptr_t)*first : NULL;
		if (of != NULL)
			*rd_umap_put(&all->first, (uintptr_t)c->blocks[i], NULL) =
				(uintptr_t)c->blocks[place_of(loop, ir_cfg_number(&t->cfg, of))];
		for (LLVMValueRef v = LLVMGetFirstInstruction(c->blocks[i]); v != NULL;
		     v = LLVMGetNextInstruction(v))
			instr_copy_operands(v, &c->values);
	}
}

/* Redirects the branches of a copy of the loop's body to blocks of the same copy.  Branches to the
 * header lead to the next copy instead. */
static void connect(const struct instr_clone *t, const struct facts_loop *loop, LLVMBasicBlockRef *blocks,
		    LLVMBasicBlockRef next)
{
	for (uint32_t i = 0; i < loop->size; i++) {
		LLVMValueRef end = LLVMGetBasicBlockTerminator(blocks[i]);
		unsigned n = LLVMGetNumSuccessors(end);
		for (unsigned k = 0; k < n; k++) {
			uint32_t to = ir_cfg_number(&t->cfg, LLVMGetSuccessor(end, k));
			if (to == loop->header)
				LLVMSetSuccessor(end, k, next);
			else if (facts_loop_has(loop, to))
				LLVMSetSuccessor(end, k, blocks[place_of(loop, to)]);
		}
	}
}

static LLVMBasicBlockRef make_test_block(const struct instr_clone *t, LLVMBasicBlockRef header,
					 struct instr_unrolled *all)
{
	LLVMBasicBlockRef test = LLVMAppendBasicBlockInContext(t->unit->context, t->function, "");
	LLVMPositionBuilderAtEnd(t->unit->builder, test);
	LLVMBuildBr(t->unit->builder, header);
	rd_umap_put(&all->tests, (uintptr_t)test, NULL);
	return test;
}

static void unroll(const struct instr_clone *t, const struct facts_loop *loop, uint32_t n,
		   struct instr_unrolled *all)
{
	const uint32_t header = place_of(loop, loop->header);
	struct copy *copies = rd_xcalloc(n, sizeof *copies);
	copies[0].blocks = rd_xcalloc(loop->size, sizeof(LLVMBasicBlockRef));
	for (uint32_t i = 0; i < loop->size; i++)
		copies[0].blocks[i] = t->cfg.blocks[loop->body[i]];
	for (uint32_t k = 1; k < n; k++) {
		make_copy(t, loop, &copies[k], all);
		*rd_umap_put(&all->first, (uintptr_t)copies[k].blocks[header], NULL) =
			(uintptr_t)copies[0].blocks[header];
	}
	LLVMBasicBlockRef again = make_test_block(t, copies[0].blocks[header], all);
	for (uint32_t k = 0; k < n; k++)
		connect(t, loop, copies[k].blocks, k + 1 < n ? copies[k + 1].blocks[header] : again);
	for (uint32_t k = 0; k < n; k++) {
		free(copies[k].blocks);
		rd_umap_release(&copies[k].values);
	}
	free(copies);
	rd_umap_put(&all->headers, (uintptr_t)t->cfg.blocks[loop->header], NULL);
}

bool instr_clone_unroll(struct instr_clone *t, struct instr_unrolled *all)
{
	LLVMSetCurrentDebugLocation2(t->unit->builder, NULL);
	/* In the list, inner loops come after the loops around them.  So this visits inner loops
	 * first. */
	for (size_t i = t->loops.count; i-- > 0;) {
		const struct facts_loop *loop = &t->loops.items[i];
		uintptr_t header = (uintptr_t)t->cfg.blocks[loop->header];
		if (!t->light[i] || rd_umap_get(&all->headers, header) != NULL ||
		    rd_umap_get(&all->tried, header) != NULL || !instr_clone_has_marks(t, loop))
			continue;
		uint32_t n = times(t, i);
		rd_umap_put(&all->tried, header, NULL);
		if (n == 1)
			continue;
		unroll(t, loop, n, all);
		return true;
	}
	return false;
}

void instr_unrolled_release(struct instr_unrolled *all)
{
	rd_umap_release(&all->headers);
	rd_umap_release(&all->tests);
	rd_umap_release(&all->tried);
	rd_umap_release(&all->first);
}
