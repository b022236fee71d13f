/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The flavour `record`: a module comes in, and the same module with a hook at every
 * event goes out, with the events' sites in the unit's table.
 *
 * A function that has events loads the thread's state when it is entered and, if it
 * calls, its place on the shadow stack (include/raddle/abi.h).  Hooks of accesses
 * stand before them; those of library functions whose result says how much was
 * written stand behind.
 *
 * The stack pointer is put back after a call only if something looks at it before the
 * next call sets it anew: an event, or the return to a caller that may not be
 * instrumented.
 */
#include "instr/event.h"

#include "base/alloc.h"
#include "base/error.h"
#include "raddle/abi.h"

#include <stdlib.h>
#include <string.h>

struct emitter {
	struct instr_function *f;
	struct instr_unit *u;
	LLVMValueRef self, top;
	bool *restore; /* per block: at its start, something looks at the stack before the next call */
	bool restore_at_exit;
};

static const char *const kind_names[] = {
	[EVENT_READ] = "r",	    [EVENT_WRITE] = "w",	[EVENT_RANGE_READ] = "rr",
	[EVENT_RANGE_WRITE] = "rw", [EVENT_ATOMIC_LOAD] = "al", [EVENT_ATOMIC_STORE] = "as",
	[EVENT_ATOMIC_RMW] = "ax",  [EVENT_ATOMIC_CAS] = "ac",	[EVENT_FENCE] = "f",
	[EVENT_CALL] = "c",
};

static char order_letter(LLVMAtomicOrdering order)
{
	switch (order) {
	case LLVMAtomicOrderingAcquire:
		return 'a';
	case LLVMAtomicOrderingRelease:
		return 'r';
	case LLVMAtomicOrderingAcquireRelease:
		return 'q';
	case LLVMAtomicOrderingSequentiallyConsistent:
		return 'S';
	default:
		return 'x';
	}
}

static bool is_atomic(const struct instr_event *event)
{
	return event->kind == EVENT_ATOMIC_LOAD || event->kind == EVENT_ATOMIC_STORE ||
	       event->kind == EVENT_ATOMIC_RMW || event->kind == EVENT_ATOMIC_CAS;
}

/* Whether the event gets a hook, and with it a site. */
static bool is_emitted(const struct instr_event *event)
{
	return event->kind != EVENT_FORGET && !(event->flags & EVENT_REDUNDANT);
}

static LLVMValueRef make_site(struct emitter *e, const struct instr_event *event)
{
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
	if (is_atomic(event) || event->kind == EVENT_FENCE)
		flags[n++] = order_letter(event->order);
	flags[n] = '\0';
	struct instr_site site = {
		.kind = kind_names[event->kind],
		.size = event->kind == EVENT_RANGE_READ || event->kind == EVENT_RANGE_WRITE ? 0 : event->size,
		.extent = event->size,
		.flags = flags,
		.inst = event->inst,
		.pointer = event->pointer,
	};
	LLVMValueRef callee = event->kind == EVENT_CALL ? ir_callee(event->inst) : NULL;
	if (callee != NULL)
		site.callee = ir_debug_function_name(e->u->sites.debug, callee);
	return LLVMConstInt(e->u->i32, instr_sites_add(&e->u->sites, &site), false);
}

static LLVMValueRef const64(struct emitter *e, uint64_t n)
{
	return LLVMConstInt(e->u->i64, n, false);
}

static LLVMValueRef const32(struct emitter *e, uint64_t n)
{
	return LLVMConstInt(e->u->i32, n, false);
}

static enum instr_hook access_hook(const struct instr_event *event)
{
	bool write = event->kind == EVENT_WRITE;
	switch (event->size) {
	case 1:
		return write ? HOOK_WRITE1 : HOOK_READ1;
	case 2:
		return write ? HOOK_WRITE2 : HOOK_READ2;
	case 4:
		return write ? HOOK_WRITE4 : HOOK_READ4;
	case 8:
		return write ? HOOK_WRITE8 : HOOK_READ8;
	default:
		RD_ASSERT(event->size == 16);
		return write ? HOOK_WRITE16 : HOOK_READ16;
	}
}

/* Where code behind an instruction goes; for an invoke that is where it returns to. */
static LLVMValueRef place_after(LLVMValueRef inst)
{
	if (LLVMGetInstructionOpcode(inst) != LLVMInvoke)
		return LLVMGetNextInstruction(inst);
	LLVMValueRef first = LLVMGetFirstInstruction(LLVMGetNormalDest(inst));
	while (LLVMIsAPHINode(first))
		first = LLVMGetNextInstruction(first);
	return first;
}

