// SPDX-License-Identifier: Apache-2.0
/*
 * The flavour `track` is the program with gates at the instructions of a slice (raddle/track.h).
 *
 * The name of a gate consists of the kind of the instruction, its place in the source and its
 * function.  An ordinal distinguishes instructions for which these three are equal.  Raddle
 * derives the same names from facts (sketch/gates.c), which come from the same code.  So a unit is
 * brought to the same level as for facts, and is not optimised before the gates are inserted.
 *
 * An access is placed between two hooks.  The first hook takes a number and locks the address, and
 * the second records the value.  If the gate is closed, the first hook returns 0, and the second
 * does nothing.  Functions with gates have a second copy without them (ungated.c).
 */
#include "facts/role.h"
#include "instr/scan/event.h"
#include "instr/track/ungated.h"
#include "ir/debug.h"
#include "ir/extern.h"
#include "raddle/track.h"

#include "base/alloc.h"
#include "base/error.h"

#include <stdlib.h>
#include <string.h>

/* The gates of a function, collected during the walk over it. */
struct gating {
	struct instr_unit *u;
	LLVMValueRef function;
	uint32_t leader;     /* the number of the function's first gate */
	bool any;	     /* true if the function has a gate */
	struct rd_names met; /* names of the gates found, without their ordinals */
	/* Maps the number of a name in `met` to the number of times the name occurred. */
	struct rd_umap counts;
};

/* Returns the letter of an instruction, as in sketch/gates.c, or 0 if it cannot have a gate. */
static char letter_of(LLVMValueRef inst)
{
	switch (LLVMGetInstructionOpcode(inst)) {
	case LLVMLoad: return 'r';
	case LLVMStore: return 'w';
	case LLVMAtomicRMW: return 'u';
	case LLVMAtomicCmpXchg: return 'x';
	case LLVMBr: return LLVMIsConditional(inst) ? 'b' : 0;
	case LLVMSwitch: return 's';
	case LLVMRet: return 't';
	case LLVMCall:
	case LLVMInvoke: {
		LLVMValueRef callee = ir_callee(inst);
		const char *name = callee != NULL ? ir_name(callee) : "";
		return !ir_starts(name, "llvm.") || ir_starts(name, "llvm.mem") ? 'c' : 0;
	}
	default: return 0;
	}
}

/* Returns the gate of an instruction, or -1 if the instruction has no gate. */
static int64_t gate_of(struct gating *g, LLVMValueRef inst, char letter)
{
	LLVMMetadataRef location = LLVMInstructionGetDebugLoc(inst);
	struct ir_debug *debug = g->u->sites.debug;
	const char *file = location != NULL ? ir_debug_file(debug, LLVMDILocationGetScope(location)) : NULL;
	struct rd_buf name = RD_BUF_INIT;
	uint32_t number;
	if (file == NULL || LLVMDILocationGetLine(location) == 0)
		return -1;
	rd_buf_addf(&name, "%c %u %u %s\t%s", letter, LLVMDILocationGetLine(location),
		    LLVMDILocationGetColumn(location), ir_debug_function_name(debug, g->function), file);
	uint64_t *count = rd_umap_put(&g->counts, rd_names_put(&g->met, name.data, name.length), NULL);
	rd_buf_addf(&name, "\t%u", (unsigned)(*count)++);
	bool found = rd_names_find(g->u->options->gates, name.data, name.length, &number);
	rd_buf_release(&name);
	return found ? (int64_t)number : -1;
}

static LLVMValueRef const32(struct instr_unit *u, uint64_t n)
{
	return LLVMConstInt(u->i32, n, false);
}

static void build_at(struct instr_unit *u, LLVMValueRef inst, LLVMValueRef of)
{
	LLVMPositionBuilderBefore(u->builder, inst);
	LLVMSetCurrentDebugLocation2(u->builder, u->options->debug ? LLVMInstructionGetDebugLoc(of) : NULL);
}

