/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Copies loops inside the guarded copy of a function (clone.h).  The new copies have no guards,
 * and run while no guard of the loop is enabled.  Enabling one guard enables its whole function.
 * The tests of the function's other guards cost little, except in counting loops: such a loop is
 * no longer vectorised and takes more than twice as long.  So each counting loop has its own
 * region and, inside the guarded copy, a second copy without guards:
 *
 * 	guarded 4 ... door -+-> quiet 5 ... ---+-> guarded 6
 * 	                     \-> guarded 5 ... -/
 *
 * The door is a test that is made when the loop is entered.  Like the clean copy, the quiet loop
 * has no tests while it runs, because it ends by itself.  The guards of the loop are tested only
 * if the byte of the function and the byte of the loop are both set.
 */
#include "base/error.h"
#include "instr/guard/clone.h"

#include "base/alloc.h"
#include "facts/graph.h"
#include "raddle/guard.h"

#include <stdlib.h>

enum {
	NEST = 2, /* largest number of nested loops that are copied together; set by hand */
	/* Used instead of a depth if some loop of a nest tests the byte of the region.  Such a
	 * loop may run forever, so the nest is not copied. */
	TESTS = 1 << 30,
};

/* A loop and its blocks in the guarded copy. */
struct quiet {
	struct instr_clone *clone;
	const struct facts_loop *loop;
	struct rd_umap inside; /* the blocks of the loop in the guarded copy */
	uint32_t region;
};

/* Returns an array with the depth of the nest that each loop forms with its inner loops.  The
 * depth is TESTS if a loop of the nest tests the byte. */
static uint32_t *find_depths(const struct instr_clone *t)
{
	uint32_t *depth = rd_xcalloc(t->loops.count + 1, sizeof *depth);
	for (size_t i = t->loops.count; i-- > 0;) { /* inner loops first */
		uint32_t around = t->parent[i];
		if (depth[i] == 0)
			depth[i] = 1;
		if (t->polled[i] || t->light[i])
			depth[i] = TESTS;
		if (around != FACTS_NONE && depth[around] <= depth[i])
			depth[around] = depth[i] == TESTS ? TESTS : depth[i] + 1;
	}
	return depth;
}

/* Returns true if the loop is the outermost loop of a nest that is copied.  A copied nest has at
 * most NEST nested loops, because a thread in the guarded copy of the nest stays there until the
 * nest ends.  The largest such nests are chosen, so that each is long enough to be worth a
 * test. */
static bool is_chosen(const struct instr_clone *t, const uint32_t *depth, size_t loop)
{
	RD_ASSERT(loop < t->loops.count);
	uint32_t around = t->parent[loop];
	return depth[loop] <= NEST && (around == FACTS_NONE || depth[around] > NEST);
}

/* Returns true if the loop can be copied.  Between blocks, all values are in memory, except the
 * result of an invoke.  A loop that contains an invoke therefore cannot be copied. */
static bool can_be_copied(const struct instr_clone *t, const struct facts_loop *loop)
{
	for (uint32_t i = 0; i < loop->size; i++)
		if (t->meets[loop->body[i]] ||
		    LLVMIsAInvokeInst(LLVMGetBasicBlockTerminator(t->cfg.blocks[loop->body[i]])))
			return false;
	return true;
}

/* Returns true if the guarded copy of the loop has marks.  The clean copy has lost its marks by
 * now. */
static bool has_marks(const struct instr_clone *t, const struct facts_loop *loop)
{
	for (uint32_t i = 0; i < loop->size; i++)
		if (instr_marks_in(t->guarded[loop->body[i]]) != 0)
			return true;
	return false;
}

/* Removes the guards of a copied block.  For each of them, adds a line to `regions` that assigns it
 * to the region of the loop. */
static void silence(struct quiet *q, LLVMBasicBlockRef block, struct rd_buf *regions)
{
	for (LLVMValueRef i = LLVMGetFirstInstruction(block), next; i != NULL; i = next) {
		next = LLVMGetNextInstruction(i);
		if (!instr_is_mark(i))
			continue;
		rd_buf_addf(regions, "%u %u\n", instr_mark_guard(i), q->region);
		LLVMInstructionEraseFromParent(i);
	}
}

