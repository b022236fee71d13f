/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Walks over the instructions of a function, block by block.  For each instruction that a trace
 * records, it adds an op to a piece.
 *
 * Blocks that simply follow one another form a chain.  A chain has as few pieces as its calls
 * allow.  A chain is *bare*, and has no piece, if it stores nothing at run time and only plain
 * branches lead to it.  The piece before a bare chain lists the chain's ops, and so shows that
 * they were executed.  The next piece shows which way the branch at the chain's end went.
 */
#include "base/error.h"
#include "instr/full/full.h"

#include "base/alloc.h"
#include "instr/edit/edit.h"
#include "raddle/abi.h"

#include <stdlib.h>
#include <string.h>

static LLVMValueRef first_real(LLVMBasicBlockRef block)
{
	LLVMValueRef i = LLVMGetFirstInstruction(block);
	while (LLVMIsAPHINode(i))
		i = LLVMGetNextInstruction(i);
	return i;
}

static bool is_plain_branch(LLVMValueRef terminator)
{
	return LLVMGetInstructionOpcode(terminator) == LLVMBr && !LLVMIsConditional(terminator);
}

static LLVMValueRef terminator(const struct full_function *x, uint32_t block)
{
	RD_ASSERT(block < x->f->cfg.graph.nodes);
	return LLVMGetBasicBlockTerminator(x->f->cfg.blocks[block]);
}

/* A block continues the chain of its predecessor if it has only that predecessor, and the
 * predecessor has only this successor. */
static void find_chains(struct full_function *x)
{
	const struct facts_graph *g = &x->f->cfg.graph;
	for (uint32_t b = 0; b < g->nodes; b++)
		x->blocks[b].into = x->blocks[b].tail = x->blocks[b].next = FACTS_NONE;
	for (uint32_t b = 1; b < g->nodes; b++) {
		if (g->pred_start[b + 1] - g->pred_start[b] != 1)
			continue;
		uint32_t from = g->pred[g->pred_start[b]];
		if (from == b || !is_plain_branch(terminator(x, from)))
			continue;
		x->blocks[b].into = from;
		x->blocks[from].tail = b;
	}
}

static bool is_bare_instruction(LLVMValueRef inst)
{
	switch (LLVMGetInstructionOpcode(inst)) {
	case LLVMLoad:
	case LLVMStore:
	case LLVMAlloca:
	case LLVMRet:
	case LLVMInvoke:
	case LLVMCallBr:
	case LLVMLandingPad:
	case LLVMAtomicRMW:
	case LLVMAtomicCmpXchg:
	case LLVMFence: return false;
	case LLVMCall: return full_intrinsic_is_bare(inst);
	default: return true;
	}
}

static bool is_bare_chain(const struct full_function *x, uint32_t head)
{
	const struct facts_graph *g = &x->f->cfg.graph;
	if (head == 0 || g->pred_start[head] == g->pred_start[head + 1])
		return false;
	for (uint32_t p = g->pred_start[head]; p < g->pred_start[head + 1]; p++)
		if (!is_plain_branch(terminator(x, g->pred[p])))
			return false;
	for (uint32_t b = head; b != FACTS_NONE; b = x->blocks[b].tail)
		for (LLVMValueRef i = LLVMGetFirstInstruction(x->f->cfg.blocks[b]); i != NULL;
		     i = LLVMGetNextInstruction(i))
			if (!is_bare_instruction(i))
				return false;
	return true;
}

/* --- instructions ------------------------------------------------------------ */

static uint32_t simple_site(struct full_function *x, const char *kind, LLVMValueRef inst, const char *what)
{
	return full_site(x, &(struct instr_site){.kind = kind,
						 .flags = "",
						 .inst = inst,
						 .of_function = *kind == 'e',
						 .callee = what});
}

static uint32_t alloca_site(struct full_function *x, LLVMValueRef inst, LLVMValueRef object, uint64_t size)
{
	return full_site(x, &(struct instr_site){.kind = "a",
						 .size = size,
						 .extent = size,
						 .flags = "",
						 .inst = inst,
						 .of_function = true,
						 .pointer = object});
}

/* Returns the size of an alloca in bytes, or 0 if it is not constant. */
static uint64_t static_size(struct full_function *x, LLVMValueRef alloca)
{
	LLVMValueRef n = LLVMGetOperand(alloca, 0);
	if (!LLVMIsAConstantInt(n))
		return 0;
	return LLVMABISizeOfType(x->u->layout, LLVMGetAllocatedType(alloca)) * LLVMConstIntGetZExtValue(n);
}

