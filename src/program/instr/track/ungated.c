/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions with gates (track.c) have a second copy without them.  On entry the function tests one
 * byte: if all gates are closed, the clean copy runs, which tests nothing.
 *
 * While the program runs, a gate is closed when it has recorded its maximum number of events.  A
 * loop may then continue for a long time.  So each iteration of a loop with gates begins by testing
 * whether one of these gates is still open.  If no gate is open, the loop continues in a clean
 * copy:
 *
 * 	before --> test -+-> header ... (gates) --> test
 * 	                  \
 * 	                   +-> clean header ... --> clean header
 *
 * An inner loop has a clean copy in each copy of the loop around it.  So each loop still has one
 * header, and optimisation passes recognise it as a loop.
 *
 * The function is in the form that reg2mem makes, so a block can be copied by copying its
 * instructions (copy.c).
 */
#include "instr/track/ungated.h"

#include "base/alloc.h"
#include "instr/guard/clone.h"
#include "raddle/track.h"

#include <stdlib.h>
#include <string.h>

enum {
	MAX_SIZE = 20000, /* largest number of instructions in all copies of a function */
	MANY = 16,	  /* if a loop has more gates, it tests the bytes of functions instead */
};

/* A list of constant pointers to bytes of __raddle_track_flags. */
struct bytes {
	LLVMValueRef *at;
	size_t count, capacity;
};

/* Blocks to be duplicated: a loop, or the whole function. */
struct part {
	const uint32_t *body;
	uint32_t header, size;
	/* For each block of the function, its index in the part to be copied, or FACTS_NONE if the
	 * block is not in this part. */
	uint32_t *place;
	struct bytes gates;
	size_t instructions; /* the number of instructions; 0 if the part cannot be copied */
};

struct spending {
	struct instr_unit *unit;
	LLVMValueRef function;
	struct ir_cfg cfg;
	struct facts_loops loops;
	size_t room; /* the number of instructions that may still be copied */
};

/* Returns the flag byte that an instruction loads, or NULL if it does not load a flag byte. */
static LLVMValueRef byte_of(LLVMValueRef inst)
{
	if (!LLVMIsALoadInst(inst))
		return NULL;
	LLVMValueRef at = LLVMGetOperand(inst, 0), base = at;
	if (LLVMIsAConstantExpr(base) && LLVMGetConstOpcode(base) == LLVMGetElementPtr)
		base = LLVMGetOperand(base, 0);
	return LLVMIsAGlobalVariable(base) && strcmp(ir_name(base), RADDLE_TRACK_FLAGS_NAME) == 0 ? at : NULL;
}

/* `at` is the flag byte of a gate.  Returns the flag byte that covers all gates of the gate's
 * function (raddle/track.h).  A gate belongs to the function whose source contains it, even if its
 * code was inlined into another function. */
static LLVMValueRef leader_of(struct spending *s, LLVMValueRef at)
{
	LLVMValueRef base = LLVMIsAConstantExpr(at) ? LLVMGetOperand(at, 0) : at;
	uint64_t gate =
		LLVMIsAConstantExpr(at)
			? LLVMConstIntGetZExtValue(LLVMGetOperand(at, (unsigned)LLVMGetNumOperands(at) - 1))
			: 0;
	const uint64_t *leader = rd_umap_get(&s->unit->gate_leaders, gate);
	LLVMValueRef index = LLVMConstInt(s->unit->i64, leader != NULL ? *leader : gate, false);
	return LLVMConstInBoundsGEP2(LLVMInt8TypeInContext(s->unit->context), base, &index, 1);
}

static void add_byte(struct bytes *b, LLVMValueRef at)
{
	for (size_t i = 0; i < b->count; i++)
		if (b->at[i] == at)
			return;
	RD_GROW(b->at, b->capacity, b->count + 1);
	b->at[b->count++] = at;
}

/* Returns true if a value is used outside the part.  Its copy would not be available there. */
static bool leaves(const struct spending *s, const struct part *p, LLVMValueRef inst)
{
	for (LLVMUseRef use = LLVMGetFirstUse(inst); use != NULL; use = LLVMGetNextUse(use)) {
		LLVMValueRef user = LLVMGetUser(use);
		if (LLVMIsAInstruction(user) &&
		    p->place[ir_cfg_number(&s->cfg, LLVMGetInstructionParent(user))] == FACTS_NONE)
			return true;
	}
	return false;
}

