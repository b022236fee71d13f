/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes the edits of a unit: changes to the program that the user requested.  The module must be
 * as clang made it.  If synchronisation is to be left out, its calls are replaced by calls of the
 * runtime (rt/core/control/edit.c).  If a predicate must be true at a line, calls that evaluate it
 * are inserted before the line.
 *
 * A predicate is evaluated when control reaches its line.  This is the case at each instruction of
 * the line that follows an instruction of another line, in the same block or in a preceding block.
 */
#include "instr/edit/edit.h"

#include "base/error.h"
#include "base/name.h"
#include "ir/debug.h"
#include "ir/extern.h"
#include "ir/value.h"

#include <string.h>

static const char own_name[] = "raddle.own";

static unsigned own_kind(LLVMValueRef inst)
{
	LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(inst));
	return LLVMGetMDKindIDInContext(context, own_name, strlen(own_name));
}

void instr_edit_own(LLVMValueRef inst)
{
	LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(inst));
	LLVMSetMetadata(inst, own_kind(inst),
			LLVMMetadataAsValue(context, LLVMMDNodeInContext2(context, NULL, 0)));
}

bool instr_edit_is_own(LLVMValueRef inst)
{
	return LLVMGetMetadata(inst, own_kind(inst)) != NULL;
}

struct edit {
	struct instr_unit *u;
	struct ir_debug *debug;
	const struct rd_edit *what;
	uint32_t number;
	int code;
};

/* --- places -------------------------------------------------------------------- */

static bool is_debug_call(LLVMValueRef inst)
{
	LLVMValueRef callee = LLVMGetInstructionOpcode(inst) == LLVMCall ? ir_callee(inst) : NULL;
	return callee != NULL && ir_starts(ir_name(callee), "llvm.dbg.");
}

static bool is_there(const struct edit *e, LLVMValueRef inst)
{
	LLVMMetadataRef location = LLVMInstructionGetDebugLoc(inst);
	if (location == NULL || LLVMDILocationGetLine(location) != e->what->line)
		return false;
	const char *file = ir_debug_file(e->debug, LLVMDILocationGetScope(location));
	return file != NULL && rd_is_path_end(file, e->what->file);
}

/* Returns true if control reaches the block from another line, or the block has no predecessor. */
static bool is_entered(const struct edit *e, LLVMBasicBlockRef block)
{
	bool any = false;
	for (LLVMUseRef use = LLVMGetFirstUse(LLVMBasicBlockAsValue(block)); use != NULL;
	     use = LLVMGetNextUse(use)) {
		LLVMValueRef user = LLVMGetUser(use);
		if (!LLVMIsATerminatorInst(user))
			continue;
		any = true;
		if (!is_there(e, user))
			return true;
	}
	return !any;
}

/* --- synchronisation -------------------------------------------------------------- */

/* Returns true if the runtime interposes the function.  Calls of other functions cannot be left
 * out: if the acquisition of a lock is left out, the runtime must also ignore the release of the
 * lock. */
static bool is_interposed(const char *name)
{
	static const char *const names[] = {
#define LIBC_INTERPOSED(group, name) #name,
#include "raddle/libc.inc"
	};
	return rd_is_one_of(name, names, sizeof names / sizeof *names);
}

static bool can_be_left_out(enum facts_role role)
{
	return facts_role_synchronises(role) || role == FACTS_ROLE_THREAD_JOIN || role == FACTS_ROLE_TRY_JOIN;
}

static const struct ir_extern *sync_of(LLVMValueRef inst)
{
	LLVMOpcode opcode = LLVMGetInstructionOpcode(inst);
	LLVMValueRef callee = opcode == LLVMCall ? ir_callee(inst) : NULL;
	const struct ir_extern *row = callee != NULL ? ir_extern_find(ir_name(callee)) : NULL;
	return row != NULL && can_be_left_out(row->role) && is_interposed(row->name) ? row : NULL;
}

static void leave_out(struct edit *e, LLVMValueRef call, const struct ir_extern *sync)
{
	struct instr_unit *u = e->u;
	LLVMTypeRef type = LLVMFunctionType(u->i32, (LLVMTypeRef[]){u->i32, u->pointer}, 2, false);
	LLVMValueRef f = LLVMGetNamedFunction(u->module, "__raddle_leave_out");
	/* If the lock is not taken, the same thread must not release it either. */
	LLVMValueRef lock = facts_role_takes(sync->role) ? LLVMGetArgOperand(call, (unsigned)sync->subject)
							 : LLVMConstNull(u->pointer);
	LLVMValueRef arguments[] = {LLVMConstInt(u->i32, e->number, false), lock};
	if (f == NULL)
		f = LLVMAddFunction(u->module, "__raddle_leave_out", type);
	LLVMPositionBuilderBefore(u->builder, call);
	LLVMSetCurrentDebugLocation2(u->builder, LLVMInstructionGetDebugLoc(call));
	LLVMValueRef made = LLVMBuildCall2(u->builder, type, f, arguments, 2, "");
	if (LLVMGetTypeKind(LLVMTypeOf(call)) == LLVMIntegerTypeKind)
		LLVMReplaceAllUsesWith(call, LLVMBuildIntCast2(u->builder, made, LLVMTypeOf(call), true, ""));
	LLVMInstructionEraseFromParent(call);
}

/* --- the unit ----------------------------------------------------------------------- */

static void require(struct edit *e, LLVMValueRef inst)
{
	const char *why = instr_require(e->u, e->debug, inst, e->what, e->number);
	if (why != NULL && e->code == 0)
		e->code = rd_fail(RD_EUSAGE, "--require '%s' @ %s:%u: %s", e->what->expression, e->what->file,
				  e->what->line, why);
}

/* Applies the edit to the instructions of a block that are at its place.  A predicate is inserted
 * only where control enters the line. */
static void edit_block(struct edit *e, LLVMBasicBlockRef block)
{
	bool before = !is_entered(e, block);
	for (LLVMValueRef i = LLVMGetFirstInstruction(block), next; i != NULL && e->code == 0; i = next) {
		next = LLVMGetNextInstruction(i);
		if (is_debug_call(i) || LLVMGetInstructionOpcode(i) == LLVMPHI)
			continue;
		bool there = is_there(e, i);
		const struct ir_extern *sync = there ? sync_of(i) : NULL;
		if (there && e->what->kind == RD_EDIT_REQUIRE && !before)
			require(e, i);
		if (sync != NULL && e->what->kind == RD_EDIT_WITHOUT_SYNC)
			leave_out(e, i, sync);
		before = there;
	}
}

int instr_edit(struct instr_unit *u)
{
	const struct rd_edits *edits = u->options->edits;
	struct edit e = {.u = u};
	LLVMSetIsNewDbgInfoFormat(u->module, false);
	e.debug = ir_debug_new(u->module);
	for (size_t n = 0; n < edits->count && e.code == 0; n++) {
		e.what = &edits->items[n];
		e.number = (uint32_t)n;
		for (LLVMValueRef f = LLVMGetFirstFunction(u->module); f != NULL; f = LLVMGetNextFunction(f))
			for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f);
			     b != NULL && !ir_starts(ir_name(f), "__raddle_"); b = LLVMGetNextBasicBlock(b))
				edit_block(&e, b);
	}
	ir_debug_free(e.debug);
	LLVMSetCurrentDebugLocation2(u->builder, NULL);
	return e.code;
}