/* The size, in bytes, of the largest variable that is cleared.  Variables are cleared because their
 * initial content differs from run to run.  Otherwise, copying a structure would also copy such
 * content, in the structure's padding. */
#define CLEAR_MAX 4096

static void clear(struct full_function *x, LLVMValueRef alloca, uint64_t size)
{
	LLVMValueRef zero = LLVMConstInt(LLVMInt8TypeInContext(x->u->context), 0, false);
	if (size <= CLEAR_MAX)
		LLVMBuildMemSet(x->u->builder, alloca, zero, LLVMConstInt(x->u->i64, size, false),
				LLVMGetAlignment(alloca));
}

static void walk_alloca(struct full_function *x, LLVMValueRef inst, LLVMValueRef next)
{
	LLVMBuilderRef b = x->u->builder;
	uint64_t size = static_size(x, inst);
	full_build_at(x, next);
	if (LLVMIsAConstantInt(LLVMGetOperand(inst, 0))) {
		if (size == 0)
			return;
		full_op(x, 'a', alloca_site(x, inst, inst, size));
		full_put_address(x, inst);
		clear(x, inst, size);
		return;
	}
	full_op(x, 'a', alloca_site(x, inst, inst, 0));
	full_put_address(x, inst);
	LLVMValueRef n = LLVMBuildIntCast2(b, LLVMGetOperand(inst, 0), x->u->i64, false, "");
	uint64_t one = LLVMABISizeOfType(x->u->layout, LLVMGetAllocatedType(inst));
	full_put_word(x, "i8", LLVMBuildMul(b, n, LLVMConstInt(x->u->i64, one, false), ""));
}

/* In the flavour `led`, inserts a hook at which the thread may stop before the access. */
static void walk_stop(struct full_function *x, const struct instr_event *event, LLVMValueRef site, bool write)
{
	uint64_t what = RADDLE_ATOMIC_WHAT(LLVMConstIntGetZExtValue(site), event->size & 0xffff, write) |
			(full_is_idle(event->inst) ? RADDLE_STOP_IDLE : 0);
	if (x->u->stops)
		instr_hook_call(
			x->u, HOOK_STOP,
			(LLVMValueRef[]){full_self(x), event->pointer, LLVMConstInt(x->u->i64, what, false)});
	full_bounds(x, &(struct full_access){.pointer = event->pointer,
					     .size = LLVMConstInt(x->u->i64, event->size, false),
					     .site = site});
}

/* Records an access of a value that is too large for a piece. */
static void walk_large(struct full_function *x, const struct instr_event *event, LLVMValueRef next)
{
	bool write = LLVMIsAStoreInst(event->inst) != NULL;
	struct instr_event range = *event;
	range.kind = write ? EVENT_RANGE_WRITE : EVENT_RANGE_READ;
	LLVMValueRef site = instr_event_site(x->u, &range);
	full_piece_close(x);
	walk_stop(x, event, site, write);
	full_build_at(x, next);
	instr_hook_call(x->u, write ? HOOK_WRITE_RANGE : HOOK_READ_RANGE,
			(LLVMValueRef[]){full_self(x), event->pointer, site,
					 LLVMConstInt(x->u->i64, event->size, false)});
}

static void walk_access(struct full_function *x, const struct instr_event *event, LLVMValueRef next)
{
	LLVMValueRef inst = event->inst;
	bool write = LLVMIsAStoreInst(inst) != NULL;
	LLVMValueRef value = write ? LLVMGetOperand(inst, 0) : inst;
	struct instr_event plain = *event;
	if (instr_is_atomic(event)) {
		full_atomic(x, event, next);
		return;
	}
	if (!full_is_recorded(x, LLVMTypeOf(value))) {
		walk_large(x, event, next);
		return;
	}
	plain.kind = write ? EVENT_WRITE : EVENT_READ;
	LLVMValueRef number = instr_event_site(x->u, &plain);
	uint32_t site = (uint32_t)LLVMConstIntGetZExtValue(number);
	site -= (uint32_t)LLVMConstIntGetZExtValue(full_site_number(x, 0));
	full_op(x, write ? 's' : 'l', site);
	full_put_address(x, event->pointer);
	walk_stop(x, event, number, write);
	if (!write) {
		full_build_at(x, next);
		value = full_inject(x, inst, site);
		*rd_umap_put(&x->loads, (uintptr_t)inst, NULL) = site;
		full_put_origin(x, value);
		return;
	}
	uint32_t from = full_moved_from(x, value);
	if (full_put_value(x, value) && from != 0)
		full_mark(x, '<', from);
}

