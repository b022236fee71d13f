/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Instruments calls.  A call ends the piece before it (the record of the straight-line code up to
 * the call), because the called code writes its own records.  The result of the call begins the
 * next piece.  A call does not end the piece if the called function does nothing but compute.
 *
 * If a library function reads ranges of memory, they are recorded before it runs.  If it writes
 * ranges, they are recorded after it returns.
 */
#include "instr/full/full.h"

#include "base/alloc.h"
#include "instr/edit/edit.h"
#include "raddle/abi.h"

#include <stdlib.h>
#include <string.h>

/* Updates the pointer of an event.  Since the scan, a test for faults may have been inserted
 * between the pointer and its user. */
static const struct instr_event *refresh(struct instr_event *event)
{
	if (event->pointer != NULL)
		event->pointer = LLVMGetOperand(event->inst, event->operand);
	return event;
}

const struct instr_event *full_event(struct full_function *x, LLVMValueRef inst)
{
	const uint64_t *i = rd_umap_get(&x->events, (uintptr_t)inst);
	return i != NULL ? refresh(&x->f->events[*i]) : NULL;
}

/* Returns the next event of the same instruction. */
static const struct instr_event *following(struct full_function *x, const struct instr_event *event)
{
	size_t next = (size_t)(event - x->f->events) + 1;
	if (next == x->f->count || x->f->events[next].inst != event->inst)
		return NULL;
	return refresh(&x->f->events[next]);
}

bool full_call_is_tail(LLVMValueRef call)
{
	return LLVMGetInstructionOpcode(call) == LLVMCall &&
	       LLVMGetTailCallKind(call) == LLVMTailCallKindMustTail;
}

static bool has_attribute(LLVMValueRef call, const char *name)
{
	unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
	LLVMValueRef callee = ir_callee(call);
	return LLVMGetCallSiteEnumAttribute(call, LLVMAttributeFunctionIndex, kind) != NULL ||
	       (callee != NULL &&
		LLVMGetEnumAttributeAtIndex(callee, LLVMAttributeFunctionIndex, kind) != NULL);
}

bool full_call_is_twice(LLVMValueRef call)
{
	return ir_is_call(call) && has_attribute(call, "returns_twice");
}

static bool is_asm(LLVMValueRef call)
{
	return LLVMIsAInlineAsm(LLVMGetCalledValue(call)) != NULL;
}

static bool takes_pointer(LLVMValueRef call)
{
	unsigned n = LLVMGetNumArgOperands(call);
	for (unsigned i = 0; i < n; i++)
		if (LLVMGetTypeKind(LLVMTypeOf(LLVMGetArgOperand(call, i))) == LLVMPointerTypeKind)
			return true;
	return false;
}

/* Returns true if the thread may have to stop before the call, because the call writes to a stream
 * or checks a predicate. */
static bool emits(struct full_function *x, LLVMValueRef call)
{
	LLVMValueRef callee = ir_callee(call);
	return x->u->stops && callee != NULL &&
	       (ir_is_external(callee) ? instr_libc_emits(ir_name(callee)) : instr_edit_is_predicate(callee));
}

/* Returns true if the piece stays open across the call. */
static bool stays(struct full_function *x, LLVMValueRef call)
{
	LLVMValueRef callee = ir_callee(call);
	if (LLVMGetInstructionOpcode(call) != LLVMCall)
		return false;
	if (is_asm(call))
		return !LLVMGetInlineAsmHasSideEffects(LLVMGetCalledValue(call)) &&
		       full_event(x, call) == NULL;
	return callee != NULL && ir_is_external(callee) && full_event(x, call) == NULL && !emits(x, call) &&
	       ir_effects_is_quiet(x->f->effects, ir_name(callee)) && !takes_pointer(call);
}

/* Returns true if the callee records the arguments at its entry. */
static bool enters(struct full_function *x, LLVMValueRef call)
{
	LLVMValueRef callee = ir_callee(call);
	return callee != NULL && instr_is_instrumented(x->f->effects, callee) &&
	       ir_effects_is_final(x->f->effects, callee) &&
	       LLVMCountParams(callee) == LLVMGetNumArgOperands(call);
}

/* Returns true if the call can be skipped, because it calls a library function that returns
 * normally. */
static bool is_preventable(struct full_function *x, LLVMValueRef call)
{
	LLVMValueRef callee = ir_callee(call);
	LLVMTypeKind type = LLVMGetTypeKind(LLVMTypeOf(call));
	return callee != NULL && ir_is_external(callee) && !full_call_is_tail(call) &&
	       LLVMGetCalledValue(call) == callee && !ir_effects_is_quiet(x->f->effects, ir_name(callee)) &&
	       !has_attribute(call, "noreturn") && !has_attribute(call, "returns_twice") &&
	       (type == LLVMVoidTypeKind || type == LLVMIntegerTypeKind || type == LLVMPointerTypeKind);
}

