/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Lists the events of a function's instructions, in program order.  Accesses that cannot conflict
 * with another thread are left out.  These are accesses to constants, and to stack variables and
 * static thread-local variables whose address does not escape.  If a library function such as
 * memcpy() or strlen() makes an access for its caller, the access is an event of the caller.
 */
#include "instr/scan/event.h"

#include "base/alloc.h"
#include "base/error.h"
#include "instr/scan/cxx-string.h"
#include "instr/edit/edit.h"

#include <stdlib.h>
#include <string.h>

/* Returns the number that LLVM assigns to an attribute. */
static unsigned kind_of(const char *name)
{
	return LLVMGetEnumAttributeKindForName(name, strlen(name));
}

static void add(struct instr_function *f, const struct instr_event *event)
{
	RD_GROW(f->events, f->capacity, f->count + 1);
	f->events[f->count++] = *event;
}

static bool is_local_object(LLVMValueRef base)
{
	if (LLVMIsAAllocaInst(base))
		return true;
	if (!LLVMIsAArgument(base))
		return false;
	LLVMValueRef function = LLVMGetParamParent(base);
	unsigned i = 0;
	while (LLVMGetParam(function, i) != base)
		i++;
	return LLVMGetEnumAttributeAtIndex(function, i + 1, kind_of("byval")) != NULL;
}

/* Returns true if no other thread can access the object. */
static bool is_private(struct instr_function *f, LLVMValueRef base, bool local)
{
	bool is_new;
	if (!local && (LLVMGetLinkage(base) != LLVMInternalLinkage || !LLVMIsThreadLocal(base)))
		return false;
	uint64_t *known = rd_umap_put(&f->private_objects, (uintptr_t)base, &is_new);
	if (is_new) {
		bool escapes = ir_escapes(base, ir_effects_harmless, f->effects);
		known = rd_umap_get(&f->private_objects, (uintptr_t)base);
		*known = !escapes;
	}
	return *known != 0;
}

/* Decides whether an access can conflict with another thread, and completes its flags.  Returns
 * false if the access must be left out. */
static bool matters(struct instr_function *f, struct instr_event *event)
{
	LLVMTypeRef type = LLVMTypeOf(event->pointer);
	if (LLVMGetTypeKind(type) != LLVMPointerTypeKind || LLVMGetPointerAddressSpace(type) != 0)
		return false;
	LLVMValueRef base = ir_base(event->pointer);
	bool local = is_local_object(base);
	if (local)
		event->flags |= EVENT_STACK;
	if (LLVMIsAGlobalVariable(base) && LLVMIsThreadLocal(base))
		event->flags |= EVENT_THREAD_LOCAL;
	if (f->everything)
		return true;
	if (LLVMIsAGlobalVariable(base)) {
		if (LLVMIsGlobalConstant(base))
			return false;
	} else if (LLVMIsAConstantPointerNull(base) || LLVMIsUndef(base)) {
		return false;
	}
	return !(local || LLVMIsAGlobalVariable(base)) || !is_private(f, base, local);
}

static void add_if_it_matters(struct instr_function *f, struct instr_event event)
{
	if (matters(f, &event))
		add(f, &event);
}

/* Returns true if there is a hook for single accesses of this size and alignment.  All other
 * accesses are recorded as ranges. */
static bool is_simple(uint64_t size, unsigned align)
{
	return (size == 1 || size == 2 || size == 4 || size == 8 || size == 16) && align >= size;
}

static void scan_access(struct instr_function *f, struct instr_event event, LLVMTypeRef type, bool write)
{
	bool volatility = LLVMGetVolatile(event.inst);
	LLVMAtomicOrdering order = LLVMGetOrdering(event.inst);
	event.size = LLVMStoreSizeOfType(f->unit->layout, type);
	if (volatility)
		event.flags |= EVENT_VOLATILE;
	if (event.size == 0)
		return;
	if (!write && rd_umap_get(&f->wait_reads, (uintptr_t)event.inst) != NULL)
		event.flags |= EVENT_WAIT_LOOP;
	if (order != LLVMAtomicOrderingNotAtomic) {
		event.kind = write ? EVENT_ATOMIC_STORE : EVENT_ATOMIC_LOAD;
		event.order = order;
		if (!write && instr_only_looks(event.inst))
			event.flags |= EVENT_PASSES;
	} else if (is_simple(event.size, LLVMGetAlignment(event.inst)) || event.flags & EVENT_WAIT_LOOP) {
		event.kind = write ? EVENT_WRITE : EVENT_READ;
	} else {
		event.kind = write ? EVENT_RANGE_WRITE : EVENT_RANGE_READ;
	}
	add_if_it_matters(f, event);
}