static void walk_value(struct full_function *x, LLVMValueRef inst, LLVMValueRef next, const char *name)
{
	if (!full_is_injectable(inst))
		return;
	uint32_t site =
		full_site(x, &(struct instr_site){.kind = "i",
						  .size = LLVMStoreSizeOfType(x->u->layout, LLVMTypeOf(inst)),
						  .flags = "",
						  .inst = inst,
						  .callee = name,
						  .type = LLVMTypeOf(inst)});
	full_op(x, 'i', site);
	if (full_numbers_variable(x, inst))
		full_mark(x, '*', 0);
	full_build_at(x, next);
	full_inject(x, inst, site);
}

static void walk_call(struct full_function *x, LLVMValueRef inst, LLVMValueRef next)
{
	LLVMValueRef callee = ir_callee(inst);
	if (callee != NULL && LLVMGetIntrinsicID(callee) != 0) {
		full_intrinsic(x, inst, next);
		return;
	}
	full_call_before(x, inst);
	full_build_at(x, next);
	full_call_after(x, inst);
}

static void walk_return(struct full_function *x, LLVMValueRef inst)
{
	full_op(x, 'x', simple_site(x, "x", inst, NULL));
	if (LLVMGetNumOperands(inst) != 0)
		full_put_value(x, LLVMGetOperand(inst, 0));
	full_piece_close(x);
}

static const char *value_name(LLVMOpcode opcode)
{
	static const char *const names[] = {
		[LLVMFNeg] = "fneg",
		[LLVMAdd] = "add",
		[LLVMFAdd] = "fadd",
		[LLVMSub] = "sub",
		[LLVMFSub] = "fsub",
		[LLVMMul] = "mul",
		[LLVMFMul] = "fmul",
		[LLVMUDiv] = "udiv",
		[LLVMSDiv] = "sdiv",
		[LLVMFDiv] = "fdiv",
		[LLVMURem] = "urem",
		[LLVMSRem] = "srem",
		[LLVMFRem] = "frem",
		[LLVMShl] = "shl",
		[LLVMLShr] = "lshr",
		[LLVMAShr] = "ashr",
		[LLVMAnd] = "and",
		[LLVMOr] = "or",
		[LLVMXor] = "xor",
		[LLVMGetElementPtr] = "getelementptr",
		[LLVMTrunc] = "trunc",
		[LLVMZExt] = "zext",
		[LLVMSExt] = "sext",
		[LLVMFPToUI] = "fptoui",
		[LLVMFPToSI] = "fptosi",
		[LLVMUIToFP] = "uitofp",
		[LLVMSIToFP] = "sitofp",
		[LLVMFPTrunc] = "fptrunc",
		[LLVMFPExt] = "fpext",
		[LLVMPtrToInt] = "ptrtoint",
		[LLVMIntToPtr] = "inttoptr",
		[LLVMBitCast] = "bitcast",
		[LLVMICmp] = "icmp",
		[LLVMFCmp] = "fcmp",
		[LLVMSelect] = "select",
		[LLVMExtractElement] = "extractelement",
		[LLVMExtractValue] = "extractvalue",
		[LLVMFreeze] = "freeze",
	};
	return opcode < sizeof names / sizeof *names ? names[opcode] : NULL;
}

/* Returns the name of an instruction whose operands a fault may change, or NULL for other
 * instructions. */
static const char *operand_name(LLVMOpcode opcode)
{
	return opcode == LLVMLoad ? "load" : opcode == LLVMStore ? "store" : value_name(opcode);
}

/* Records the last instruction of a chain. */
static void walk_end(struct full_function *x, LLVMValueRef inst)
{
	switch (LLVMGetInstructionOpcode(inst)) {
	case LLVMSwitch:
	case LLVMIndirectBr: full_op(x, 'b', simple_site(x, "b", inst, "switch")); break;
	case LLVMBr:
		if (LLVMIsConditional(inst))
			full_op(x, 'b', simple_site(x, "b", inst, "br"));
		break;
	case LLVMInvoke:
	case LLVMCallBr: full_call_before(x, inst); break;
	case LLVMRet: walk_return(x, inst); break;
	default: break;
	}
	full_piece_close(x);
}