static const char *what(struct full_function *x, LLVMValueRef call)
{
	LLVMValueRef callee = ir_callee(call);
	if (callee != NULL)
		return ir_debug_function_name(x->u->sites.debug, callee);
	return is_asm(call) ? "asm" : NULL;
}

/* Inserts the hook for a range at x->at. */
static void put_range(struct full_function *x, const struct instr_event *event, bool behind)
{
	bool write = event->kind == EVENT_RANGE_WRITE;
	LLVMValueRef site = instr_event_site(x->u, event);
	if (event->libc != NULL && behind && event->libc->length == LENGTH_APPENDED) {
		instr_hook_call(x->u, HOOK_WRITE_STRING,
				(LLVMValueRef[]){full_self(x), event->pointer, site,
						 LLVMConstInt(x->u->i64, UINT64_MAX, false)});
	} else if (event->libc != NULL) {
		instr_libc_call(x->u, event, full_self(x), site);
	} else {
		LLVMValueRef n = event->size != 0 ? LLVMConstInt(x->u->i64, event->size, false)
						  : LLVMBuildIntCast2(x->u->builder, event->length, x->u->i64,
								      false, "");
		instr_hook_call(x->u, write ? HOOK_WRITE_RANGE : HOOK_READ_RANGE,
				(LLVMValueRef[]){full_self(x), event->pointer, site, n});
	}
}

static void put_ranges(struct full_function *x, LLVMValueRef call, bool behind)
{
	for (const struct instr_event *e = full_event(x, call); e != NULL; e = following(x, e)) {
		if (e->kind != EVENT_RANGE_READ && e->kind != EVENT_RANGE_WRITE)
			continue;
		bool later = e->kind == EVENT_RANGE_WRITE || (e->libc != NULL && instr_libc_after(e->libc));
		if (later == behind)
			put_range(x, e, behind);
	}
	full_library(x, call, behind);
}

/* Loads the content of an atomic object, as two words. */
static void load_words(struct full_function *x, const struct instr_event *event, LLVMValueRef words[2])
{
	LLVMBuilderRef b = x->u->builder;
	words[0] = words[1] = LLVMConstInt(x->u->i64, 0, false);
	if (event->size != 1 && event->size != 2 && event->size != 4 && event->size != 8 && event->size != 16)
		return;
	LLVMTypeRef type = LLVMIntTypeInContext(x->u->context, (unsigned)event->size * 8);
	LLVMValueRef v = LLVMBuildLoad2(b, type, event->pointer, "");
	LLVMSetVolatile(v, true);
	LLVMSetAlignment(v, 1);
	words[0] = LLVMBuildIntCast2(b, v, x->u->i64, false, "");
	if (event->size == 16) {
		LLVMValueRef high = LLVMBuildLShr(b, v, LLVMConstInt(type, 64, false), "");
		words[1] = LLVMBuildIntCast2(b, high, x->u->i64, false, "");
	}
}

/* In the flavour `led`, inserts a hook that tells the runtime which accesses a fence orders. */
static void put_barrier(struct full_function *x, unsigned kind)
{
	if (x->u->stops && kind != 0)
		instr_hook_call(x->u, HOOK_BARRIER,
				(LLVMValueRef[]){full_self(x), LLVMConstInt(x->u->i32, kind, false)});
}

/* Kinds of barriers, numbered as in enum memory_fence of rt/memory/model.h. */
enum { BARRIER_LOADS = 1, BARRIER_ALL = 4, BARRIER_STORES = 5 };

/* Returns the kind of memory barrier that an instruction makes, according to its text or its
 * assembly code.  Returns 0 if the instruction is not a barrier. */
static unsigned barrier_of(const char *text)
{
	if (strstr(text, "mfence") || strstr(text, "lock"))
		return BARRIER_ALL;
	return strstr(text, "sfence") ? BARRIER_STORES : strstr(text, "lfence") ? BARRIER_LOADS : 0;
}

static unsigned barrier_of_asm(LLVMValueRef call)
{
	size_t n;
	const char *text = LLVMGetInlineAsmAsmString(LLVMGetCalledValue(call), &n);
	char *copy = rd_xstrndup(text, n);
	unsigned kind = barrier_of(copy);
	free(copy);
	return kind;
}

