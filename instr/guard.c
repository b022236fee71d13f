// SPDX-License-Identifier: Apache-2.0
/*
 * The flavour `guard`: the program as it is shipped, with a test of a flag before each access that has a
 * guard (include/raddle/guard.h), around atomic operations, and around calls that may order threads unseen.
 *
 * Accesses are found as the flavour `record` numbers them, so the code is brought to the same level and
 * scanned in the same way.  The tests go in before the optimiser runs and are inlined at once:
 *
 *   - the calls behind them touch no memory of the program, as far as the optimiser is told, so they keep
 *     nothing from being optimised but the order of synchronisation;
 *   - no store of the program changes a flag.  So a loop without calls tests its flags once, before it, and
 * is there twice: as it was, and with tests.
 */
#include "instr/event.h"

#include "base/alloc.h"
#include "base/error.h"
#include "instr/guards.h"
#include "raddle/event.h"
#include "raddle/guard.h"

#include <stdlib.h>
#include <string.h>

struct guarding {
	uint32_t slot_base, count;	/* of sites so far, as instr/facts.c counts them */
	struct rd_umap callbacks;	/* functions that are handed to unknown ones */
	const struct instr_guards *all; /* what the program has */
};

static LLVMValueRef const32(struct instr_unit *u, uint64_t n)
{
	return LLVMConstInt(u->i32, n, false);
}

static void build_at(struct instr_unit *u, LLVMValueRef inst)
{
	LLVMPositionBuilderBefore(u->builder, inst);
	if (!u->options->debug)
		LLVMSetCurrentDebugLocation2(u->builder, NULL);
}

/* How many bytes; where only the result tells, the first one stands for all. */
static LLVMValueRef size_of(struct instr_unit *u, const struct instr_event *event)
{
	if (event->size != 0)
		return LLVMConstInt(u->i64, event->size, false);
	if (event->libc == NULL && event->length != NULL)
		return LLVMBuildIntCast2(u->builder, event->length, u->i64, false, "");
	LLVMValueRef n = event->libc != NULL && !instr_libc_after(event->libc)
				 ? instr_libc_length_before(u, event)
				 : NULL;
	if (n == NULL || LLVMIsAConstantInt(n))
		return LLVMConstInt(u->i64, 1, false);
	return n;
}

/* A destructor stores the class that is there already, which is no write of the program's; whether another
 * one is stored is not asked here. */
static void emit_access(struct instr_unit *u, const struct instr_event *event, uint64_t guard)
{
	if (instr_event_is_of_vtable(event))
		return;
	build_at(u, event->inst);
	instr_hook_call(u, HOOK_GUARD_TEST,
			(LLVMValueRef[]){event->pointer, const32(u, guard & UINT32_MAX), size_of(u, event),
					 const32(u, guard >> 32)});
}

/* A call that ends what its first pointer leads to, or changes it: of a block that is freed the runtime finds
 * out how large it is (0), of other objects the first byte stands for all. */
static void emit_ended(struct instr_unit *u, LLVMValueRef call, uint64_t guard)
{
	LLVMValueRef callee = ir_callee(call);
	unsigned count = LLVMGetNumArgOperands(call);
	if (callee == NULL || !ir_is_external(callee))
		return;
	const char *name = ir_name(callee);
	bool block = strcmp(name, "free") == 0 || strcmp(name, "realloc") == 0 || ir_starts(name, "_Zd");
	for (unsigned i = 0; i < count; i++) {
		LLVMValueRef argument = LLVMGetOperand(call, i);
		if (LLVMGetTypeKind(LLVMTypeOf(argument)) != LLVMPointerTypeKind)
			continue;
		build_at(u, call);
		instr_hook_call(u, HOOK_GUARD_TEST,
				(LLVMValueRef[]){argument, const32(u, guard & UINT32_MAX),
						 LLVMConstInt(u->i64, !block, false),
						 const32(u, guard >> 32)});
		return;
	}
}

/* ---- what orders threads ---- */

static bool acquires(LLVMAtomicOrdering order)
{
	return order == LLVMAtomicOrderingAcquire || order == LLVMAtomicOrderingAcquireRelease ||
	       order == LLVMAtomicOrderingSequentiallyConsistent;
}

static bool releases(LLVMAtomicOrdering order)
{
	return order == LLVMAtomicOrderingRelease || order == LLVMAtomicOrderingAcquireRelease ||
	       order == LLVMAtomicOrderingSequentiallyConsistent;
}

static void emit_atomic(struct instr_unit *u, const struct instr_event *event)
{
	bool loads = event->kind != EVENT_ATOMIC_STORE, stores = event->kind != EVENT_ATOMIC_LOAD;
	if (stores) {
		uint32_t what = releases(event->order) ? RADDLE_GUARD_RELEASE : RADDLE_GUARD_RELAXED_STORE;
		build_at(u, event->inst);
		instr_hook_call(u, HOOK_GUARD_ATOMIC, (LLVMValueRef[]){event->pointer, const32(u, what)});
	}
	if (loads) {
		uint32_t what = acquires(event->order) ? RADDLE_GUARD_ACQUIRE : RADDLE_GUARD_RELAXED_LOAD;
		build_at(u, instr_place_after(event->inst));
		instr_hook_call(u, HOOK_GUARD_ATOMIC, (LLVMValueRef[]){event->pointer, const32(u, what)});
	}
}