static void build_at(struct emitter *e, LLVMValueRef inst)
{
	LLVMPositionBuilderBefore(e->u->builder, inst);
	if (!e->u->options->debug)
		LLVMSetCurrentDebugLocation2(e->u->builder, NULL);
}

static LLVMValueRef as_number(struct emitter *e, LLVMValueRef v, bool is_signed)
{
	LLVMTypeRef type = LLVMTypeOf(v);
	if (LLVMGetTypeKind(type) != LLVMIntegerTypeKind)
		return const64(e, 0);
	return LLVMBuildIntCast2(e->u->builder, v, e->u->i64, is_signed, "");
}

static LLVMValueRef argument(struct emitter *e, const struct instr_event *event, int n)
{
	RD_ASSERT(n >= 0);
	if ((unsigned)n >= LLVMGetNumArgOperands(event->inst))
		return const64(e, 0);
	return as_number(e, LLVMGetArgOperand(event->inst, n), false);
}

static LLVMValueRef limit(struct emitter *e, const struct instr_event *event, int n)
{
	return n < 0 ? const64(e, UINT64_MAX) : argument(e, event, n);
}

/* The result as a length: 0 if it is negative. */
static LLVMValueRef positive_result(struct emitter *e, const struct instr_event *event)
{
	LLVMBuilderRef b = e->u->builder;
	LLVMValueRef result = as_number(e, event->inst, true);
	LLVMValueRef positive = LLVMBuildICmp(b, LLVMIntSGT, result, const64(e, 0), "");
	return LLVMBuildSelect(b, positive, result, const64(e, 0), "");
}

static LLVMValueRef smaller(struct emitter *e, LLVMValueRef x, LLVMValueRef y)
{
	LLVMBuilderRef b = e->u->builder;
	return LLVMBuildSelect(b, LLVMBuildICmp(b, LLVMIntULT, x, y, ""), x, y, "");
}

static LLVMValueRef printed_length(struct emitter *e, const struct instr_event *event)
{
	LLVMBuilderRef b = e->u->builder;
	LLVMValueRef result = as_number(e, event->inst, true);
	LLVMValueRef good = LLVMBuildICmp(b, LLVMIntSGE, result, const64(e, 0), "");
	LLVMValueRef n = LLVMBuildAdd(b, result, const64(e, 1), "");
	n = smaller(e, n, limit(e, event, event->libc->a));
	return LLVMBuildSelect(b, good, n, const64(e, 0), "");
}

/* How far a search function read: up to what it found, or `otherwise`. */
static LLVMValueRef found_length(struct emitter *e, const struct instr_event *event, LLVMValueRef otherwise)
{
	LLVMBuilderRef b = e->u->builder;
	LLVMValueRef end = LLVMBuildPtrToInt(b, event->inst, e->u->i64, "");
	LLVMValueRef start = LLVMBuildPtrToInt(b, event->pointer, e->u->i64, "");
	LLVMValueRef n = LLVMBuildAdd(b, LLVMBuildSub(b, end, start, ""), const64(e, 1), "");
	return LLVMBuildSelect(b, LLVMBuildIsNull(b, event->inst, ""), otherwise, n, "");
}

/* The length of a library function's range, for the hook in *hook. */
static LLVMValueRef libc_length(struct emitter *e, const struct instr_event *event, enum instr_hook *hook)
{
	const struct instr_libc *row = event->libc;
	LLVMBuilderRef b = e->u->builder;
	*hook = row->write ? HOOK_WRITE_RANGE : HOOK_READ_RANGE;
	switch (row->length) {
	case LENGTH_FIXED:
		return LLVMBuildSelect(b, LLVMBuildIsNull(b, event->pointer, ""), const64(e, 0),
				       const64(e, row->a), "");
	case LENGTH_ARG:
		return argument(e, event, row->a);
	case LENGTH_ARG_TIMES:
		return LLVMBuildMul(b, argument(e, event, row->a), const64(e, row->b), "");
	case LENGTH_PRODUCT:
		return LLVMBuildMul(b, argument(e, event, row->a), argument(e, event, row->b), "");
	case LENGTH_RESULT:
		return LLVMBuildMul(b, positive_result(e, event), const64(e, row->a), "");
	case LENGTH_RESULT_TIMES:
		return LLVMBuildMul(b, positive_result(e, event), argument(e, event, row->a), "");
	case LENGTH_PRINTED:
		return printed_length(e, event);
	case LENGTH_FOUND:
		if (row->a >= 0)
			return found_length(e, event, argument(e, event, row->a));
		*hook = HOOK_READ_STRING;
		return found_length(e, event, const64(e, UINT64_MAX));
	case LENGTH_STRING:
		*hook = row->write ? HOOK_WRITE_STRING : HOOK_READ_STRING;
		return const64(e, UINT64_MAX);
	case LENGTH_STRING_MAX:
		*hook = row->write ? HOOK_WRITE_STRING : HOOK_READ_STRING;
		return argument(e, event, row->a);
	case LENGTH_STRING_IF:
		*hook = row->write ? HOOK_WRITE_STRING : HOOK_READ_STRING;
		return LLVMBuildSelect(b, LLVMBuildIsNull(b, event->inst, ""), const64(e, 0),
				       argument(e, event, row->a), "");
	case LENGTH_COMMON:
		*hook = HOOK_READ_COMMON;
		return limit(e, event, row->b);
	case LENGTH_COPIED:
		*hook = HOOK_WRITE_COPIED;
		return limit(e, event, row->b);
	case LENGTH_APPENDED:
		*hook = HOOK_WRITE_APPENDED;
		return limit(e, event, row->b);
	}
	RD_BUG("a length without code");
}