static bool can_copy(const struct spending *s, const struct part *p, LLVMValueRef inst)
{
	return !LLVMIsAAllocaInst(inst) && !LLVMIsAPHINode(inst) && !leaves(s, p, inst);
}

static struct part part_of(const struct spending *s, uint32_t header, const uint32_t *body, uint32_t size)
{
	struct part p = {.body = body, .header = header, .size = size};
	bool fit = !LLVMIsALandingPadInst(LLVMGetFirstInstruction(s->cfg.blocks[header]));
	p.place = rd_xmalloc(s->cfg.graph.nodes * sizeof *p.place);
	memset(p.place, 0xff, s->cfg.graph.nodes * sizeof *p.place);
	for (uint32_t i = 0; i < size; i++)
		p.place[body[i]] = i;
	for (uint32_t b = 0; b < size; b++)
		for (LLVMValueRef i = LLVMGetFirstInstruction(s->cfg.blocks[body[b]]); i != NULL;
		     i = LLVMGetNextInstruction(i)) {
			fit = fit && can_copy(s, &p, i);
			if (byte_of(i) != NULL)
				add_byte(&p.gates, byte_of(i));
			p.instructions++;
		}
	if (!fit || p.instructions > s->room)
		p.instructions = 0;
	return p;
}

static void part_release(struct part *p)
{
	RD_FREE(p->place, p->gates.at);
}

/* ---- the clean copy ---- */

static void stay_inside(const struct spending *s, const struct part *p, LLVMBasicBlockRef *copies,
			LLVMBasicBlockRef block)
{
	LLVMValueRef end = LLVMGetBasicBlockTerminator(block);
	unsigned n = LLVMGetNumSuccessors(end);
	for (unsigned k = 0; k < n; k++) {
		const uint64_t *to = rd_umap_get(&s->cfg.index, (uintptr_t)LLVMGetSuccessor(end, k));
		if (to != NULL && p->place[*to] != FACTS_NONE)
			LLVMSetSuccessor(end, k, copies[p->place[*to]]);
	}
}

/* Makes all gates of a block behave as if they were closed. */
static void shut_gates(LLVMBasicBlockRef block)
{
	for (LLVMValueRef i = LLVMGetFirstInstruction(block), next; i != NULL; i = next) {
		next = LLVMGetNextInstruction(i);
		if (byte_of(i) == NULL)
			continue;
		LLVMReplaceAllUsesWith(i, LLVMConstNull(LLVMTypeOf(i)));
		LLVMInstructionEraseFromParent(i);
	}
}

/* Makes the clean copy.  Returns its header. */
static LLVMBasicBlockRef make_clean(struct spending *s, const struct part *p)
{
	struct instr_unit *u = s->unit;
	struct rd_umap values = {0};
	LLVMBasicBlockRef *copies = rd_xcalloc(p->size, sizeof(LLVMBasicBlockRef));
	for (uint32_t i = 0; i < p->size; i++) {
		copies[i] = LLVMAppendBasicBlockInContext(u->context, s->function, "");
		LLVMPositionBuilderAtEnd(u->builder, copies[i]);
		instr_copy_block(u, s->cfg.blocks[p->body[i]], &values);
	}
	for (uint32_t i = 0; i < p->size; i++) {
		for (LLVMValueRef v = LLVMGetFirstInstruction(copies[i]); v != NULL;
		     v = LLVMGetNextInstruction(v))
			instr_copy_operands(v, &values);
		stay_inside(s, p, copies, copies[i]);
	}
	for (uint32_t i = 0; i < p->size; i++)
		shut_gates(copies[i]);
	LLVMBasicBlockRef header = copies[p->place[p->header]];
	s->room -= p->instructions;
	rd_umap_release(&values);
	free(copies);
	return header;
}

/* ---- the tests ---- */

/* Makes a block that branches to `yes` if any of the bits `bits` is set in any of the bytes, and
 * otherwise to `no`. */
static LLVMBasicBlockRef make_test(struct spending *s, const struct bytes *bytes, unsigned bits,
				   LLVMBasicBlockRef yes, LLVMBasicBlockRef no)
{
	struct instr_unit *u = s->unit;
	LLVMTypeRef byte = LLVMInt8TypeInContext(u->context);
	LLVMBasicBlockRef block = LLVMInsertBasicBlockInContext(u->context, yes, "");
	LLVMValueRef all = LLVMConstNull(byte);
	LLVMPositionBuilderAtEnd(u->builder, block);
	for (size_t i = 0; i < bytes->count; i++) {
		LLVMValueRef one = LLVMBuildLoad2(u->builder, byte, bytes->at[i], "");
		LLVMSetVolatile(one, true);
		all = LLVMBuildOr(u->builder, all, one, "");
	}
	all = LLVMBuildAnd(u->builder, all, LLVMConstInt(byte, bits, false), "");
	LLVMValueRef open = LLVMBuildICmp(u->builder, LLVMIntNE, all, LLVMConstNull(byte), "");
	instr_say_rare(u, LLVMBuildCondBr(u->builder, open, yes, no));
	return block;
}

