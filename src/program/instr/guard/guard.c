// SPDX-License-Identifier: Apache-2.0
/*
 * The flavour `guard` is the program as it is shipped, with additions.  Each access that has a
 * guard (raddle/guard.h) is preceded by a mark.  Atomic operations, and calls into other code that
 * may order threads, are surrounded by tests of a flag.
 *
 * Accesses have the same numbers as in the flavour `record`, so the code is brought to the same
 * level and scanned in the same way.  The marks are inserted before the optimiser runs.  After
 * inlining, functions with marks are duplicated (instr/guard/clone.h).  One copy has no marks, and
 * the other has tests in place of the marks.
 */
#include "instr/scan/event.h"

#include "base/alloc.h"
#include "base/error.h"
#include "instr/guard/guards.h"
#include "instr/guard/clone.h"
#include "raddle/event.h"
#include "raddle/guard.h"

#include <stdlib.h>
#include <string.h>

struct guarding {
	/* The site number before the unit's first one, and the number of sites so far, as in
	 * instr/facts.c. */
	uint32_t slot_base, count;
	struct rd_umap callbacks;	/* functions whose address is passed to code outside the program */
	const struct instr_guards *all; /* the guards of the program */
};

static void build_at(struct instr_unit *u, LLVMValueRef inst)
{
	LLVMPositionBuilderBefore(u->builder, inst);
	if (!u->options->debug)
		LLVMSetCurrentDebugLocation2(u->builder, NULL);
}

/* Returns the number of bytes accessed.  If this number is known only after a call has returned,
 * returns 1, so that the first byte represents all bytes. */
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

/* Inserts the mark of an access, except for a store of a vtable pointer.  A destructor mostly
 * stores the vtable pointer that is already there, which is not a write of the program.  Whether
 * the store changes the pointer is not checked here. */
static void emit_access(struct instr_unit *u, const struct instr_event *event, uint32_t guard)
{
	if (instr_event_is_of_vtable(event))
		return;
	build_at(u, event->inst);
	instr_mark(u, event->pointer, size_of(u, event), guard);
}

/* Inserts the mark of a call that frees or changes the object to which its first pointer points.
 * If the call frees the object, the size in the mark is 0, and the runtime determines the real
 * size.  For other calls, the first byte represents the object. */
static void emit_ended(struct instr_unit *u, LLVMValueRef call, uint32_t guard)
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
		instr_mark(u, argument, LLVMConstInt(u->i64, !block, false), guard);
		return;
	}
}

/* ---- synchronisation ---- */

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

static void mark_sync(struct instr_unit *u, LLVMValueRef address, uint32_t number)
{
	instr_mark(u, address, LLVMConstNull(u->i64), number);
}

static void emit_atomic(struct instr_unit *u, const struct instr_event *event)
{
	bool loads = event->kind != EVENT_ATOMIC_STORE, stores = event->kind != EVENT_ATOMIC_LOAD;
	if (stores) {
		uint32_t what = releases(event->order) ? RADDLE_GUARD_RELEASE : RADDLE_GUARD_RELAXED_STORE;
		build_at(u, event->inst);
		mark_sync(u, event->pointer, MARK_ATOMIC + what);
	}
	if (loads) {
		uint32_t what = acquires(event->order) ? RADDLE_GUARD_ACQUIRE : RADDLE_GUARD_RELAXED_LOAD;
		build_at(u, instr_place_after(event->inst));
		mark_sync(u, event->pointer, MARK_ATOMIC + what);
	}
}

static void emit_fence(struct instr_unit *u, const struct instr_event *event)
{
	uint32_t what = RADDLE_GUARD_FENCE | (acquires(event->order) ? RADDLE_GUARD_ACQUIRE : 0) |
			(releases(event->order) ? RADDLE_GUARD_RELEASE : 0);
	build_at(u, event->inst);
	mark_sync(u, LLVMConstNull(u->pointer), MARK_ATOMIC + what);
}