static void atomic_before(struct full_function *x, const struct instr_event *event, LLVMValueRef old[2],
			  LLVMValueRef site)
{
	uint64_t what = instr_atomic_what(event, site) | (full_is_idle(event->inst) ? RADDLE_STOP_IDLE : 0);
	full_bounds(x, &(struct full_access){.pointer = event->pointer,
					     .size = LLVMConstInt(x->u->i64, event->size, false),
					     .site = site});
	instr_hook_call(x->u, HOOK_ATOMIC_BEGIN,
			(LLVMValueRef[]){full_self(x), event->pointer, LLVMConstInt(x->u->i64, what, false)});
	load_words(x, event, old);
}

static void atomic_after(struct full_function *x, const struct instr_event *event, LLVMValueRef old[2],
			 LLVMValueRef site)
{
	LLVMBuilderRef b = x->u->builder;
	LLVMValueRef now[2], size = LLVMConstInt(x->u->i32, event->size << 8, false);
	load_words(x, event, now);
	LLVMValueRef flags = LLVMBuildOr(b, instr_atomic_stored(x->u, event), size, "");
	instr_hook_call(
		x->u, HOOK_ATOMIC_VALUES,
		(LLVMValueRef[]){full_self(x), event->pointer, site, flags, old[0], old[1], now[0], now[1]});
}

void full_atomic(struct full_function *x, const struct instr_event *event, LLVMValueRef next)
{
	LLVMValueRef old[2], site = instr_event_site(x->u, event);
	uint32_t n =
		(uint32_t)(LLVMConstIntGetZExtValue(site) - LLVMConstIntGetZExtValue(full_site_number(x, 0)));
	full_piece_close(x);
	if (event->kind == EVENT_FENCE) {
		put_barrier(x, instr_order_number(event->order) - 1);
		instr_hook_call(x->u, HOOK_FENCE, (LLVMValueRef[]){full_self(x), site});
		return;
	}
	atomic_before(x, event, old, site);
	full_build_at(x, next);
	atomic_after(x, event, old, site);
	if (full_is_injectable(event->inst)) {
		full_op(x, 'i', n);
		full_inject(x, event->inst, n);
	}
}

/* Returns the atomic operation that a call performs, or NULL if the call is not an atomic
 * operation. */
static const struct instr_event *atomic_call(struct full_function *x, LLVMValueRef call)
{
	for (const struct instr_event *e = full_event(x, call); e != NULL; e = following(x, e))
		if (instr_is_atomic(e))
			return e;
	return NULL;
}

/* --- the flavour `led` --------------------------------------------------------- */

/* Returns the length of a range, limited to 16 bits, or NULL if the length is not known before the
 * call. */
static LLVMValueRef stop_length(struct full_function *x, const struct instr_event *event)
{
	LLVMBuilderRef b = x->u->builder;
	LLVMValueRef most = LLVMConstInt(x->u->i64, RADDLE_STOP_STRING - 1, false), n;
	if (event->libc != NULL)
		n = instr_libc_length_before(x->u, event);
	else if (event->size != 0)
		n = LLVMConstInt(x->u->i64, event->size, false);
	else
		n = LLVMBuildIntCast2(b, event->length, x->u->i64, false, "");
	if (n == NULL || (LLVMIsAConstantInt(n) && LLVMConstIntGetZExtValue(n) == RADDLE_STOP_STRING))
		return n;
	return LLVMBuildSelect(b, LLVMBuildICmp(b, LLVMIntULT, n, most, ""), n, most, "");
}

static bool stop_at_range(struct full_function *x, const struct instr_event *event, bool is_further)
{
	LLVMBuilderRef b = x->u->builder;
	bool write = event->kind == EVENT_RANGE_WRITE;
	uint64_t marks = (uint64_t)write << 63 | (is_further ? RADDLE_STOP_SAME : 0) |
			 (event->size == 0 && event->libc == NULL ? RADDLE_STOP_COMPUTED : 0);
	LLVMValueRef n = stop_length(x, event), site, number, what;
	if (n == NULL)
		return false;
	site = instr_event_site(x->u, event);
	number = LLVMBuildIntCast2(b, site, x->u->i64, false, "");
	what = LLVMBuildShl(b, n, LLVMConstInt(x->u->i64, 32, false), "");
	what = LLVMBuildOr(b, LLVMBuildOr(b, what, number, ""), LLVMConstInt(x->u->i64, marks, false), "");
	instr_hook_call(x->u, HOOK_STOP, (LLVMValueRef[]){full_self(x), event->pointer, what});
	full_bounds_of_range(x, event, site);
	return true;
}

