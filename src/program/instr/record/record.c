/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The flavour `record`.  Inserts a hook at every event of a module, and writes the sites of the
 * events to the unit's table.
 *
 * At its entry, a function that has events loads a pointer to the thread's state.  If the function
 * makes calls, it also loads its position on the shadow stack (raddle/abi.h).  A hook precedes its
 * access.  But if only the result of a library function shows how much it has written, the hook
 * follows the call.
 *
 * After a call, the shadow stack pointer is restored only if this is necessary: if an event reads
 * the pointer before the next call sets it again, or if the function may return to a caller that
 * is not instrumented.
 */
#include "instr/scan/event.h"

#include "base/alloc.h"
#include "base/error.h"
#include "raddle/abi.h"

#include <stdlib.h>
#include <string.h>

struct emitter {
	struct instr_function *f;
	struct instr_unit *u;
	LLVMValueRef self, top;
	/* For each block, true if the shadow stack pointer is read between the start of the block
	 * and the next call. */
	bool *restore;
	bool restore_at_exit;
};

/* Returns true if the event gets a hook. */
static bool is_emitted(const struct instr_event *event)
{
	return event->kind != EVENT_FORGET && !(event->flags & EVENT_REDUNDANT);
}

static bool is_musttail(LLVMValueRef call)
{
	return LLVMGetInstructionOpcode(call) == LLVMCall &&
	       LLVMGetTailCallKind(call) == LLVMTailCallKindMustTail;
}

bool instr_event_has_site(const struct instr_event *event)
{
	return is_emitted(event) && !(event->kind == EVENT_CALL && is_musttail(event->inst));
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
	case 1: return write ? HOOK_WRITE1 : HOOK_READ1;
	case 2: return write ? HOOK_WRITE2 : HOOK_READ2;
	case 4: return write ? HOOK_WRITE4 : HOOK_READ4;
	case 8: return write ? HOOK_WRITE8 : HOOK_READ8;
	default: RD_ASSERT(event->size == 16); return write ? HOOK_WRITE16 : HOOK_READ16;
	}
}

static void build_at(struct emitter *e, LLVMValueRef inst)
{
	LLVMPositionBuilderBefore(e->u->builder, inst);
	if (!e->u->options->debug)
		LLVMSetCurrentDebugLocation2(e->u->builder, NULL);
}

static void emit_libc(struct emitter *e, const struct instr_event *event)
{
	RD_ASSERT(event->libc != NULL);
	LLVMValueRef site = instr_event_site(e->u, event);
	build_at(e, instr_libc_after(event->libc) ? instr_place_after(event->inst) : event->inst);
	instr_libc_call(e->u, event, e->self, site);
}

/* A destructor begins by storing the vtable pointer that the object already has.  The source
 * contains no such write, so only a store that changes the pointer is recorded. */
static void emit_vtable(struct emitter *e, const struct instr_event *event, LLVMValueRef site)
{
	LLVMValueRef now = LLVMGetOperand(event->inst, 0);
	LLVMValueRef before = LLVMBuildLoad2(e->u->builder, LLVMTypeOf(now), event->pointer, "");
	LLVMValueRef same = LLVMBuildICmp(e->u->builder, LLVMIntEQ, before, now, "");
	LLVMValueRef n = LLVMBuildSelect(e->u->builder, same, const64(e, 0), const64(e, event->size), "");

	instr_hook_call(e->u, HOOK_WRITE_RANGE, (LLVMValueRef[]){e->self, event->pointer, site, n});
}

static void emit_access(struct emitter *e, const struct instr_event *event)
{
	LLVMValueRef site = instr_event_site(e->u, event);
	build_at(e, event->inst);
	if (instr_event_is_of_vtable(event)) {
		emit_vtable(e, event, site);
		return;
	}
	if (event->flags & EVENT_WAIT_LOOP) {
		instr_hook_call(e->u, HOOK_READ_ALWAYS,
				(LLVMValueRef[]){e->self, event->pointer, site, const32(e, event->size)});
		return;
	}
	if (event->kind == EVENT_READ || event->kind == EVENT_WRITE) {
		instr_hook_call(e->u, access_hook(event), (LLVMValueRef[]){e->self, event->pointer, site});
		return;
	}
	LLVMValueRef n = event->size != 0
				 ? const64(e, event->size)
				 : LLVMBuildIntCast2(e->u->builder, event->length, e->u->i64, false, "");
	instr_hook_call(e->u, event->kind == EVENT_RANGE_WRITE ? HOOK_WRITE_RANGE : HOOK_READ_RANGE,
			(LLVMValueRef[]){e->self, event->pointer, site, n});
}