static void emit_fence(struct instr_unit *u, const struct instr_event *event)
{
	uint32_t what = RADDLE_GUARD_FENCE | (acquires(event->order) ? RADDLE_GUARD_ACQUIRE : 0) |
			(releases(event->order) ? RADDLE_GUARD_RELEASE : 0);
	build_at(u, event->inst);
	instr_hook_call(u, HOOK_GUARD_ATOMIC, (LLVMValueRef[]){LLVMConstNull(u->pointer), const32(u, what)});
}

/* A thread leaves for where nobody sees what it does, and comes back. */
static void emit_outside(struct instr_unit *u, LLVMValueRef call, bool returns)
{
	build_at(u, call);
	instr_hook_call(u, HOOK_GUARD_OUTSIDE, (LLVMValueRef[]){const32(u, 1)});
	if (!returns)
		return;
	build_at(u, instr_place_after(call));
	instr_hook_call(u, HOOK_GUARD_OUTSIDE, (LLVMValueRef[]){const32(u, 0)});
}

static void note_callbacks(struct guarding *g, LLVMValueRef call)
{
	unsigned count = LLVMGetNumArgOperands(call);
	for (unsigned i = 0; i < count; i++) {
		LLVMValueRef argument = LLVMGetOperand(call, i);
		if (LLVMIsAFunction(argument) && !LLVMIsDeclaration(argument))
			rd_umap_put(&g->callbacks, (uintptr_t)argument, NULL);
	}
}

static void emit_call(struct instr_unit *u, struct guarding *g, const struct instr_event *event)
{
	LLVMValueRef callee = ir_callee(event->inst);
	uint32_t number;
	if (callee == NULL || !ir_is_external(callee))
		return;
	const char *name = ir_name(callee);
	if (!rd_names_find(&g->all->outside, name, strlen(name), &number))
		return;
	bool tail = LLVMGetInstructionOpcode(event->inst) == LLVMCall &&
		    LLVMGetTailCallKind(event->inst) == LLVMTailCallKindMustTail;
	note_callbacks(g, event->inst);
	emit_outside(u, event->inst, !tail && !(event->flags & EVENT_NEVER_RETURNS));
}

static bool is_foreign_assembler(LLVMValueRef inst)
{
	if (LLVMGetInstructionOpcode(inst) != LLVMCall)
		return false;
	LLVMValueRef called = LLVMGetCalledValue(inst);
	if (!LLVMIsAInlineAsm(called))
		return false;
	size_t n;
	const char *text = LLVMGetInlineAsmAsmString(called, &n);
	const char *constraints = LLVMGetInlineAsmConstraintString(called, &n);
	return !instr_is_fence(text) && strstr(constraints, "memory") != NULL;
}

static void emit_assembler(struct instr_unit *u, struct instr_function *f)
{
	for (uint32_t b = 0; b < f->cfg.graph.nodes; b++)
		for (LLVMValueRef i = LLVMGetFirstInstruction(f->cfg.blocks[b]), next; i != NULL; i = next) {
			next = LLVMGetNextInstruction(i);
			if (is_foreign_assembler(i))
				emit_outside(u, i, true);
		}
}

static void guard_function(struct instr_function *f, void *context)
{
	struct guarding *g = context;
	struct instr_unit *u = f->unit;
	for (size_t i = 0; i < f->count; i++) {
		const struct instr_event *event = &f->events[i];
		const uint64_t *guard = NULL;
		if (instr_event_has_site(event))
			guard = rd_umap_get(&g->all->sites, g->slot_base + ++g->count);
		if (guard != NULL && event->pointer != NULL)
			emit_access(u, event, *guard);
		else if (guard != NULL && event->kind == EVENT_CALL)
			emit_ended(u, event->inst, *guard);
		if (instr_is_atomic(event))
			emit_atomic(u, event);
		else if (event->kind == EVENT_FENCE)
			emit_fence(u, event);
		else if (event->kind == EVENT_CALL)
			emit_call(u, g, event);
	}
	emit_assembler(u, f);
}

/* Who enters the program from outside may have been ordered there. */
static void guard_entries(struct instr_unit *u, struct guarding *g)
{
	for (LLVMValueRef f = LLVMGetFirstFunction(u->module); f != NULL; f = LLVMGetNextFunction(f)) {
		if (rd_umap_get(&g->callbacks, (uintptr_t)f) == NULL)
			continue;
		LLVMValueRef i = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(f));
		while (LLVMIsAAllocaInst(i))
			i = LLVMGetNextInstruction(i);
		build_at(u, i);
		instr_hook_call(u, HOOK_GUARD_OUTSIDE, (LLVMValueRef[]){const32(u, 0)});
	}
}

