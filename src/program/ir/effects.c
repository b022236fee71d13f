/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Determines what the functions of a unit may do.  One walk over the module collects each
 * function's own actions and its callees.  The properties are then propagated from callees to
 * callers until nothing changes.  A function that is not defined here may do anything, unless
 * raddle/libc.inc lists it.  The same holds for a definition that may be replaced at link or load
 * time.
 */
#include "ir/effects.h"

#include "base/alloc.h"
#include "base/map.h"
#include "base/name.h"
#include "ir/value.h"

#include <stdlib.h>
#include <string.h>

struct function_facts {
	LLVMValueRef function;
	uint32_t *callees; /* the numbers of the functions of the unit that this function calls */
	size_t count, capacity;
	bool synchronises; /* true if the function may synchronise */
	bool calls_wait;   /* true if the function calls a function of wait_names itself */
	/* True if the function waits outside of any loop of its own (learn_waits()). */
	bool waits;
	bool early;
	/* What is known about whether the function keeps each parameter: 0 unknown, 1 being
	 * analysed, 2 yes, 3 no. */
	uint8_t *keeps;
};

struct ir_effects {
	struct function_facts *items;
	size_t count;
	struct rd_umap index; /* maps a function to its number */
	struct rd_names quiet;
	/* True if the unit belongs to a shared library.  Its functions with default visibility may
	 * be replaced. */
	bool interposable;
};

static const char *const quiet_names[] = {
#define LIBC_QUIET(name) name,
#include "raddle/libc.inc"
};

static const char *const wait_names[] = {
#define LIBC_WAITS(name) name,
#include "raddle/libc.inc"
};

static bool is_wait_name(const char *name)
{
	return rd_is_one_of(name, wait_names, sizeof wait_names / sizeof *wait_names);
}

bool ir_effects_is_quiet(struct ir_effects *e, const char *name)
{
	uint32_t number;
	return rd_names_find(&e->quiet, name, strlen(name), &number);
}

static struct function_facts *facts_of(struct ir_effects *e, LLVMValueRef function)
{
	const uint64_t *n = rd_umap_get(&e->index, (uintptr_t)function);
	return n != NULL ? &e->items[*n] : NULL;
}

bool ir_effects_is_final(struct ir_effects *e, LLVMValueRef f)
{
	switch (LLVMGetLinkage(f)) {
	case LLVMInternalLinkage:
	case LLVMPrivateLinkage: return true;
	case LLVMLinkOnceODRLinkage:
	case LLVMWeakODRLinkage:
	case LLVMExternalLinkage:
	case LLVMAvailableExternallyLinkage:
		return !e->interposable || LLVMGetVisibility(f) != LLVMDefaultVisibility;
	default: return false;
	}
}

/* Returns true if inline assembler may synchronise threads.  Assembler without side effects and
 * memory accesses only computes.  An empty text is only a compiler barrier. */
static bool asm_synchronises(LLVMValueRef code)
{
	size_t n;
	LLVMGetInlineAsmAsmString(code, &n);
	return n != 0 && LLVMGetInlineAsmHasSideEffects(code);
}

enum call_effect { CALL_NONE, CALL_UNKNOWN, CALL_FUNCTION };

static enum call_effect call_effect(struct ir_effects *e, LLVMValueRef call, struct function_facts **target)
{
	LLVMValueRef called = LLVMGetCalledValue(call), callee = ir_callee(call);
	if (LLVMIsAInlineAsm(called))
		return asm_synchronises(called) ? CALL_UNKNOWN : CALL_NONE;
	if (callee == NULL)
		return CALL_UNKNOWN;
	if (LLVMGetIntrinsicID(callee) != 0)
		return CALL_NONE;
	if (LLVMIsDeclaration(callee))
		return ir_effects_is_quiet(e, ir_name(callee)) || ir_starts(ir_name(callee), "__raddle_")
			       ? CALL_NONE
			       : CALL_UNKNOWN;
	*target = facts_of(e, callee);
	return *target != NULL && ir_effects_is_final(e, callee) ? CALL_FUNCTION : CALL_UNKNOWN;
}