static struct bytes leaders_of(struct spending *s, const struct bytes *gates)
{
	struct bytes leaders = {0};
	for (size_t i = 0; i < gates->count; i++)
		add_byte(&leaders, leader_of(s, gates->at[i]));
	return leaders;
}

static void spend_loop(struct spending *s, const struct part *p)
{
	const struct facts_graph *g = &s->cfg.graph;
	bool many = p->gates.count > MANY;
	struct bytes leaders = leaders_of(s, &p->gates);
	LLVMBasicBlockRef header = s->cfg.blocks[p->header], clean = make_clean(s, p);
	LLVMBasicBlockRef test = make_test(s, many ? &leaders : &p->gates,
					   many ? UINT8_MAX : RADDLE_TRACK_OPEN, header, clean);
	for (uint32_t e = g->pred_start[p->header]; e < g->pred_start[p->header + 1]; e++)
		ir_redirect(s->cfg.blocks[g->pred[e]], header, test);
	free(leaders.at);
}

static void spend_loops(struct spending *s)
{
	for (size_t i = 0; i < s->loops.count; i++) { /* outer loops first */
		const struct facts_loop *loop = &s->loops.items[i];
		struct part p = part_of(s, loop->header, loop->body, loop->size);
		if (p.instructions != 0 && p.gates.count != 0)
			spend_loop(s, &p);
		part_release(&p);
	}
}

static void spend_whole(struct spending *s)
{
	uint32_t *body = rd_xcalloc(s->cfg.graph.nodes, sizeof *body);
	for (uint32_t b = 0; b < s->cfg.graph.nodes; b++)
		body[b] = b;
	LLVMBasicBlockRef first = s->cfg.blocks[0], entry = instr_split_entry(s->unit, first);
	struct part p = part_of(s, 0, body, s->cfg.graph.nodes);
	struct bytes leaders = leaders_of(s, &p.gates);
	if (p.instructions != 0)
		first = make_test(s, &leaders, UINT8_MAX, first, make_clean(s, &p));
	LLVMPositionBuilderAtEnd(s->unit->builder, entry);
	LLVMBuildBr(s->unit->builder, first);
	part_release(&p);
	RD_FREE(body, leaders.at);
}

static void spend(struct instr_unit *u, LLVMValueRef function)
{
	struct spending s = {.unit = u, .function = function, .room = MAX_SIZE};
	ir_cfg_init(&s.cfg, function);
	facts_graph_dominators(&s.cfg.graph);
	facts_loops_init(&s.loops, &s.cfg.graph);
	spend_whole(&s);
	spend_loops(&s);
	facts_loops_release(&s.loops);
	ir_cfg_release(&s.cfg);
}

/* ---- the unit ---- */

static bool has_gates(LLVMValueRef function)
{
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b != NULL; b = LLVMGetNextBasicBlock(b))
		for (LLVMValueRef i = LLVMGetFirstInstruction(b); i != NULL; i = LLVMGetNextInstruction(i))
			if (byte_of(i) != NULL)
				return true;
	return false;
}

int instr_spend(struct instr_unit *u)
{
	struct rd_umap chosen = {0};
	for (LLVMValueRef f = LLVMGetFirstFunction(u->module); f != NULL; f = LLVMGetNextFunction(f))
		if (!LLVMIsDeclaration(f) && has_gates(f) && instr_can_copy(f))
			rd_umap_put(&chosen, (uintptr_t)f, NULL);
	int code = chosen.count != 0 ? instr_to_memory(u, &chosen) : 0;
	LLVMSetCurrentDebugLocation2(u->builder, NULL);
	for (LLVMValueRef f = LLVMGetFirstFunction(u->module); code == 0 && f != NULL;
	     f = LLVMGetNextFunction(f))
		if (rd_umap_get(&chosen, (uintptr_t)f) != NULL)
			spend(u, f);
	rd_umap_release(&chosen);
	return code == 0 ? instr_unit_verify(u) : code;
}
