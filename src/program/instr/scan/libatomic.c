/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recognises calls that are atomic operations.  If the compiler cannot inline an atomic operation,
 * it calls a function of libatomic, such as `__atomic_fetch_add_16(p, v, order)` or
 * `__atomic_load(size, p, result, order)`.  Other calls are those of the older `__sync_`
 * functions.
 */
#include "instr/scan/event.h"

#include <string.h>

static LLVMAtomicOrdering order_of(LLVMValueRef v)
{
	static const LLVMAtomicOrdering orders[] = {
		LLVMAtomicOrderingMonotonic,	  LLVMAtomicOrderingAcquire,
		LLVMAtomicOrderingAcquire,	  LLVMAtomicOrderingRelease,
		LLVMAtomicOrderingAcquireRelease, LLVMAtomicOrderingSequentiallyConsistent};
	if (!LLVMIsAConstantInt(v) || LLVMConstIntGetZExtValue(v) >= sizeof orders / sizeof *orders)
		return LLVMAtomicOrderingSequentiallyConsistent;
	return orders[LLVMConstIntGetZExtValue(v)];
}

static enum instr_kind kind_of(const char *operation)
{
	if (ir_starts(operation, "load"))
		return EVENT_ATOMIC_LOAD;
	if (ir_starts(operation, "store"))
		return EVENT_ATOMIC_STORE;
	if (ir_starts(operation, "compare_exchange") || ir_starts(operation, "bool_compare") ||
	    ir_starts(operation, "val_compare"))
		return EVENT_ATOMIC_CAS;
	return EVENT_ATOMIC_RMW;
}

/* Returns the size that the name states after its last underscore, or 0 if it states no size. */
static uint64_t size_suffix(const char *name)
{
	static const struct {
		const char *text;
		uint64_t size;
	} sizes[] = {{"_1", 1}, {"_2", 2}, {"_4", 4}, {"_8", 8}, {"_16", 16}};
	const char *last = strrchr(name, '_');
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
		if (strcmp(last, sizes[i].text) == 0)
			return sizes[i].size;
	return 0;
}

bool instr_libatomic(struct instr_function *f, LLVMValueRef call, const char *name, struct instr_event *event)
{
	bool old = ir_starts(name, "__sync_");
	unsigned n = LLVMGetNumArgOperands(call);
	(void)f;
	if ((!old && !ir_starts(name, "__atomic_")) || n < 1)
		return false;
	const char *operation = name + strlen(old ? "__sync_" : "__atomic_");
	if (ir_starts(operation, "is_lock_free") || ir_starts(operation, "thread_fence") ||
	    ir_starts(operation, "feraise"))
		return false;
	event->kind = kind_of(operation);
	event->size = size_suffix(name);
	unsigned pointer = event->size == 0;
	if (pointer >= n)
		return false;
	event->operand = pointer;
	event->pointer = LLVMGetArgOperand(call, pointer);
	if (event->size == 0 && LLVMIsAConstantInt(LLVMGetArgOperand(call, 0)))
		event->size = LLVMConstIntGetZExtValue(LLVMGetArgOperand(call, 0));
	event->order =
		old ? LLVMAtomicOrderingSequentiallyConsistent
		    : order_of(LLVMGetArgOperand(call, event->kind == EVENT_ATOMIC_CAS ? n - 2 : n - 1));
	return LLVMGetTypeKind(LLVMTypeOf(event->pointer)) == LLVMPointerTypeKind;
}