static bool takes_two_pointers(enum instr_hook hook)
{
	return hook == HOOK_READ_COMMON || hook == HOOK_WRITE_COPIED || hook == HOOK_WRITE_APPENDED;
}

static void emit_libc(struct emitter *e, const struct instr_event *event)
{
	enum instr_hook hook;
	LLVMValueRef site = make_site(e, event);
	build_at(e, instr_libc_after(event->libc) ? place_after(event->inst) : event->inst);
	LLVMValueRef n = libc_length(e, event, &hook);
	if (takes_two_pointers(hook)) {
		LLVMValueRef other = LLVMGetArgOperand(event->inst, event->libc->a);
		instr_hook_call(e->u, hook, (LLVMValueRef[]){e->self, event->pointer, other, site, n});
	} else {
		instr_hook_call(e->u, hook, (LLVMValueRef[]){e->self, event->pointer, site, n});
	}
}

static void emit_access(struct emitter *e, const struct instr_event *event)
{
	LLVMValueRef site = make_site(e, event);
	build_at(e, event->inst);
	if (event->flags & EVENT_WAIT_LOOP) {
		instr_hook_call(e->u, HOOK_READ_ALWAYS,
				(LLVMValueRef[]){e->self, event->pointer, site, const32(e, event->size)});
		return;
	}
	if (event->kind == EVENT_READ || event->kind == EVENT_WRITE) {
		instr_hook_call(e->u, access_hook(event), (LLVMValueRef[]){e->self, event->pointer, site});
		return;
	}
	LLVMValueRef n = event->size != 0 ? const64(e, event->size) : as_number(e, event->length, false);
	instr_hook_call(e->u, event->kind == EVENT_RANGE_WRITE ? HOOK_WRITE_RANGE : HOOK_READ_RANGE,
			(LLVMValueRef[]){e->self, event->pointer, site, n});
}

/* Whether the atomic operation stored, as a number. */
static LLVMValueRef stored(struct emitter *e, const struct instr_event *event)
{
	LLVMBuilderRef b = e->u->builder;
	if (event->kind != EVENT_ATOMIC_CAS)
		return const32(e, event->kind != EVENT_ATOMIC_LOAD);
	if (LLVMIsAAtomicCmpXchgInst(event->inst))
		return LLVMBuildZExt(b, LLVMBuildExtractValue(b, event->inst, 1, ""), e->u->i32, "");
	if (LLVMGetTypeKind(LLVMTypeOf(event->inst)) != LLVMIntegerTypeKind)
		return const32(e, 1);
	LLVMValueRef zero = LLVMConstNull(LLVMTypeOf(event->inst));
	return LLVMBuildZExt(b, LLVMBuildICmp(b, LLVMIntNE, event->inst, zero, ""), e->u->i32, "");
}

static void emit_atomic(struct emitter *e, const struct instr_event *event)
{
	LLVMValueRef site = make_site(e, event);
	uint64_t what = RADDLE_ATOMIC_WHAT(LLVMConstIntGetZExtValue(site), event->size,
					   event->kind != EVENT_ATOMIC_LOAD);
	build_at(e, event->inst);
	instr_hook_call(e->u, HOOK_ATOMIC_BEGIN, (LLVMValueRef[]){e->self, event->pointer, const64(e, what)});
	build_at(e, place_after(event->inst));
	instr_hook_call(e->u, HOOK_ATOMIC_END,
			(LLVMValueRef[]){e->self, event->pointer, site, stored(e, event)});
}