/* Copies the loop.  Returns the copy of its header. */
static LLVMBasicBlockRef copy_loop(struct quiet *q, LLVMValueRef function, struct rd_buf *regions)
{
	struct instr_unit *u = q->clone->unit;
	struct rd_umap copies = {0};
	LLVMBasicBlockRef *blocks = rd_xcalloc(q->loop->size, sizeof *blocks);
	for (uint32_t i = 0; i < q->loop->size; i++) {
		LLVMBasicBlockRef guarded = q->clone->guarded[q->loop->body[i]];
		blocks[i] = LLVMAppendBasicBlockInContext(u->context, function, "");
		*rd_umap_put(&copies, (uintptr_t)LLVMBasicBlockAsValue(guarded), NULL) =
			(uintptr_t)LLVMBasicBlockAsValue(blocks[i]);
		LLVMPositionBuilderAtEnd(u->builder, blocks[i]);
		instr_copy_block(u, guarded, &copies);
	}
	for (uint32_t i = 0; i < q->loop->size; i++) {
		for (LLVMValueRef v = LLVMGetFirstInstruction(blocks[i]); v != NULL;
		     v = LLVMGetNextInstruction(v))
			instr_copy_operands(v, &copies);
		silence(q, blocks[i], regions);
	}
	LLVMBasicBlockRef header = blocks[0];
	rd_umap_release(&copies);
	free(blocks);
	return header;
}

static void make_door(struct quiet *q, struct rd_buf *regions)
{
	struct instr_unit *u = q->clone->unit;
	LLVMBasicBlockRef header = q->clone->guarded[q->loop->header];
	LLVMValueRef function = LLVMGetBasicBlockParent(header);
	LLVMBasicBlockRef door = LLVMInsertBasicBlockInContext(u->context, header, "");
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b != NULL; b = LLVMGetNextBasicBlock(b))
		if (b != door && rd_umap_get(&q->inside, (uintptr_t)b) == NULL)
			ir_redirect(b, header, door);
	LLVMBasicBlockRef quiet = copy_loop(q, function, regions);
	LLVMPositionBuilderAtEnd(u->builder, door);
	LLVMValueRef wanted = instr_clone_byte(u, q->region);
	instr_say_rare(u, LLVMBuildCondBr(u->builder, wanted, header, quiet));
}

static void make_quiet(struct instr_clone *t, const struct facts_loop *loop, struct rd_buf *regions)
{
	struct quiet q = {.clone = t, .loop = loop, .region = (t->region + t->regions++) % RADDLE_GUARDS};
	for (uint32_t i = 0; i < loop->size; i++)
		rd_umap_put(&q.inside, (uintptr_t)t->guarded[loop->body[i]], NULL);
	make_door(&q, regions);
	rd_umap_release(&q.inside);
}

/* Returns true if a block of the guarded copy of the function is reachable.  If unroll.c has
 * repeated the body of a loop, the guarded copy executes only the first repetition, so the blocks
 * of the other repetitions are unreachable. */
static bool is_reached(const struct ir_cfg *cfg, LLVMBasicBlockRef block)
{
	return cfg->graph.number[ir_cfg_number(cfg, block)] != FACTS_NONE;
}

void instr_clone_quiet(struct instr_clone *t, struct rd_buf *regions)
{
	uint32_t *depth = find_depths(t);
	struct ir_cfg cfg;
	ir_cfg_init(&cfg, LLVMGetBasicBlockParent(t->guarded[0]));
	facts_graph_dominators(&cfg.graph);
	for (size_t i = 0; i < t->loops.count; i++) {
		const struct facts_loop *loop = &t->loops.items[i];
		if (is_chosen(t, depth, i) && is_reached(&cfg, t->guarded[loop->header]) &&
		    can_be_copied(t, loop) && has_marks(t, loop))
			make_quiet(t, loop, regions);
	}
	ir_cfg_release(&cfg);
	free(depth);
}