static void collect_action(struct ir_effects *e, struct function_facts *f, LLVMValueRef inst)
{
	struct function_facts *target = NULL;
	switch (LLVMGetInstructionOpcode(inst)) {
	case LLVMLoad:
	case LLVMStore: f->synchronises |= LLVMGetOrdering(inst) != LLVMAtomicOrderingNotAtomic; return;
	case LLVMAtomicRMW:
	case LLVMAtomicCmpXchg:
	case LLVMFence:
	case LLVMCallBr: f->synchronises = true; return;
	case LLVMCall:
	case LLVMInvoke: break;
	default: return;
	}
	enum call_effect effect = call_effect(e, inst, &target);
	f->synchronises |= effect == CALL_UNKNOWN;
	f->calls_wait |= ir_callee(inst) != NULL && is_wait_name(ir_name(ir_callee(inst)));
	if (target == NULL)
		return;
	RD_GROW(f->callees, f->capacity, f->count + 1);
	f->callees[f->count++] = target - e->items;
}

static void collect_actions(struct ir_effects *e)
{
	for (size_t i = 0; i < e->count; i++) {
		struct function_facts *f = &e->items[i];
		for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f->function); b != NULL;
		     b = LLVMGetNextBasicBlock(b))
			for (LLVMValueRef inst = LLVMGetFirstInstruction(b); inst != NULL;
			     inst = LLVMGetNextInstruction(inst))
				collect_action(e, f, inst);
	}
}

/* Calls `learn` for each function until nothing changes.  Most callees precede their callers, so
 * few rounds are needed. */
static void repeat(struct ir_effects *e, bool (*learn)(struct ir_effects *e, struct function_facts *f))
{
	bool changed = true;
	while (changed) {
		changed = false;
		for (size_t i = 0; i < e->count; i++)
			changed |= learn(e, &e->items[i]);
	}
}

static bool learn_synchronises(struct ir_effects *e, struct function_facts *f)
{
	bool before = f->synchronises;
	for (size_t k = 0; k < f->count && !f->synchronises; k++)
		f->synchronises = e->items[f->callees[k]].synchronises;
	return f->synchronises != before;
}

static bool pass_early_on(struct ir_effects *e, struct function_facts *f)
{
	bool changed = false;
	for (size_t k = 0; f->early && k < f->count; k++) {
		struct function_facts *callee = &e->items[f->callees[k]];
		changed |= !callee->early;
		callee->early = true;
	}
	return changed;
}

static void mark_early(struct ir_effects *e, LLVMModuleRef module)
{
	for (LLVMValueRef i = LLVMGetFirstGlobalIFunc(module); i != NULL; i = LLVMGetNextGlobalIFunc(i)) {
		struct function_facts *f = facts_of(e, ir_base(LLVMGetGlobalIFuncResolver(i)));
		if (f != NULL)
			f->early = true;
	}
	repeat(e, pass_early_on);
}

bool ir_effects_has_wait(struct ir_effects *e, LLVMValueRef function)
{
	const struct function_facts *f = facts_of(e, function);
	for (size_t i = 0; f != NULL && i < f->count; i++)
		if (e->items[f->callees[i]].waits)
			return true;
	return f != NULL && f->calls_wait;
}

/* Returns true if the function waits, but not in a loop of its own.  Then a loop around a call of
 * the function is the wait loop. */
static bool waits_outside_loops(struct ir_effects *e, LLVMValueRef function)
{
	struct ir_cfg cfg;
	struct facts_loops loops;
	bool found = false;
	ir_cfg_init(&cfg, function);
	facts_graph_dominators(&cfg.graph);
	facts_loops_init(&loops, &cfg.graph);
	for (uint32_t b = 0; b < cfg.graph.nodes && !found; b++) {
		if (loops.innermost[b] != FACTS_NONE)
			continue;
		for (LLVMValueRef i = LLVMGetFirstInstruction(cfg.blocks[b]); i != NULL;
		     i = LLVMGetNextInstruction(i))
			found |= ir_is_call(i) && ir_effects_waits(e, i);
	}
	facts_loops_release(&loops);
	ir_cfg_release(&cfg);
	return found;
}

