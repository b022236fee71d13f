// SPDX-License-Identifier: Apache-2.0
/*
 * Finds atomics that do not end a segment.  They are relaxed loads, and updates that do not order
 * threads.
 *
 * Relaxed loads.  A relaxed load releases nothing, so it does not order other threads after what
 * its own thread did before it.  Let e1 and e2 be the same access before and after the load, and
 * let f be an access of another thread that races with e2.  f is not ordered before e1, or it
 * would be ordered before e2.  e1 is not ordered before f, because that requires a release after
 * e1, and the next release is also after e2.  e1 happens with the same locks held, and does not
 * depend on the value that is loaded.  So f races with e1, which represents e2.  (A fence that
 * makes the load acquire ends the segment itself.)
 *
 * Counters.  An atomic read-modify-write is a counter if it is relaxed, its result is not used,
 * and the variable has a fixed address to which this unit writes in relaxed order only.  Such an
 * update neither orders its thread nor gives it information, so it need not end a segment:
 * accesses before it represent the same accesses after it.  Examples are statistics and the
 * book-keeping of allocators.
 *
 * If the unit also writes to a variable in release order, as to a reference count, the variable is
 * not a counter.  Its relaxed updates continue a release sequence, so accesses before and after an
 * update are ordered differently.  The answer depends on the unit alone, so that all flavours of a
 * program agree.
 */
#include "base/error.h"
#include "instr/scan/event.h"
#include "ir/value.h"

/* Returns true if a value is not used.  Arithmetic does not count as a use if its own result is
 * not used.  Add-and-fetch leaves such arithmetic behind. */
static bool is_unused(LLVMValueRef value)
{
	for (LLVMUseRef use = LLVMGetFirstUse(value); use != NULL; use = LLVMGetNextUse(use)) {
		LLVMValueRef user = LLVMGetUser(use);
		if (!LLVMIsABinaryOperator(user) || LLVMGetFirstUse(user) != NULL)
			return false;
	}
	return true;
}

static bool is_relaxed(LLVMAtomicOrdering order)
{
	return order == LLVMAtomicOrderingNotAtomic || order == LLVMAtomicOrderingUnordered ||
	       order == LLVMAtomicOrderingMonotonic;
}

/* Returns true if a use of the variable's address is harmless, that is, the instruction neither
 * releases through the address nor passes it on. */
static bool is_harmless_use(LLVMValueRef user, LLVMValueRef pointer)
{
	if (LLVMIsALoadInst(user))
		return true;
	if (LLVMIsAStoreInst(user))
		return LLVMGetOperand(user, 0) != pointer && is_relaxed(LLVMGetOrdering(user));
	if (LLVMIsAAtomicRMWInst(user))
		return LLVMGetOperand(user, 1) != pointer && is_relaxed(LLVMGetOrdering(user));
	if (LLVMIsAAtomicCmpXchgInst(user))
		return LLVMGetOperand(user, 0) == pointer && is_relaxed(LLVMGetCmpXchgSuccessOrdering(user));
	if (ir_is_call(user)) /* a hook of a function that is instrumented already */
		return ir_callee(user) && ir_starts(ir_name(ir_callee(user)), "__raddle_");
	/* The result is the address of another member or element, which counts as a different
	 * variable. */
	return LLVMIsAGetElementPtrInst(user) || LLVMIsAConstantExpr(user);
}

bool instr_is_counter(LLVMValueRef update)
{
	RD_ASSERT(update != NULL);
	LLVMValueRef pointer = LLVMGetOperand(update, 0);

	if (!LLVMIsAAtomicRMWInst(update) || !is_relaxed(LLVMGetOrdering(update)) || !is_unused(update) ||
	    !LLVMIsAConstant(pointer) || !LLVMIsAGlobalVariable(ir_base(pointer)) ||
	    LLVMIsThreadLocal(ir_base(pointer)))
		return false;
	for (LLVMUseRef use = LLVMGetFirstUse(pointer); use != NULL; use = LLVMGetNextUse(use))
		if (!is_harmless_use(LLVMGetUser(use), pointer))
			return false;
	return true;
}

bool instr_only_looks(LLVMValueRef load)
{
	return LLVMIsALoadInst(load) && is_relaxed(LLVMGetOrdering(load));
}