static bool is_musttail(LLVMValueRef call)
{
	return LLVMGetInstructionOpcode(call) == LLVMCall &&
	       LLVMGetTailCallKind(call) == LLVMTailCallKindMustTail;
}

/* Whether something looks at the stack pointer behind event `i` of its block. */
static bool looked_at_after(const struct emitter *e, size_t i)
{
	const struct instr_function *f = e->f;
	uint32_t block = f->events[i].block;
	for (size_t k = i + 1; k < f->count && f->events[k].block == block; k++)
		if (is_emitted(&f->events[k]))
			return f->events[k].kind != EVENT_CALL;
	const struct ir_graph *g = &f->cfg.graph;
	if (g->succ_start[block] == g->succ_start[block + 1])
		return e->restore_at_exit &&
		       !LLVMIsAUnreachableInst(LLVMGetBasicBlockTerminator(f->cfg.blocks[block]));
	for (uint32_t s = g->succ_start[block]; s < g->succ_start[block + 1]; s++)
		if (e->restore[g->succ[s]])
			return true;
	return false;
}

static void emit_call(struct emitter *e, size_t i)
{
	const struct instr_event *event = &e->f->events[i];
	build_at(e, event->inst);
	/* A callee that takes this function's place takes its place on the call
	 * stack too; else a loop of such calls would run off its end. */
	if (is_musttail(event->inst)) {
		instr_hook_call(e->u, HOOK_RETURN, (LLVMValueRef[]){e->self, e->top});
		return;
	}
	LLVMValueRef site = make_site(e, event);
	instr_hook_call(e->u, HOOK_CALL, (LLVMValueRef[]){e->self, e->top, site});
	if ((event->flags & EVENT_NEVER_RETURNS) || !looked_at_after(e, i))
		return;
	build_at(e, place_after(event->inst));
	instr_hook_call(e->u, HOOK_RETURN, (LLVMValueRef[]){e->self, e->top});
}

static void emit_landing_pads(struct emitter *e)
{
	struct instr_function *f = e->f;
	for (uint32_t b = 0; b < f->cfg.graph.nodes; b++) {
		LLVMValueRef i = LLVMGetFirstInstruction(f->cfg.blocks[b]);
		while (i != NULL && LLVMIsAPHINode(i))
			i = LLVMGetNextInstruction(i);
		if (i == NULL || !LLVMIsALandingPadInst(i))
			continue;
		build_at(e, LLVMGetNextInstruction(i));
		instr_hook_call(e->u, HOOK_RETURN, (LLVMValueRef[]){e->self, e->top});
	}
}

/* Fills e->restore: backwards over the graph until nothing changes. */
static void find_restores(struct emitter *e)
{
	struct instr_function *f = e->f;
	const struct ir_graph *g = &f->cfg.graph;
	int8_t *first = rd_xcalloc(g->nodes + 1, 1); /* first thing in a block: 1 call, 2 other event */
	bool changed = true;
	for (size_t i = f->count; i-- > 0;)
		if (is_emitted(&f->events[i]))
			first[f->events[i].block] = f->events[i].kind == EVENT_CALL ? 1 : 2;
	while (changed) {
		changed = false;
		for (uint32_t k = g->reached; k-- > 0;) {
			uint32_t b = g->order[k];
			bool now = first[b] == 2;
			if (first[b] == 0 && g->succ_start[b] == g->succ_start[b + 1])
				now = e->restore_at_exit;
			for (uint32_t s = g->succ_start[b]; first[b] == 0 && s < g->succ_start[b + 1]; s++)
				now |= e->restore[g->succ[s]];
			changed |= now != e->restore[b];
			e->restore[b] = now;
		}
	}
	free(first);
}

/* Only functions that nobody else can call need not leave the stack as it was. */
static bool has_unknown_callers(LLVMValueRef function)
{
	LLVMLinkage linkage = LLVMGetLinkage(function);
	if (linkage != LLVMInternalLinkage && linkage != LLVMPrivateLinkage)
		return true;
	for (LLVMUseRef u = LLVMGetFirstUse(function); u != NULL; u = LLVMGetNextUse(u)) {
		LLVMValueRef user = LLVMGetUser(u);
		if (!LLVMIsAInstruction(user) || !ir_is_call(user) || LLVMGetCalledValue(user) != function)
			return true;
		unsigned n = LLVMGetNumArgOperands(user);
		for (unsigned i = 0; i < n; i++)
			if (LLVMGetArgOperand(user, i) == function)
				return true;
	}
	return false;
}