static void scan_range(struct instr_function *f, struct instr_event event, unsigned argument, unsigned length)
{
	RD_ASSERT(argument < (unsigned)LLVMGetNumOperands(event.inst));
	LLVMValueRef n = LLVMGetArgOperand(event.inst, length);
	event.operand = argument;
	event.pointer = LLVMGetArgOperand(event.inst, argument);
	if (LLVMIsAConstantInt(n)) {
		event.size = LLVMConstIntGetZExtValue(n);
		if (event.size == 0)
			return;
	} else {
		event.length = n;
	}
	add_if_it_matters(f, event);
}

static void scan_intrinsic(struct instr_function *f, struct instr_event event, const char *name)
{
	bool copy = ir_starts(name, "llvm.memcpy.") || ir_starts(name, "llvm.memmove.");
	if (!copy && !ir_starts(name, "llvm.memset."))
		return;
	if (copy) {
		event.kind = EVENT_RANGE_READ;
		scan_range(f, event, 1, 2);
	}
	event.kind = EVENT_RANGE_WRITE;
	scan_range(f, event, 0, 2);
}

/* Handles a memory operand of inline assembler.  For the constraints "*m" and "=*m", the operand
 * is a pointer, and the type of the memory is an attribute of the argument. */
static void scan_asm_operand(struct instr_function *f, struct instr_event event, unsigned argument,
			     const char *constraint)
{
	LLVMAttributeRef type =
		LLVMGetCallSiteEnumAttribute(event.inst, argument + 1, kind_of("elementtype"));
	if (type == NULL)
		return;
	event.operand = argument;
	event.pointer = LLVMGetArgOperand(event.inst, argument);
	event.size = LLVMStoreSizeOfType(f->unit->layout, LLVMGetTypeAttributeValue(type));
	if (event.size == 0)
		return;
	if (event.kind != EVENT_ATOMIC_RMW)
		event.kind = strchr(constraint, '=') != NULL ? EVENT_RANGE_WRITE : EVENT_RANGE_READ;
	event.order = LLVMAtomicOrderingSequentiallyConsistent;
	add_if_it_matters(f, event);
}

/* Adds a fence, or an assembler statement without instructions, to the site table, although such a
 * barrier is not an event.  Programs use barriers so that the relaxed atomics around them order
 * threads. */
static void note_barrier(struct instr_function *f, struct instr_event event)
{
	event.kind = EVENT_FENCE;
	event.flags = EVENT_VOLATILE;
	event.order = LLVMAtomicOrderingAcquireRelease;
	if (!f->unit->options->flavour->values)
		instr_event_site(f->unit, &event);
}

/* Handles inline assembler.  Locks are often implemented as assembler with memory operands and a
 * "memory" clobber.  In this case, each operand is treated as an atomic access that orders
 * threads.  If there is a clobber but no operand, the effect of the assembler is unknown, and
 * instr/foreign.c notes that. */