/* Inserts marks where the thread enters code that Raddle did not compile, and where it returns. */
static void emit_outside(struct instr_unit *u, LLVMValueRef call, bool returns)
{
	build_at(u, call);
	mark_sync(u, LLVMConstNull(u->pointer), MARK_OUTSIDE + 1);
	if (!returns)
		return;
	build_at(u, instr_place_after(call));
	mark_sync(u, LLVMConstNull(u->pointer), MARK_OUTSIDE);
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
			emit_access(u, event, (uint32_t)*guard);
		else if (guard != NULL && event->kind == EVENT_CALL)
			emit_ended(u, event->inst, (uint32_t)*guard);
		if (instr_is_atomic(event))
			emit_atomic(u, event);
		else if (event->kind == EVENT_FENCE)
			emit_fence(u, event);
		else if (event->kind == EVENT_CALL)
			emit_call(u, g, event);
	}
	emit_assembler(u, f);
}

/* Inserts marks where a thread enters the program from outside code.  That code may have ordered
 * the thread after other threads. */
static void guard_entries(struct instr_unit *u, struct guarding *g)
{
	for (LLVMValueRef f = LLVMGetFirstFunction(u->module); f != NULL; f = LLVMGetNextFunction(f)) {
		if (rd_umap_get(&g->callbacks, (uintptr_t)f) == NULL)
			continue;
		LLVMValueRef i = LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(f));
		while (LLVMIsAAllocaInst(i))
			i = LLVMGetNextInstruction(i);
		build_at(u, i);
		mark_sync(u, LLVMConstNull(u->pointer), MARK_OUTSIDE);
	}
}