/* The table goes into the first unit, as data that no linker drops. */
static void carry_table(struct instr_unit *u, const struct rd_buf *table)
{
	struct rd_buf text = RD_BUF_INIT;
	rd_buf_adds(&text, ".pushsection " RADDLE_GUARD_SECTION ",\"aR\",@progbits\n");
	for (const char *at = table->data, *end = at + table->length; at < end;) {
		size_t length = strcspn(at, "\n");
		rd_buf_addf(&text, ".ascii \"%.*s\\n\"\n", (int)length, at);
		at += length + 1;
	}
	rd_buf_adds(&text, ".popsection\n");
	LLVMAppendModuleInlineAsm(u->module, text.data, text.length);
	rd_buf_release(&text);
}

int instr_guard(struct instr_unit *u)
{
	struct guarding g = {.slot_base = (uint32_t)(u->job->slot << RADDLE_SITE_LOCAL_BITS),
			     .all = u->options->guards};
	if (g.all == NULL)
		return rd_fail(RD_EUSAGE, "instr: %s: there is no file of guards", u->name);
	instr_each_function(u, guard_function, &g);
	guard_entries(u, &g);
	if (u->job->carries_table)
		carry_table(u, &g.all->table);
	rd_umap_release(&g.callbacks);
	return 0;
}

/* ---- what the optimiser is told ---- */

static bool is_group(LLVMValueRef pointer)
{
	while (LLVMIsAConstantExpr(pointer) || LLVMIsAGetElementPtrInst(pointer))
		pointer = LLVMGetOperand(pointer, 0);
	return LLVMIsAGlobalVariable(pointer) && strcmp(ir_name(pointer), "__raddle_guard_groups") == 0;
}

/* A scope of its own for the flags: nothing that the program stores is in it. */
static LLVMValueRef make_scope(struct instr_unit *u)
{
	LLVMMetadataRef domain = LLVMMDNodeInContext2(
		u->context, (LLVMMetadataRef[]){LLVMMDStringInContext2(u->context, "raddle.guard", 12)}, 1);
	LLVMMetadataRef scope = LLVMMDNodeInContext2(
		u->context,
		(LLVMMetadataRef[]){LLVMMDStringInContext2(u->context, "raddle.flags", 12), domain}, 2);
	LLVMMetadataRef list = LLVMMDNodeInContext2(u->context, &scope, 1);
	return LLVMMetadataAsValue(u->context, list);
}

static void separate_flags(struct instr_unit *u)
{
	unsigned scope_kind = LLVMGetMDKindIDInContext(u->context, "alias.scope", 11);
	unsigned noalias_kind = LLVMGetMDKindIDInContext(u->context, "noalias", 7);
	LLVMValueRef scope = make_scope(u);
	for (LLVMValueRef f = LLVMGetFirstFunction(u->module); f != NULL; f = LLVMGetNextFunction(f))
		for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b != NULL; b = LLVMGetNextBasicBlock(b))
			for (LLVMValueRef i = LLVMGetFirstInstruction(b); i != NULL;
			     i = LLVMGetNextInstruction(i)) {
				if (LLVMIsALoadInst(i) && is_group(LLVMGetOperand(i, 0)))
					LLVMSetMetadata(i, scope_kind, scope);
				else if (LLVMIsAStoreInst(i) && LLVMGetMetadata(i, noalias_kind) == NULL)
					LLVMSetMetadata(i, noalias_kind, scope);
			}
}

/* The encoding of memory(inaccessiblemem: readwrite). */
enum { ONLY_INACCESSIBLE_MEMORY = 3 << 2 };

static void describe_slow_path(struct instr_unit *u)
{
	static const struct {
		const char *name;
		uint64_t value;
	} facts[] = {{"nounwind", 0}, {"willreturn", 0}, {"memory", ONLY_INACCESSIBLE_MEMORY}};
	LLVMValueRef f = LLVMGetNamedFunction(u->module, "__raddle_guard_access");
	for (size_t i = 0; f != NULL && i < sizeof facts / sizeof *facts; i++) {
		unsigned kind = LLVMGetEnumAttributeKindForName(facts[i].name, strlen(facts[i].name));
		LLVMAddAttributeAtIndex(f, LLVMAttributeFunctionIndex,
					LLVMCreateEnumAttribute(u->context, kind, facts[i].value));
	}
}

int instr_guard_generate(struct instr_unit *u)
{
	/* Functions are inlined before loops are looked at; what unrolls and vectorises comes once. */
	static const char simplify[] = "thinlto-pre-link<O2>,function(loop-mssa(licm,"
				       "simple-loop-unswitch<nontrivial>),simplifycfg)";
	static const char optimise[] = "default<O2>";
	int code = instr_unit_verify(u);
	if (code == 0)
		code = instr_unit_inline(u);
	describe_slow_path(u);
	separate_flags(u);
	if (code == 0 && u->options->fast)
		code = instr_unit_passes(u, simplify);
	if (code == 0 && u->options->fast)
		code = instr_unit_passes(u, optimise);
	instr_unit_step(u, "optimise");
	return code;
}