static void scan_asm(struct instr_function *f, struct instr_event event, LLVMValueRef code)
{
	size_t n, m;
	const char *text = LLVMGetInlineAsmAsmString(code, &n);
	const char *constraints = LLVMGetInlineAsmConstraintString(code, &m);
	char *copy = rd_xstrndup(constraints, m), *rest = copy, *one;
	char *body = rd_xstrndup(text, n);
	bool clobbers = strstr(copy, "~{memory}") != NULL, named = false;
	bool atomic = clobbers || strstr(body, "lock") != NULL || strstr(body, "xchg") != NULL;
	unsigned argument = 0;
	if (ir_effects_synchronises(f->effects, event.inst)) {
		struct instr_event forget = event;
		forget.kind = EVENT_FORGET;
		add(f, &forget);
	}
	/* The constraints list outputs first, then inputs.  Indirect operands take an argument of
	 * the call, but other outputs and clobbers ("~") do not.  An operand that is both input
	 * and output appears twice, but becomes only one atomic event. */
	LLVMValueRef seen[8];
	unsigned seen_count = 0;
	while ((one = strsep(&rest, ",")) != NULL) {
		bool indirect = strchr(one, '*') != NULL, output = one[0] == '=';
		if (one[0] == '~' || (output && !indirect))
			continue;
		if (argument >= LLVMGetNumArgOperands(event.inst))
			break;
		if (indirect) {
			LLVMValueRef pointer = LLVMGetArgOperand(event.inst, argument);
			bool again = false;
			for (unsigned i = 0; atomic && i < seen_count; i++)
				again |= seen[i] == pointer;
			event.kind = atomic ? EVENT_ATOMIC_RMW : EVENT_RANGE_READ;
			named = true;
			if (!again)
				scan_asm_operand(f, event, argument, one);
			if (seen_count < sizeof seen / sizeof *seen)
				seen[seen_count++] = pointer;
		}
		argument++;
	}
	if (clobbers && !named && !instr_is_fence(body))
		instr_note_assembler(f->unit, f->function);
	else if (clobbers && !named)
		note_barrier(f, event);
	free(copy);
	free(body);
}

/* Adds an event about a file descriptor.  Flavours that record values or change them by faults
 * have no such events, because a descriptor's state is not in the program's memory. */
static void add_descriptor(struct instr_function *f, struct instr_event event)
{
	LLVMValueRef number = event.libc->length == LENGTH_OPENED ? event.inst : event.pointer;
	event.pointer = NULL;
	if (LLVMGetTypeKind(LLVMTypeOf(number)) == LLVMIntegerTypeKind && !f->unit->options->flavour->values)
		add(f, &event);
}

static void scan_row(struct instr_function *f, struct instr_event event, const struct instr_libc *row)
{
	if ((unsigned)row->argument >= LLVMGetNumArgOperands(event.inst))
		return;
	event.kind = row->write ? EVENT_RANGE_WRITE : EVENT_RANGE_READ;
	event.operand = (unsigned)row->argument;
	event.pointer = LLVMGetArgOperand(event.inst, event.operand);
	event.libc = row;
	event.size = row->length == LENGTH_FIXED ? row->a : 0;
	if (row->length == LENGTH_DESCRIPTOR || row->length == LENGTH_OPENED)
		add_descriptor(f, event);
	else if (LLVMGetTypeKind(LLVMTypeOf(event.pointer)) == LLVMPointerTypeKind)
		add_if_it_matters(f, event);
}

struct formatted {
	struct instr_function *f;
	const struct instr_event *event;
};

static void scan_conversion(void *context, const struct instr_conversion *c)
{
	const struct formatted *call = context;
	scan_row(call->f, *call->event, instr_libc_of_format(c));
}

/* Returns true if the first argument of a call is the address of memory for its result. */
static bool is_shifted(LLVMValueRef call)
{
	return LLVMGetCallSiteEnumAttribute(call, 1, LLVMGetEnumAttributeKindForName("sret", 4)) != NULL;
}

static void scan_string(struct instr_function *f, struct instr_event event, const char *name)
{
	const struct instr_libc *rows[INSTR_STRING_ROWS];
	size_t count = instr_string_find(name, is_shifted(event.inst), rows);
	for (size_t i = 0; i < count; i++)
		scan_row(f, event, rows[i]);
}

static void scan_libc(struct instr_function *f, struct instr_event event, const char *name)
{
	size_t count = 0;
	const struct instr_libc *rows = instr_libc_find(name, &count);
	for (size_t i = 0; i < count; i++)
		scan_row(f, event, &rows[i]);
	if (f->unit->options->flavour->number == RADDLE_FLAVOUR_RECORD && instr_string_is_member(name))
		scan_string(f, event, name);
	/* The flavour `full` handles formats itself, and records more of them (library.c). */
	if (!f->unit->options->flavour->values)
		instr_format_read(event.inst, name, scan_conversion, &(struct formatted){f, &event});
}