static LLVMValueRef entry_place(LLVMValueRef function)
{
	LLVMValueRef i = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(function));
	while (LLVMIsAAllocaInst(i))
		i = LLVMGetNextInstruction(i);
	return i;
}

static void emit(struct instr_function *f)
{
	struct emitter e = {.f = f, .u = f->unit};
	bool any = false, calls = false;
	for (size_t i = 0; i < f->count; i++) {
		any |= is_emitted(&f->events[i]);
		calls |= f->events[i].kind == EVENT_CALL;
	}
	if (!any)
		return;
	build_at(&e, entry_place(f->function));
	e.self = instr_hook_call(e.u, HOOK_ENTER, NULL);
	if (calls)
		e.top = instr_hook_call(e.u, HOOK_STACK, (LLVMValueRef[]){e.self});
	e.restore = rd_xcalloc(f->cfg.graph.nodes + 1, sizeof *e.restore);
	e.restore_at_exit = has_unknown_callers(f->function);
	if (calls)
		find_restores(&e);
	for (size_t i = 0; i < f->count; i++) {
		const struct instr_event *event = &f->events[i];
		if (!is_emitted(event))
			continue;
		if (event->kind == EVENT_CALL)
			emit_call(&e, i);
		else if (event->kind == EVENT_FENCE)
			build_at(&e, event->inst),
				instr_hook_call(e.u, HOOK_FENCE,
						(LLVMValueRef[]){e.self, make_site(&e, event)});
		else if (is_atomic(event))
			emit_atomic(&e, event);
		else if (event->libc != NULL)
			emit_libc(&e, event);
		else
			emit_access(&e, event);
	}
	if (calls)
		emit_landing_pads(&e);
	free(e.restore);
}

/* Promises a function with hooks no longer keeps; the optimiser would drop
 * calls of it, and events with them. */
static const char *const promises[] = {"memory", "nosync", "nofree", "willreturn", "speculatable"};

static void drop_promises(LLVMValueRef function)
{
	for (size_t i = 0; i < sizeof promises / sizeof *promises; i++) {
		unsigned kind = LLVMGetEnumAttributeKindForName(promises[i], strlen(promises[i]));
		LLVMRemoveEnumAttributeAtIndex(function, LLVMAttributeFunctionIndex, kind);
	}
}

static void drop_call_promises(const struct instr_function *f)
{
	for (size_t i = 0; i < f->count; i++)
		for (size_t k = 0; f->events[i].kind == EVENT_CALL && k < sizeof promises / sizeof *promises;
		     k++) {
			unsigned kind = LLVMGetEnumAttributeKindForName(promises[k], strlen(promises[k]));
			LLVMRemoveCallSiteEnumAttribute(f->events[i].inst, LLVMAttributeFunctionIndex, kind);
		}
}

static bool is_instrumented(struct ir_effects *effects, LLVMValueRef function)
{
	return !LLVMIsDeclaration(function) && LLVMGetLinkage(function) != LLVMAvailableExternallyLinkage &&
	       !ir_starts(ir_name(function), "__raddle_") && !ir_has_attribute(function, "naked") &&
	       !ir_has_attribute(function, "disable_sanitizer_instrumentation") &&
	       !ir_has_attribute(function, "no_sanitize_thread") && !ir_effects_is_early(effects, function);
}

static void instrument_function(struct instr_function *f)
{
	ir_cfg_init(&f->cfg, f->function);
	ir_debug_function(f->unit->sites.debug, f->function);
	instr_scan(f);
	if (!f->unit->options->keep_redundant)
		instr_eliminate(f);
	emit(f);
	drop_call_promises(f);
	ir_cfg_release(&f->cfg);
}

int instr_record(struct instr_unit *u)
{
	struct instr_function f = {.unit = u, .effects = ir_effects_new(u->module)};
	instr_find_wait_reads(u->module, f.effects, &f.wait_reads);
	for (LLVMValueRef function = LLVMGetFirstFunction(u->module); function != NULL;
	     function = LLVMGetNextFunction(function)) {
		if (LLVMGetIntrinsicID(function) != 0 || ir_starts(ir_name(function), "__raddle_"))
			continue;
		if (!LLVMIsDeclaration(function) || !ir_effects_is_quiet(f.effects, ir_name(function)))
			drop_promises(function);
		if (!is_instrumented(f.effects, function))
			continue;
		f.function = function;
		instrument_function(&f);
	}
	free(f.events);
	rd_umap_release(&f.private_objects);
	rd_umap_release(&f.wait_reads);
	ir_effects_free(f.effects);
	return 0;
}