/* Returns the size in bytes of a value that fits into a register, or 0 for other values. */
static unsigned bytes_of(struct instr_unit *u, LLVMTypeRef type)
{
	LLVMTypeKind kind = LLVMGetTypeKind(type);
	if (kind != LLVMIntegerTypeKind && kind != LLVMPointerTypeKind && kind != LLVMFloatTypeKind &&
	    kind != LLVMDoubleTypeKind)
		return 0;
	unsigned long long size = LLVMStoreSizeOfType(u->layout, type);
	return size <= 8 ? (unsigned)size : 0;
}

/* Returns the bits of a value as an integer, or 0 if it does not fit into a register. */
static LLVMValueRef bits_of(struct instr_unit *u, LLVMValueRef v)
{
	LLVMTypeRef type = LLVMTypeOf(v);
	LLVMTypeKind kind = LLVMGetTypeKind(type);
	if (bytes_of(u, type) == 0)
		return LLVMConstInt(u->i64, 0, false);
	if (kind == LLVMPointerTypeKind)
		return LLVMBuildPtrToInt(u->builder, v, u->i64, "");
	if (kind == LLVMFloatTypeKind)
		v = LLVMBuildBitCast(u->builder, v, u->i32, "");
	if (kind == LLVMDoubleTypeKind)
		return LLVMBuildBitCast(u->builder, v, u->i64, "");
	return LLVMBuildIntCast2(u->builder, v, u->i64, false, "");
}

/* What an instruction with a gate does: an access or a call, with a value of `size` bytes. */
struct doing {
	enum raddle_track_what what;
	unsigned size;
	LLVMValueRef address; /* the address; NULL if there is none */
	LLVMValueRef value;   /* the value that is known before the instruction; NULL if there is none */
	LLVMValueRef result;  /* the value that is known after the instruction; NULL if there is none */
	bool returns;	      /* true if code can be inserted after the instruction */
};

static void emit(struct gating *g, LLVMValueRef inst, uint32_t gate, const struct doing *d)
{
	RD_ASSERT(d->size <= 8 && (d->value == NULL || d->result == NULL));
	struct instr_unit *u = g->u;
	LLVMValueRef none = LLVMConstInt(u->i64, 0, false);
	build_at(u, inst, inst);
	LLVMValueRef address = d->address != NULL ? d->address : LLVMConstNull(u->pointer);
	if (LLVMGetTypeKind(LLVMTypeOf(address)) == LLVMIntegerTypeKind)
		address = LLVMBuildIntToPtr(u->builder, address, u->pointer, "");
	LLVMValueRef value = d->value != NULL ? bits_of(u, d->value) : none;
	LLVMValueRef token = instr_hook_call(
		u, HOOK_TRACK_ENTER,
		(LLVMValueRef[]){address, const32(u, gate), const32(u, d->what << 8 | d->size), value});
	if (!d->returns)
		return;
	build_at(u, instr_place_after(inst), inst);
	/* A compare-and-exchange returns a pair: the old value, and a flag that tells whether it
	 * was replaced. */
	if (LLVMGetInstructionOpcode(inst) == LLVMAtomicCmpXchg)
		value = bits_of(u, LLVMBuildExtractValue(u->builder, inst, 0, ""));
	else if (d->result != NULL)
		value = bits_of(u, d->result);
	instr_hook_call(u, HOOK_TRACK_LEAVE, (LLVMValueRef[]){token, value});
}

static void emit_point(struct gating *g, LLVMValueRef inst, uint32_t gate, LLVMValueRef value)
{
	struct instr_unit *u = g->u;
	build_at(u, inst, inst);
	value = value != NULL ? bits_of(u, value) : LLVMConstInt(u->i64, 0, false);
	instr_hook_call(u, HOOK_TRACK_POINT, (LLVMValueRef[]){const32(u, gate), value});
}