static bool never_returns(LLVMValueRef call, LLVMValueRef callee)
{
	if (callee != NULL &&
	    LLVMGetEnumAttributeAtIndex(callee, LLVMAttributeFunctionIndex, kind_of("noreturn")) != NULL)
		return true;
	return LLVMGetCallSiteEnumAttribute(call, LLVMAttributeFunctionIndex, kind_of("noreturn")) != NULL;
}

static void scan_call(struct instr_function *f, struct instr_event event)
{
	LLVMValueRef callee = ir_callee(event.inst);
	if (LLVMIsAInlineAsm(LLVMGetCalledValue(event.inst))) {
		scan_asm(f, event, LLVMGetCalledValue(event.inst));
		return;
	}
	if (callee != NULL && LLVMGetIntrinsicID(callee) != 0) {
		scan_intrinsic(f, event, ir_name(callee));
		return;
	}
	bool external = callee != NULL && ir_is_external(callee);
	if (external && instr_libatomic(f, event.inst, ir_name(callee), &event)) {
		event.size = event.size != 0 ? event.size : 1;
		add_if_it_matters(f, event);
		return;
	}
	if (external)
		scan_libc(f, event, ir_name(callee));
	if (external && ir_effects_is_quiet(f->effects, ir_name(callee)))
		return;
	event.kind = EVENT_CALL;
	if (ir_effects_synchronises(f->effects, event.inst))
		event.flags |= EVENT_SYNCS;
	if (never_returns(event.inst, callee))
		event.flags |= EVENT_NEVER_RETURNS;
	add(f, &event);
}

static void scan_instruction(struct instr_function *f, struct instr_event event)
{
	LLVMValueRef inst = event.inst;
	switch (LLVMGetInstructionOpcode(inst)) {
	case LLVMLoad:
		event.pointer = LLVMGetOperand(inst, 0);
		scan_access(f, event, LLVMTypeOf(inst), false);
		break;
	case LLVMStore:
		event.operand = 1;
		event.pointer = LLVMGetOperand(inst, 1);
		scan_access(f, event, LLVMTypeOf(LLVMGetOperand(inst, 0)), true);
		break;
	case LLVMAtomicRMW:
	case LLVMAtomicCmpXchg: {
		bool exchange = LLVMGetInstructionOpcode(inst) == LLVMAtomicCmpXchg;
		event.kind = exchange ? EVENT_ATOMIC_CAS : EVENT_ATOMIC_RMW;
		event.order = exchange ? LLVMGetCmpXchgSuccessOrdering(inst) : LLVMGetOrdering(inst);
		event.pointer = LLVMGetOperand(inst, 0);
		event.size = LLVMStoreSizeOfType(f->unit->layout, LLVMTypeOf(LLVMGetOperand(inst, 1)));
		if (LLVMGetVolatile(inst))
			event.flags |= EVENT_VOLATILE;
		if (!exchange && LLVMGetFirstUse(inst) == NULL)
			event.flags |= EVENT_UNSEEN;
		if (!exchange && instr_is_counter(inst))
			event.flags |= EVENT_PASSES;
		add_if_it_matters(f, event);
		break;
	}
	case LLVMFence:
		event.kind = EVENT_FENCE;
		event.order = LLVMGetOrdering(inst);
		add(f, &event);
		break;
	case LLVMCallBr:
		event.kind = EVENT_FORGET;
		add(f, &event);
		break;
	case LLVMCall:
	case LLVMInvoke: scan_call(f, event); break;
	default: break;
	}
}

void instr_scan(struct instr_function *f)
{
	f->count = 0;
	for (uint32_t b = 0; b < f->cfg.graph.nodes; b++)
		for (LLVMValueRef i = LLVMGetFirstInstruction(f->cfg.blocks[b]); i != NULL;
		     i = LLVMGetNextInstruction(i))
			if (!instr_edit_is_own(i))
				scan_instruction(f, (struct instr_event){.inst = i, .block = b});
}