static void walk_instruction(struct full_function *x, LLVMValueRef inst, LLVMValueRef next)
{
	LLVMOpcode opcode = LLVMGetInstructionOpcode(inst);
	const struct instr_event *event;
	full_build_at(x, inst);
	if (x->u->options->flavour->number == RADDLE_FLAVOUR_FULL && operand_name(opcode) != NULL)
		full_inject_operands(x, inst, operand_name(opcode));
	switch (opcode) {
	case LLVMPHI:
	case LLVMLandingPad: break;
	case LLVMAlloca: walk_alloca(x, inst, next); break;
	case LLVMLoad:
	case LLVMStore:
	case LLVMAtomicRMW:
	case LLVMAtomicCmpXchg:
	case LLVMFence:
		event = full_event(x, inst);
		if (event != NULL && opcode == LLVMFence)
			full_atomic(x, event, next);
		else if (event != NULL)
			walk_access(x, event, next);
		break;
	case LLVMCall: walk_call(x, inst, next); break;
	default:
		if (value_name(opcode) != NULL)
			walk_value(x, inst, next, value_name(opcode));
	}
}

/* --- chains -------------------------------------------------------------------- */

/* If a plain branch leads to bare blocks, adds these blocks to the list of the piece before
 * them. */
static void lead_on(struct full_function *x, uint32_t head, LLVMValueRef branch)
{
	uint32_t to = ir_cfg_number(&x->f->cfg, LLVMGetSuccessor(branch, 0));
	if (!x->blocks[to].bare)
		return;
	if (x->bare != NULL) {
		x->blocks[head].next = to;
		return;
	}
	full_piece_need(x);
	x->pieces[x->piece_count - 1].next = to;
}

/* Returns the invoke instruction that continues in this block when its callee returns.  Returns
 * NULL if there is none, or if the block can also be reached in another way. */
static LLVMValueRef returning_invoke(const struct full_function *x, uint32_t block)
{
	RD_ASSERT(block < x->f->cfg.graph.nodes);
	const struct facts_graph *g = &x->f->cfg.graph;
	if (g->pred_start[block + 1] - g->pred_start[block] != 1)
		return NULL;
	LLVMValueRef last = terminator(x, g->pred[g->pred_start[block]]);
	if (LLVMGetInstructionOpcode(last) != LLVMInvoke ||
	    LLVMGetNormalDest(last) != x->f->cfg.blocks[block])
		return NULL;
	return last;
}

static void begin_chain(struct full_function *x, uint32_t head)
{
	LLVMValueRef first = first_real(x->f->cfg.blocks[head]), invoke = returning_invoke(x, head);
	full_build_at(x, first);
	if (LLVMIsALandingPadInst(first)) {
		full_build_at(x, LLVMGetNextInstruction(first));
		full_op(x, 'g', simple_site(x, "g", first, NULL));
		full_put_word(x, "F8", x->frame);
	} else if (invoke != NULL) {
		full_call_after(x, invoke);
	}
	full_piece_need(x);
}

static bool is_leading_alloca(const struct full_function *x, LLVMValueRef inst)
{
	LLVMValueRef i = LLVMGetFirstInstruction(x->f->cfg.blocks[0]);
	while (LLVMIsAAllocaInst(i)) {
		if (i == inst)
			return true;
		i = LLVMGetNextInstruction(i);
	}
	return false;
}

/* The instructions of the function, listed before any are inserted. */
struct list {
	LLVMValueRef *items;
	size_t count, capacity;
};

static void list_chain(const struct full_function *x, uint32_t head, struct list *list)
{
	list->count = 0;
	for (uint32_t b = head; b != FACTS_NONE; b = x->blocks[b].tail)
		for (LLVMValueRef i = LLVMGetFirstInstruction(x->f->cfg.blocks[b]); i != NULL;
		     i = LLVMGetNextInstruction(i)) {
			if ((head == 0 && b == 0 && is_leading_alloca(x, i)) || instr_edit_is_own(i))
				continue;
			RD_GROW(list->items, list->capacity, list->count + 1);
			list->items[list->count++] = i;
		}
}

