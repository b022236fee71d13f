/* SPDX-License-Identifier: Apache-2.0 */
/* Functions about events that every flavour uses. */
#include "instr/scan/event.h"
#include "base/error.h"

#include "raddle/abi.h"
#include "raddle/event.h"

static LLVMValueRef const32(struct instr_unit *u, uint64_t n)
{
	return LLVMConstInt(u->i32, n, false);
}

LLVMValueRef instr_place_after(LLVMValueRef inst)
{
	if (LLVMGetInstructionOpcode(inst) != LLVMInvoke)
		return LLVMGetNextInstruction(inst);
	LLVMValueRef first = LLVMGetFirstInstruction(LLVMGetNormalDest(inst));
	while (LLVMIsAPHINode(first))
		first = LLVMGetNextInstruction(first);
	return first;
}

/* Returns the letter of a memory order in the site table (doc/format/sites.md). */
static char order_letter(LLVMAtomicOrdering order)
{
	switch (order) {
	case LLVMAtomicOrderingAcquire: return 'a';
	case LLVMAtomicOrderingRelease: return 'r';
	case LLVMAtomicOrderingAcquireRelease: return 'q';
	case LLVMAtomicOrderingSequentiallyConsistent: return 'S';
	default: return 'x';
	}
}

unsigned instr_order_number(LLVMAtomicOrdering order)
{
	switch (order) {
	case LLVMAtomicOrderingUnordered:
	case LLVMAtomicOrderingMonotonic: return 1;
	case LLVMAtomicOrderingAcquire: return 2;
	case LLVMAtomicOrderingRelease: return 3;
	case LLVMAtomicOrderingAcquireRelease: return 4;
	default: return 5;
	}
}

bool instr_is_atomic(const struct instr_event *event)
{
	return event->kind == EVENT_ATOMIC_LOAD || event->kind == EVENT_ATOMIC_STORE ||
	       event->kind == EVENT_ATOMIC_RMW || event->kind == EVENT_ATOMIC_CAS;
}

/* It is known only at run time whether a compare-and-exchange has stored its value. */
LLVMValueRef instr_atomic_stored(struct instr_unit *u, const struct instr_event *event)
{
	LLVMBuilderRef b = u->builder;
	if (event->kind != EVENT_ATOMIC_CAS)
		return const32(u, (event->kind != EVENT_ATOMIC_LOAD ? RADDLE_ATOMIC_STORED : 0) |
					  (event->flags & EVENT_PASSES ? RADDLE_ATOMIC_PASSED : 0));
	if (LLVMIsAAtomicCmpXchgInst(event->inst))
		return LLVMBuildZExt(b, LLVMBuildExtractValue(b, event->inst, 1, ""), u->i32, "");
	if (LLVMGetTypeKind(LLVMTypeOf(event->inst)) != LLVMIntegerTypeKind)
		return const32(u, 1);
	LLVMValueRef zero = LLVMConstNull(LLVMTypeOf(event->inst));
	return LLVMBuildZExt(b, LLVMBuildICmp(b, LLVMIntNE, event->inst, zero, ""), u->i32, "");
}

uint64_t instr_atomic_what(const struct instr_event *event, LLVMValueRef site)
{
	RD_ASSERT(instr_is_atomic(event) && LLVMIsAConstantInt(site));
	bool loads = event->kind == EVENT_ATOMIC_LOAD;
	return RADDLE_ATOMIC_WHAT(LLVMConstIntGetZExtValue(site), event->size, !loads) |
	       RADDLE_ATOMIC_ORDERED(instr_order_number(event->order),
				     !loads && event->kind != EVENT_ATOMIC_STORE);
}

static const char *const kind_names[] = {
	[EVENT_READ] = "r",	    [EVENT_WRITE] = "w",	[EVENT_RANGE_READ] = "rr",
	[EVENT_RANGE_WRITE] = "rw", [EVENT_ATOMIC_LOAD] = "al", [EVENT_ATOMIC_STORE] = "as",
	[EVENT_ATOMIC_RMW] = "ax",  [EVENT_ATOMIC_CAS] = "ac",	[EVENT_FENCE] = "f",
	[EVENT_CALL] = "c",
};

LLVMValueRef instr_event_site(struct instr_unit *u, const struct instr_event *event)
{
	RD_ASSERT(event->kind < EVENT_FORGET);
	char flags[8];
	int n = 0;
	if (event->flags & EVENT_VOLATILE)
		flags[n++] = 'v';
	if (event->flags & EVENT_WAIT_LOOP)
		flags[n++] = 'l';
	if (event->flags & EVENT_THREAD_LOCAL)
		flags[n++] = 't';
	if (event->flags & EVENT_STACK)
		flags[n++] = 's';
	if (event->flags & EVENT_UNSEEN)
		flags[n++] = 'n';
	if (instr_is_atomic(event) || event->kind == EVENT_FENCE)
		flags[n++] = order_letter(event->order);
	flags[n] = '\0';
	struct instr_site site = {
		.kind = kind_names[event->kind],
		.size = event->kind == EVENT_RANGE_READ || event->kind == EVENT_RANGE_WRITE ? 0 : event->size,
		.extent = event->size,
		.flags = flags,
		.inst = event->inst,
		.pointer = event->pointer,
		.of_object = true,
	};
	bool called = event->kind == EVENT_CALL || event->pointer == NULL;
	LLVMValueRef callee = called && event->kind != EVENT_FENCE ? ir_callee(event->inst) : NULL;
	if (callee != NULL)
		site.callee = ir_debug_function_name(u->sites.debug, callee);
	return LLVMConstInt(u->i32, instr_sites_add(&u->sites, &site), false);
}

bool instr_event_is_of_vtable(const struct instr_event *event)
{
	size_t length;
	LLVMValueRef value;

	if (event->kind != EVENT_WRITE || !LLVMIsAStoreInst(event->inst))
		return false;
	value = LLVMGetOperand(event->inst, 0);
	while (LLVMIsAConstantExpr(value))
		value = LLVMGetOperand(value, 0);
	return LLVMIsAGlobalVariable(value) && strncmp(LLVMGetValueName2(value, &length), "_ZTV", 4) == 0;
}