/* Inserts a hook at which the thread may stop before a call that reads and writes these ranges. */
static void stop_at_ranges(struct full_function *x, LLVMValueRef call)
{
	bool any = false;
	for (const struct instr_event *e = full_event(x, call); x->u->stops && e != NULL; e = following(x, e))
		if (e->kind == EVENT_RANGE_READ || e->kind == EVENT_RANGE_WRITE)
			any |= stop_at_range(x, e, any);
}

/* Announces the site of a call that leaves the unit.  The functions that the runtime interposes
 * report this site. */
static void stop_before(struct full_function *x, LLVMValueRef call, uint32_t site)
{
	LLVMValueRef callee = ir_callee(call);
	uint64_t what = LLVMConstIntGetZExtValue(full_site_number(x, site)) | RADDLE_STOP_CALLS |
			(emits(x, call) ? RADDLE_STOP_EMITS : 0);
	if (x->u->stops && (callee == NULL || ir_is_external(callee) || instr_edit_is_predicate(callee)))
		instr_hook_call(x->u, HOOK_STOP,
				(LLVMValueRef[]){full_self(x), LLVMConstNull(x->u->pointer),
						 LLVMConstInt(x->u->i64, what, false)});
	stop_at_ranges(x, call);
}

void full_call_before(struct full_function *x, LLVMValueRef call)
{
	bool code = is_asm(call), tail = full_call_is_tail(call);
	const struct instr_event *atomic = atomic_call(x, call);
	if (code && stays(x, call))
		return;
	if (!code && !tail)
		full_inject_arguments(x, call);
	if (is_preventable(x, call) && atomic == NULL)
		full_inject_call(x, call);
	uint32_t site = full_site(
		x, &(struct instr_site){.kind = "c", .flags = "", .inst = call, .callee = what(x, call)});
	full_op(x, tail ? 't' : 'c', site);
	if (ir_callee(call) == NULL && !code && LLVMIsAFunction(LLVMGetCalledValue(call)) == NULL)
		full_put_word(x, "C8",
			      LLVMBuildPtrToInt(x->u->builder, LLVMGetCalledValue(call), x->u->i64, ""));
	unsigned n = LLVMGetNumArgOperands(call);
	for (unsigned i = 0; i < n && !enters(x, call); i++)
		full_put_value(x, LLVMGetArgOperand(call, i));
	if (stays(x, call))
		return;
	full_piece_close(x);
	if (code)
		put_barrier(x, barrier_of_asm(call));
	stop_before(x, call, site);
	put_ranges(x, call, false);
	if (atomic != NULL)
		x->old_site = instr_event_site(x->u, atomic);
	if (atomic != NULL)
		atomic_before(x, atomic_call(x, call), x->old, x->old_site);
}

/* The length of the memory that the call wrote is determined by what the call returned, even if a
 * fault then changes the result. */
void full_call_after(struct full_function *x, LLVMValueRef call)
{
	const struct instr_event *atomic = atomic_call(x, call);
	LLVMTypeRef type = LLVMTypeOf(call);
	LLVMValueRef result = NULL;
	uint32_t site = 0;
	if (has_attribute(call, "noreturn"))
		return;
	if (LLVMGetTypeKind(type) != LLVMVoidTypeKind && full_is_recorded(x, type)) {
		site = full_site(x, &(struct instr_site){.kind = "v",
							 .size = LLVMStoreSizeOfType(x->u->layout, type),
							 .flags = "",
							 .inst = call,
							 .callee = what(x, call),
							 .type = type});
		result = full_inject(x, call, site);
	}
	if (atomic != NULL)
		atomic_after(x, atomic, x->old, x->old_site);
	put_ranges(x, call, true);
	if (full_call_is_twice(call)) {
		full_op(x, 'g', full_site(x, &(struct instr_site){.kind = "g", .flags = "", .inst = call}));
		full_put_word(x, "F8", x->frame);
	}
	if (result != NULL) {
		full_op(x, 'v', site);
		full_put_origin(x, result);
	}
}

/* --- intrinsics ---------------------------------------------------------------- */

static bool is_copy(const char *name)
{
	return ir_starts(name, "llvm.memcpy.") || ir_starts(name, "llvm.memmove.");
}

static bool is_fill(const char *name)
{
	return ir_starts(name, "llvm.memset.");
}

bool full_intrinsic_is_bare(LLVMValueRef call)
{
	LLVMValueRef callee = ir_callee(call);
	if (callee == NULL || LLVMGetIntrinsicID(callee) == 0)
		return false;
	const char *name = ir_name(callee);
	return !is_copy(name) && !is_fill(name) && !ir_starts(name, "llvm.va_start") &&
	       !ir_starts(name, "llvm.stackrestore");
}