/* Stores lines as data that linkers do not drop. */
static void carry(struct instr_unit *u, const char *section, const struct rd_buf *lines)
{
	struct rd_buf text = RD_BUF_INIT;
	rd_buf_addf(&text, ".pushsection %s,\"aR\",@progbits\n", section);
	for (const char *at = lines->data, *end = at + lines->length; at < end;) {
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
		carry(u, RADDLE_GUARD_SECTION, &g.all->table);
	rd_umap_release(&g.callbacks);
	return 0;
}

/* ---- generating code ---- */

/* Functions whose test is in the program's own code, not in the runtime. */
static const struct {
	const char *name;
	enum instr_hook hook;
} direct[] = {
#define GUARDED_DIRECT_GETS(type, name) {#name, HOOK_GUARD_##name},
#define GUARDED_DIRECT_GIVES(type, name) {#name, HOOK_GUARD_##name},
#include "raddle/guard.inc"
};

static void call_directly(struct instr_unit *u, LLVMValueRef call, enum instr_hook hook)
{
	LLVMTypeRef type = LLVMGetCalledFunctionType(call);
	LLVMTypeKind result = LLVMGetTypeKind(LLVMGetReturnType(type));
	LLVMTypeKind wanted = hook == HOOK_GUARD_free ? LLVMVoidTypeKind : LLVMIntegerTypeKind;
	if (LLVMGetInstructionOpcode(call) != LLVMCall ||
	    LLVMGetTailCallKind(call) == LLVMTailCallKindMustTail || result != wanted ||
	    LLVMCountParamTypes(type) != 1 || LLVMIsFunctionVarArg(type) ||
	    LLVMTypeOf(LLVMGetOperand(call, 0)) != u->pointer)
		return;
	build_at(u, call);
	LLVMValueRef argument = LLVMGetOperand(call, 0), instead = instr_hook_call(u, hook, &argument);
	if (result != LLVMVoidTypeKind)
		LLVMReplaceAllUsesWith(call, instead);
	LLVMInstructionEraseFromParent(call);
}

static void call_all_directly(struct instr_unit *u)
{
	for (size_t i = 0; i < sizeof direct / sizeof *direct; i++) {
		LLVMValueRef f = LLVMGetNamedFunction(u->module, direct[i].name);
		if (f == NULL || !LLVMIsDeclaration(f))
			continue;
		for (LLVMUseRef use = LLVMGetFirstUse(f), next; use != NULL; use = next) {
			LLVMValueRef user = LLVMGetUser(use);
			next = LLVMGetNextUse(use);
			if (LLVMIsACallInst(user) && LLVMGetCalledValue(user) == f &&
			    LLVMGetOperand(user, 0) != f)
				call_directly(u, user, direct[i].hook);
		}
	}
}

/* The encoding of memory(inaccessiblemem: readwrite). */
enum { ONLY_INACCESSIBLE_MEMORY = 3 << 2 };

/* Describes the slow path of a test so that it does not prevent optimisation. */
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

/* Functions are inlined while marks represent the guards, and are copied after that.  This
 * pipeline does what default<O2> does to functions while it inlines them, but without the loop
 * passes, which would treat marks as work in each iteration.  The loop passes run later, when the
 * clean copies are the same as the original program.  Loops with a known small number of
 * iterations are unrolled, because they need no test. */
#define SIMPLIFY_CFG_AND(sink)                                                                               \
	"simplifycfg<bonus-inst-threshold=1;no-forward-switch-cond;switch-range-to-icmp;no-switch-to-"       \
	"lookup;keep-loops;no-hoist-common-insts;" sink                                                      \
	";speculate-blocks;simplify-cond-branch;no-speculate-unpredictables>"
#define SIMPLIFY_CFG SIMPLIFY_CFG_AND("no-sink-common-insts")
/* At the end, calls that are common to several paths are merged.  Otherwise the inliner would
 * count each of them. */
#define SINK SIMPLIFY_CFG_AND("sink-common-insts")
#define COMBINE "instcombine<max-iterations=1;no-use-loop-info;no-verify-fixpoint>"
/* The program's compiler simplified `a && b` while variables were in memory, and made two
 * branches.  Here variables are in registers, so simplification would make one branch and selects.
 * Jump threading runs first to prevent that. */
#define FORK "jump-threading,"
static const char simplify[] =
	"inferattrs,function<eager-inv>(lower-expect," FORK SIMPLIFY_CFG
	",sroa<modify-cfg>,early-cse<>),ipsccp,"
	"called-value-propagation,globalopt,function<eager-inv>(mem2reg," COMBINE "," SIMPLIFY_CFG
	"),always-inline,"
	"require<globals-aa>,function(invalidate<aa>),require<profile-summary>,cgscc(devirt<4>(inline,"
	"function-attrs<skip-non-recursive-function-attrs>,function<eager-inv;no-rerun>(sroa<modify-cfg>,"
	"early-cse<memssa>,jump-threading,correlated-propagation," SIMPLIFY_CFG "," COMBINE
	",aggressive-instcombine,"
	"libcalls-shrinkwrap,tailcallelim," SIMPLIFY_CFG ",loop-mssa(licm<no-allowspeculation>,"
	"loop-rotate<header-duplication;no-prepare-for-lto>,licm<allowspeculation>)," SIMPLIFY_CFG "," COMBINE
	","
	"loop(loop-unroll-full),sroa<modify-cfg>," COMBINE ",gvn<>," COMBINE ",adce," SINK
	"),function-attrs))";

int instr_guard_generate(struct instr_unit *u)
{
	static const char optimise[] = "function(sroa," FORK "verify),default<O2>";
	struct rd_buf regions = RD_BUF_INIT;
	int code = instr_unit_verify(u);
	if (code == 0 && u->options->fast &&
	    instr_has_guards(u)) /* units without guards are optimised as usual */
		code = instr_unit_passes(u, simplify);
	if (code == 0)
		code = instr_clones(u, &regions);
	if (code == 0 && regions.length != 0)
		carry(u, RADDLE_GUARD_REGIONS, &regions);
	rd_buf_release(&regions);
	call_all_directly(u);
	if (code == 0)
		code = instr_unit_verify(u);
	if (code == 0)
		code = instr_unit_inline(u);
	describe_slow_path(u);
	if (code == 0 && u->options->fast)
		code = instr_unit_passes(u, optimise);
	instr_unit_step(u, "optimise");
	return code;
}