static void emit_access(struct gating *g, LLVMValueRef inst, uint32_t gate)
{
	struct instr_unit *u = g->u;
	struct doing d = {.returns = true};
	switch (LLVMGetInstructionOpcode(inst)) {
	case LLVMLoad:
		d.what = RADDLE_TRACK_READ;
		d.address = LLVMGetOperand(inst, 0);
		d.result = inst;
		d.size = bytes_of(u, LLVMTypeOf(inst));
		break;
	case LLVMStore:
		d.what = RADDLE_TRACK_WRITE;
		d.address = LLVMGetOperand(inst, 1);
		d.value = LLVMGetOperand(inst, 0);
		d.size = bytes_of(u, LLVMTypeOf(d.value));
		break;
	default:
		d.what = RADDLE_TRACK_UPDATE;
		d.address = LLVMGetOperand(inst, 0);
		d.size = bytes_of(u, LLVMTypeOf(LLVMGetOperand(inst, 1)));
		if (LLVMGetInstructionOpcode(inst) == LLVMAtomicRMW)
			d.result = inst;
	}
	emit(g, inst, gate, &d);
}

/* ---------------------------------------------------------------------- calls --- */

static enum raddle_track_what what_of(enum facts_role role)
{
	switch (role) {
	case FACTS_ROLE_FREE:
	case FACTS_ROLE_RESIZE: return RADDLE_TRACK_FREE;
	case FACTS_ROLE_COND_WAIT:
	case FACTS_ROLE_BARRIER_WAIT:
	case FACTS_ROLE_SEM_WAIT:
	case FACTS_ROLE_SEM_TRY_WAIT:
	case FACTS_ROLE_THREAD_JOIN:
	case FACTS_ROLE_TRY_JOIN: return RADDLE_TRACK_ACQUIRE;
	default: return facts_role_takes(role) ? RADDLE_TRACK_ACQUIRE : RADDLE_TRACK_CALL;
	}
}

/* Returns true if code can be inserted after a call.  The call must return, and no other path may
 * lead to the place after it. */
static bool has_behind(LLVMValueRef call)
{
	LLVMValueRef callee = ir_callee(call);
	if (callee != NULL && ir_has_attribute(callee, "noreturn"))
		return false;
	if (LLVMGetInstructionOpcode(call) == LLVMCall)
		return LLVMGetTailCallKind(call) != LLVMTailCallKindMustTail;
	LLVMBasicBlockRef to = LLVMGetNormalDest(call);
	unsigned ways = 0;
	for (LLVMUseRef use = LLVMGetFirstUse(LLVMBasicBlockAsValue(to)); use != NULL;
	     use = LLVMGetNextUse(use))
		ways++;
	return ways == 1;
}

/* Returns the first of a call's arguments that is a number or a pointer. */
static LLVMValueRef first_value(struct instr_unit *u, LLVMValueRef call)
{
	for (unsigned i = 0; i < LLVMGetNumArgOperands(call); i++)
		if (bytes_of(u, LLVMTypeOf(LLVMGetOperand(call, i))) != 0)
			return LLVMGetOperand(call, i);
	return NULL;
}

static void emit_call(struct gating *g, LLVMValueRef call, uint32_t gate)
{
	struct instr_unit *u = g->u;
	LLVMValueRef callee = ir_callee(call);
	const char *name = callee != NULL ? ir_name(callee) : "";
	const struct ir_extern *known =
		callee != NULL && ir_is_external(callee) ? ir_extern_find(name) : NULL;
	struct doing d = {.what = RADDLE_TRACK_CALL, .returns = has_behind(call)};
	if (ir_starts(name, "llvm.mem")) { /* a copy, which writes to its first argument */
		d = (struct doing){
			.what = RADDLE_TRACK_WRITE, .address = LLVMGetOperand(call, 0), .returns = true};
		emit(g, call, gate, &d);
		return;
	}
	if (known != NULL)
		d.what = what_of(known->role);
	if (known != NULL && known->subject >= 0 && (unsigned)known->subject < LLVMGetNumArgOperands(call) &&
	    bytes_of(u, LLVMTypeOf(LLVMGetOperand(call, (unsigned)known->subject))) != 0)
		d.address = LLVMGetOperand(call, (unsigned)known->subject);
	unsigned size = bytes_of(u, LLVMTypeOf(call));
	if (size != 0 && d.returns) {
		d.result = call;
		d.size = size;
	} else if ((d.value = first_value(u, call)) != NULL) {
		d.size = bytes_of(u, LLVMTypeOf(d.value));
	}
	emit(g, call, gate, &d);
}