static void emit_atomic(struct emitter *e, const struct instr_event *event)
{
	RD_ASSERT(instr_is_atomic(event) && event->pointer != NULL);
	LLVMValueRef site = instr_event_site(e->u, event);
	uint64_t what = instr_atomic_what(event, site);
	build_at(e, event->inst);
	instr_hook_call(e->u, HOOK_ATOMIC_BEGIN, (LLVMValueRef[]){e->self, event->pointer, const64(e, what)});
	build_at(e, instr_place_after(event->inst));
	instr_hook_call(e->u, HOOK_ATOMIC_END,
			(LLVMValueRef[]){e->self, event->pointer, site, instr_atomic_stored(e->u, event)});
}

/* Returns true if, after event `i`, something reads the shadow stack pointer before the next call
 * sets it. */
static bool looked_at_after(const struct emitter *e, size_t i)
{
	RD_ASSERT(i < e->f->count);
	const struct instr_function *f = e->f;
	uint32_t block = f->events[i].block;
	for (size_t k = i + 1; k < f->count && f->events[k].block == block; k++)
		if (is_emitted(&f->events[k]))
			return f->events[k].kind != EVENT_CALL;
	const struct facts_graph *g = &f->cfg.graph;
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
	RD_ASSERT(i < e->f->count);
	const struct instr_event *event = &e->f->events[i];
	build_at(e, event->inst);
	/* In a tail call, the callee replaces this function, so it also gets this function's place
	 * on the shadow stack.  Otherwise a loop of tail calls would overflow the shadow stack. */
	if (is_musttail(event->inst)) {
		instr_hook_call(e->u, HOOK_RETURN, (LLVMValueRef[]){e->self, e->top});
		return;
	}
	LLVMValueRef site = instr_event_site(e->u, event);
	instr_hook_call(e->u, HOOK_CALL, (LLVMValueRef[]){e->self, e->top, site});
	if ((event->flags & EVENT_NEVER_RETURNS) || !looked_at_after(e, i))
		return;
	build_at(e, instr_place_after(event->inst));
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

/* Fills e->restore by a backward analysis of the flow graph, repeated until nothing changes. */
static void find_restores(struct emitter *e)
{
	struct instr_function *f = e->f;
	const struct facts_graph *g = &f->cfg.graph;
	/* The first event in each block: 1 for a call, 2 for another event. */
	int8_t *first = rd_xcalloc(g->nodes + 1, 1);
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

/* Returns true if the function may have callers that are not known here.  A function without such
 * callers need not restore the top of the shadow stack. */
static bool has_unknown_callers(LLVMValueRef function)
{
	LLVMLinkage linkage = LLVMGetLinkage(function);
	if (linkage != LLVMInternalLinkage && linkage != LLVMPrivateLinkage)
		return true;
	return ir_address_taken(function);
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
						(LLVMValueRef[]){e.self, instr_event_site(e.u, event)});
		else if (instr_is_atomic(event))
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

static void emit_function(struct instr_function *f, void *context)
{
	(void)context;
	emit(f);
	for (size_t i = 0; i < f->count; i++)
		if (f->events[i].kind == EVENT_CALL)
			instr_drop_call_promises(f->events[i].inst);
}

void instr_each_function(struct instr_unit *u, instr_function_fn *fn, void *context)
{
	struct instr_function f = {.unit = u, .effects = ir_effects_new(u->module)};
	instr_find_wait_reads(u->module, f.effects, &f.wait_reads);
	for (LLVMValueRef function = LLVMGetFirstFunction(u->module); function != NULL;
	     function = LLVMGetNextFunction(function)) {
		if (LLVMGetIntrinsicID(function) != 0 || ir_starts(ir_name(function), "__raddle_"))
			continue;
		if (!LLVMIsDeclaration(function) || !ir_effects_is_quiet(f.effects, ir_name(function)))
			instr_drop_promises(function);
		if (!instr_is_instrumented(f.effects, function))
			continue;
		f.function = function;
		ir_cfg_init(&f.cfg, function);
		ir_debug_function(u->sites.debug, function);
		instr_scan(&f);
		if (!u->options->keep_redundant)
			instr_eliminate(&f);
		fn(&f, context);
		ir_cfg_release(&f.cfg);
	}
	free(f.events);
	RD_UMAP_RELEASE(&f.private_objects, &f.wait_reads);
	ir_effects_free(f.effects);
}

int instr_record(struct instr_unit *u)
{
	instr_each_function(u, emit_function, NULL);
	return 0;
}

int instr_record_generate(struct instr_unit *u)
{
	static const char optimise[] = "function(early-cse),default<O2>";
	static const char clean_up[] = "function(early-cse,loop-mssa(licm),loop-vectorize,slp-vectorizer,"
				       "instcombine<no-verify-fixpoint>,simplifycfg)";
	int code = instr_unit_verify(u);
	if (code == 0)
		instr_keep_waiting(u);
	if (code == 0 && u->options->fast)
		code = instr_unit_passes(u, optimise);
	instr_unit_step(u, "optimise");
	if (code == 0 && u->options->fast && !u->options->keep_redundant) {
		instr_late(u);
		code = instr_unit_verify(u);
	}
	instr_unit_step(u, "late");
	return code ? code : instr_unit_finish(u, clean_up);
}