/* Finds wrappers of condition waits, and wrappers of such wrappers. */
static bool learn_waits(struct ir_effects *e, struct function_facts *f)
{
	if (f->waits || !ir_effects_has_wait(e, f->function) || !waits_outside_loops(e, f->function))
		return false;
	return f->waits = true;
}

struct ir_effects *ir_effects_new(LLVMModuleRef module)
{
	struct ir_effects *e = rd_xcalloc(1, sizeof *e);
	size_t capacity = 0;
	for (size_t i = 0; i < sizeof quiet_names / sizeof *quiet_names; i++)
		rd_names_put(&e->quiet, quiet_names[i], strlen(quiet_names[i]));
	e->interposable = LLVMGetModuleFlag(module, "PIC Level", 9) != NULL &&
			  LLVMGetModuleFlag(module, "PIE Level", 9) == NULL;
	for (LLVMValueRef f = LLVMGetFirstFunction(module); f != NULL; f = LLVMGetNextFunction(f)) {
		if (LLVMIsDeclaration(f))
			continue;
		RD_GROW(e->items, capacity, e->count + 1);
		e->items[e->count] = (struct function_facts){.function = f};
		e->items[e->count].keeps = rd_xcalloc(LLVMCountParams(f) + 1, 1);
		*rd_umap_put(&e->index, (uintptr_t)f, NULL) = e->count++;
	}
	collect_actions(e);
	repeat(e, learn_synchronises);
	mark_early(e, module);
	repeat(e, learn_waits);
	return e;
}

void ir_effects_free(struct ir_effects *e)
{
	for (size_t i = 0; i < e->count; i++)
		RD_FREE(e->items[i].callees, e->items[i].keeps);
	free(e->items);
	rd_umap_release(&e->index);
	rd_names_release(&e->quiet);
	free(e);
}

bool ir_effects_synchronises(struct ir_effects *e, LLVMValueRef inst)
{
	struct function_facts *target = NULL;
	if (!ir_is_call(inst)) {
		struct function_facts own = {0};
		collect_action(e, &own, inst);
		return own.synchronises;
	}
	enum call_effect effect = call_effect(e, inst, &target);
	return effect == CALL_UNKNOWN || (effect == CALL_FUNCTION && target->synchronises);
}

bool ir_effects_waits(struct ir_effects *e, LLVMValueRef call)
{
	LLVMValueRef callee = ir_callee(call);
	if (callee == NULL)
		return false;
	if (is_wait_name(ir_name(callee)))
		return true;
	const struct function_facts *f = facts_of(e, callee);
	return f != NULL && f->waits;
}

/* Returns true if a library function stores one pointer argument through another. */
static bool stores_pointer(const char *name)
{
	return ir_starts(name, "strto") || ir_starts(name, "__isoc23_strto") || ir_starts(name, "__strtok") ||
	       strcmp(name, "strsep") == 0;
}

bool ir_effects_harmless(void *effects, LLVMValueRef call, unsigned argument)
{
	enum { UNKNOWN, LOOKING, KEEPS, DROPS };
	struct ir_effects *e = effects;
	struct function_facts *target = NULL;
	LLVMValueRef callee = ir_callee(call);
	/* A hook that is already inserted uses the address only as a value. */
	if (callee != NULL && ir_starts(ir_name(callee), "__raddle_"))
		return true;
	/* A quiet function that returns a pointer may return its argument. */
	if (callee != NULL && LLVMIsDeclaration(callee))
		return ir_effects_is_quiet(e, ir_name(callee)) && !stores_pointer(ir_name(callee)) &&
		       (LLVMGetTypeKind(LLVMTypeOf(call)) != LLVMPointerTypeKind ||
			LLVMGetFirstUse(call) == NULL);
	if (call_effect(e, call, &target) != CALL_FUNCTION || argument >= LLVMCountParams(callee))
		return false;
	uint8_t *state = &target->keeps[argument];
	if (*state == UNKNOWN) {
		*state = LOOKING;
		*state = ir_escapes(LLVMGetParam(callee, argument), ir_effects_harmless, e) ? KEEPS : DROPS;
	}
	return *state == DROPS;
}

bool ir_effects_is_early(struct ir_effects *e, LLVMValueRef function)
{
	const struct function_facts *f = facts_of(e, function);
	return f != NULL && f->early;
}