/* -------------------------------------------------------------------- the unit --- */

static void put_gate(struct gating *g, LLVMValueRef inst, char letter, uint32_t gate)
{
	RD_ASSERT(gate < RADDLE_TRACK_GATES);
	switch (letter) {
	case 'b': emit_point(g, inst, gate, LLVMGetCondition(inst)); break;
	case 's': emit_point(g, inst, gate, LLVMGetOperand(inst, 0)); break;
	case 't':
		emit_point(g, inst, gate, LLVMGetNumOperands(inst) != 0 ? LLVMGetOperand(inst, 0) : NULL);
		break;
	case 'c': emit_call(g, inst, gate); break;
	default: emit_access(g, inst, gate);
	}
}

/* Returns true if the instruction follows a call that must directly precede a return.  Nothing may
 * be inserted between the two. */
static bool is_after_tail(LLVMValueRef inst)
{
	LLVMValueRef before = LLVMGetPreviousInstruction(inst);
	return before != NULL && LLVMGetInstructionOpcode(before) == LLVMCall &&
	       LLVMGetTailCallKind(before) == LLVMTailCallKindMustTail;
}

static void track_function(struct instr_unit *u, LLVMValueRef function)
{
	struct gating g = {.u = u, .function = function};
	ir_debug_function(u->sites.debug, function);
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b != NULL; b = LLVMGetNextBasicBlock(b))
		for (LLVMValueRef i = LLVMGetFirstInstruction(b), next; i != NULL; i = next) {
			char letter = letter_of(i);
			int64_t gate = letter != 0 ? gate_of(&g, i, letter) : -1;
			next = LLVMGetNextInstruction(i);
			if (gate < 0 || gate >= RADDLE_TRACK_GATES || is_after_tail(i))
				continue;
			if (!g.any)
				g.leader = (uint32_t)gate;
			g.any = true;
			*rd_umap_put(&u->gate_leaders, (uint64_t)gate, NULL) = g.leader;
			put_gate(&g, i, letter, (uint32_t)gate);
		}
	rd_names_release(&g.met);
	rd_umap_release(&g.counts);
}

int instr_track(struct instr_unit *u)
{
	if (u->options->gates == NULL)
		return rd_fail(RD_EUSAGE, "instr: %s: there is no list of gates", u->name);
	for (LLVMValueRef f = LLVMGetFirstFunction(u->module); f != NULL; f = LLVMGetNextFunction(f)) {
		if (LLVMGetIntrinsicID(f) != 0 || ir_starts(ir_name(f), "__raddle_"))
			continue;
		if (LLVMIsDeclaration(f) || ir_has_attribute(f, "naked"))
			continue;
		instr_drop_promises(f);
		track_function(u, f);
	}
	return 0;
}

int instr_track_generate(struct instr_unit *u)
{
	/* Functions are inlined before loops are examined.  Unrolling and vectorising happen only
	 * once, later. */
	static const char inlining[] = "thinlto-pre-link<O2>",
			  optimise[] = "function(sroa,jump-threading,simplifycfg),default<O2>";
	int code = instr_unit_verify(u);
	if (code == 0)
		code = instr_unit_inline(u);
	if (code == 0 && u->options->fast)
		code = instr_unit_passes(u, inlining);
	if (code == 0 && u->options->fast)
		code = instr_spend(u);
	if (code == 0 && u->options->fast)
		code = instr_unit_passes(u, optimise);
	rd_umap_release(&u->gate_leaders);
	instr_unit_step(u, "optimise");
	return code;
}