static void walk_chain(struct full_function *x, uint32_t head, const struct list *list)
{
	size_t last = list->count - 1;
	for (size_t i = 0; i < last; i++) {
		if (LLVMGetInstructionOpcode(list->items[i]) == LLVMBr)
			continue;
		if (full_call_is_tail(list->items[i])) {
			full_build_at(x, list->items[i]);
			full_call_before(x, list->items[i]);
			return;
		}
		walk_instruction(x, list->items[i], list->items[i + 1]);
	}
	full_build_at(x, list->items[last]);
	if (is_plain_branch(list->items[last]))
		lead_on(x, head, list->items[last]);
	walk_end(x, list->items[last]);
}

/* --- the function ---------------------------------------------------------------- */

static bool can_be_unwound_to(const struct full_function *x)
{
	for (uint32_t b = 0; b < x->f->cfg.graph.nodes; b++)
		for (LLVMValueRef i = LLVMGetFirstInstruction(x->f->cfg.blocks[b]); i != NULL;
		     i = LLVMGetNextInstruction(i))
			if (LLVMIsALandingPadInst(i) || full_call_is_twice(i))
				return true;
	return false;
}

static LLVMValueRef frame_address(struct full_function *x)
{
	unsigned id = LLVMLookupIntrinsicID("llvm.frameaddress", strlen("llvm.frameaddress"));
	LLVMValueRef f = LLVMGetIntrinsicDeclaration(x->u->module, id, &x->u->pointer, 1);
	LLVMTypeRef type = LLVMIntrinsicGetType(x->u->context, id, &x->u->pointer, 1);
	LLVMValueRef zero = LLVMConstInt(x->u->i32, 0, false);
	LLVMValueRef p = LLVMBuildCall2(x->u->builder, type, f, &zero, 1, "");
	return LLVMBuildPtrToInt(x->u->builder, p, x->u->i64, "");
}

/* Returns the size in bytes of an argument that the caller put on the stack (byval). */
static uint64_t byval_size(struct full_function *x, unsigned parameter)
{
	unsigned kind = LLVMGetEnumAttributeKindForName("byval", 5);
	LLVMAttributeRef a = LLVMGetEnumAttributeAtIndex(x->f->function, parameter + 1, kind);
	return a != NULL ? LLVMABISizeOfType(x->u->layout, LLVMGetTypeAttributeValue(a)) : 0;
}

static void walk_entry(struct full_function *x)
{
	LLVMValueRef function = x->f->function, at = LLVMGetFirstInstruction(x->f->cfg.blocks[0]);
	LLVMValueRef first = at;
	unsigned n = LLVMCountParams(function);
	while (LLVMIsAAllocaInst(at))
		at = LLVMGetNextInstruction(at);
	full_build_at(x, at);
	if (can_be_unwound_to(x))
		x->frame = frame_address(x);
	full_op(x, 'e', simple_site(x, "e", at, ir_name(function)));
	x->entry = x->pieces[0].number;
	if (x->frame != NULL)
		full_put_word(x, "F8", x->frame);
	for (unsigned i = 0; i < n; i++)
		full_put_origin(x, LLVMGetParam(function, i));
	for (unsigned i = 0; i < n; i++)
		if (byval_size(x, i) != 0) {
			full_op(x, 'a', alloca_site(x, at, LLVMGetParam(function, i), byval_size(x, i)));
			full_put_address(x, LLVMGetParam(function, i));
		}
	for (LLVMValueRef i = first; LLVMIsAAllocaInst(i); i = LLVMGetNextInstruction(i))
		walk_alloca(x, i, at);
}

void instr_full_walk(struct full_function *x)
{
	struct list list = {0};
	uint32_t nodes = x->f->cfg.graph.nodes;
	for (size_t i = x->f->count; i-- > 0;)
		*rd_umap_put(&x->events, (uintptr_t)x->f->events[i].inst, NULL) = i;
	find_chains(x);
	for (uint32_t b = 0; b < nodes; b++)
		x->blocks[b].bare = x->blocks[b].into == FACTS_NONE && is_bare_chain(x, b);
	for (uint32_t b = 0; b < nodes; b++) {
		if (x->blocks[b].into != FACTS_NONE)
			continue;
		list_chain(x, b, &list);
		x->bare = x->blocks[b].bare ? &x->blocks[b].ops : NULL;
		x->self = NULL;
		if (b == 0)
			walk_entry(x);
		else if (x->bare == NULL)
			begin_chain(x, b);
		walk_chain(x, b, &list);
		x->bare = NULL;
	}
	free(list.items);
	RD_UMAP_RELEASE(&x->events, &x->loads);
}