static LLVMValueRef length_of(struct full_function *x, LLVMValueRef call)
{
	return LLVMBuildIntCast2(x->u->builder, LLVMGetArgOperand(call, 2), x->u->i64, false, "");
}

static uint32_t access_site(struct full_function *x, LLVMValueRef call, const char *kind, uint64_t size)
{
	return full_site(x, &(struct instr_site){.kind = kind,
						 .size = size,
						 .flags = "",
						 .inst = call,
						 .pointer = LLVMGetArgOperand(call, 0)});
}

static void copy(struct full_function *x, LLVMValueRef call, LLVMValueRef next)
{
	LLVMBuilderRef b = x->u->builder;
	uint32_t site = access_site(x, call, "cp", 0);
	LLVMValueRef to = LLVMGetArgOperand(call, 0);
	full_op(x, 'm', site);
	full_put_address(x, to);
	full_put_word(x, "p8", LLVMBuildPtrToInt(b, LLVMGetArgOperand(call, 1), x->u->i64, ""));
	full_put_word(x, "i8", length_of(x, call));
	full_piece_close(x);
	stop_at_ranges(x, call);
	full_build_at(x, next);
	instr_hook_call(x->u, HOOK_WRITE_RANGE,
			(LLVMValueRef[]){full_self(x), to, full_site_number(x, site), length_of(x, call)});
}

static void fill(struct full_function *x, LLVMValueRef call)
{
	/* The hook at which a thread can stop must be the first of the call's hooks, because
	 * schedules name this place by its source line. */
	if (x->u->stops && full_event(x, call) != NULL) {
		full_piece_close(x);
		stop_at_ranges(x, call);
	}
	full_op(x, 'n', access_site(x, call, "rw", 0));
	full_put_address(x, LLVMGetArgOperand(call, 0));
	full_put_value(x, LLVMGetArgOperand(call, 1));
	full_put_word(x, "i8", length_of(x, call));
}

/* Records the memory that va_start fills.  On x86-64, the pointer at offset 8 of the list points
 * to the arguments on the stack, and the pointer at offset 16 points to a copy of the arguments
 * that were passed in registers. */
static void variable_arguments(struct full_function *x, LLVMValueRef call, LLVMValueRef next)
{
	static const struct {
		unsigned offset, size;
	} areas[] = {{8, 64}, {16, 176}};
	LLVMBuilderRef b = x->u->builder;
	LLVMTypeRef i8 = LLVMInt8TypeInContext(x->u->context);
	full_build_at(x, next);
	for (size_t i = 0; i < sizeof areas / sizeof *areas; i++) {
		LLVMValueRef index = LLVMConstInt(x->u->i64, areas[i].offset, false);
		LLVMValueRef at = LLVMBuildGEP2(b, i8, LLVMGetArgOperand(call, 0), &index, 1, "");
		LLVMValueRef area = LLVMBuildLoad2(b, x->u->pointer, at, "");
		full_op(x, 'a', access_site(x, call, "a", areas[i].size));
		full_put_address(x, area);
	}
}

static bool computes(const char *name)
{
	static const char *const others[] = {"llvm.dbg.",	   "llvm.eh.",	       "llvm.objectsize",
					     "llvm.is.constant",   "llvm.stack",       "llvm.frameaddress",
					     "llvm.returnaddress", "llvm.threadlocal", "llvm.coro."};
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (ir_starts(name, others[i]))
			return false;
	return true;
}

void full_intrinsic(struct full_function *x, LLVMValueRef call, LLVMValueRef next)
{
	const char *name = ir_name(ir_callee(call));
	if (is_copy(name)) {
		copy(x, call, next);
	} else if (is_fill(name)) {
		fill(x, call);
	} else if (ir_starts(name, "llvm.va_start")) {
		variable_arguments(x, call, next);
	} else if (ir_starts(name, "llvm.stackrestore")) {
		full_op(x, 'r', full_site(x, &(struct instr_site){.kind = "st", .flags = "", .inst = call}));
		full_put_address(x, LLVMGetArgOperand(call, 0));
	} else if (ir_starts(name, "llvm.x86.sse") && strstr(name, "fence")) {
		put_barrier(x, barrier_of(name));
	} else if (computes(name) && full_is_injectable(call)) {
		LLVMTypeRef type = LLVMTypeOf(call);
		uint32_t site =
			full_site(x, &(struct instr_site){.kind = "i",
							  .size = LLVMStoreSizeOfType(x->u->layout, type),
							  .flags = "",
							  .inst = call,
							  .callee = name,
							  .type = type});
		full_op(x, 'i', site);
		full_build_at(x, next);
		full_inject(x, call, site);
	}
}
