/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Declares and inlines hooks.  A hook is declared when it is first used.  Hooks that are inlined
 * in this mode get their bodies at the end: the bitcode of the flavour's hooks (rt/record/hook.c
 * and others) is linked into the unit and made internal, and the always-inline pass inlines them.
 * Large functions of large units call the hooks instead.  The other hooks are functions of the
 * runtime.
 *
 * Most hooks are declared to the optimiser as touching only memory that no other code can access.
 * So they keep their order among themselves and relative to calls, while the program's own loads
 * and stores are optimised as if there were no hooks.  The exceptions are hooks that are barriers
 * or read the program's memory, and all hooks of flavours whose events carry values.
 */
#include "instr/unit-int.h"

#include "base/alloc.h"
#include "base/error.h"
#include "ir/value.h"

#include <llvm-c/BitReader.h>
#include <llvm-c/Linker.h>
#include <stdlib.h>
#include <string.h>

/* The largest number of tests that are inlined into a unit.  Such a test checks whether an access
 * is the first to its bytes in the segment. */
enum { MAX_INLINED = 6000 };

struct hook_row {
	const char *name, *signature;
	enum instr_inlined inlined;
};

static const struct hook_row rows[] = {
#define HOOK_ROW(id, name, signature, inlined) {name, signature, HOOK_INLINED_##inlined},
	INSTR_HOOKS(HOOK_ROW)
#undef HOOK_ROW
};

/* The encoding of memory(inaccessiblemem: readwrite).  There are two bits for each location, and
 * inaccessible memory is the second location. */
enum { ONLY_INACCESSIBLE_MEMORY = 3 << 2 };

static LLVMTypeRef letter_type(const struct instr_unit *u, char letter)
{
	switch (letter) {
	case 'p': return u->pointer;
	case 'i': return u->i32;
	case 'l': return u->i64;
	case 'b': return LLVMInt1TypeInContext(u->context);
	default: return u->nothing;
	}
}

static void add_attribute(struct instr_unit *u, LLVMValueRef f, const char *name, uint64_t value)
{
	unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
	RD_ASSERT(kind != 0);
	LLVMAddAttributeAtIndex(f, LLVMAttributeFunctionIndex,
				LLVMCreateEnumAttribute(u->context, kind, value));
}

/* Returns true if the hook is a barrier to the optimiser.  Hooks of atomic operations and fences
 * are barriers, because these operations order the program's accesses.  The hooks around a tracked
 * access are barriers too, because the access must stay between them. */
static bool is_barrier(enum instr_hook hook)
{
	return hook == HOOK_ATOMIC_BEGIN || hook == HOOK_ATOMIC_END || hook == HOOK_FENCE ||
	       hook == HOOK_TRACK_ENTER || hook == HOOK_TRACK_LEAVE || hook == HOOK_TRACK_POINT ||
	       (hook >= HOOK_GUARD_pthread_mutex_lock && hook <= HOOK_GUARD_free);
}

/* Returns true if a hook reads the program's memory. */
static bool looks(enum instr_hook hook)
{
	return hook == HOOK_READ_STRING || hook == HOOK_WRITE_STRING || hook == HOOK_READ_COMMON ||
	       hook == HOOK_WRITE_COPIED || hook == HOOK_WRITE_APPENDED || hook == HOOK_READABLE ||
	       hook == HOOK_VECTOR;
}

/* Returns true if a hook belongs to the flavour `shadow`.  The hooks of this flavour read the
 * program's memory and the results of calls. */
static bool follows(enum instr_hook hook)
{
	return hook >= HOOK_SX_BIN && hook <= HOOK_SX_MADE;
}

static void declare(struct instr_unit *u, enum instr_hook hook)
{
	const struct hook_row *row = &rows[hook];
	LLVMTypeRef parameters[8];
	unsigned n = strlen(row->signature) - 1;
	RD_ASSERT(n <= 8);
	for (unsigned i = 0; i < n; i++)
		parameters[i] = letter_type(u, row->signature[i + 1]);
	u->hook_types[hook] = LLVMFunctionType(letter_type(u, row->signature[0]), parameters, n, false);
	u->hooks[hook] = LLVMGetNamedFunction(u->module, row->name);
	if (u->hooks[hook] == NULL)
		u->hooks[hook] = LLVMAddFunction(u->module, row->name, u->hook_types[hook]);
	add_attribute(u, u->hooks[hook], "nounwind", 0);
	if (!u->options->flavour->values && !is_barrier(hook) && !looks(hook) && !follows(hook)) {
		add_attribute(u, u->hooks[hook], "willreturn", 0);
		add_attribute(u, u->hooks[hook], "memory", hook == HOOK_ENTER ? 0 : ONLY_INACCESSIBLE_MEMORY);
	}
}

LLVMValueRef instr_hook_call(struct instr_unit *u, enum instr_hook hook, LLVMValueRef *arguments)
{
	RD_ASSERT((unsigned)hook < HOOK_COUNT);
	if (u->hooks[hook] == NULL || u->hook_types[hook] == NULL)
		declare(u, hook);
	unsigned n = strlen(rows[hook].signature) - 1;
	return LLVMBuildCall2(u->builder, u->hook_types[hook], u->hooks[hook], arguments, n, "");
}

void instr_hook_refresh(struct instr_unit *u)
{
	for (int i = 0; i < HOOK_COUNT; i++)
		u->hooks[i] = LLVMGetNamedFunction(u->module, rows[i].name);
}

/* Drops the attributes that state for which machine the hooks were compiled, because those of the
 * user's function apply instead. */
static void adopt(LLVMValueRef f)
{
	static const char *const machine[] = {"target-cpu", "target-features", "tune-cpu", "frame-pointer"};
	LLVMSetLinkage(f, LLVMInternalLinkage);
	LLVMSetVisibility(f, LLVMDefaultVisibility);
	for (size_t i = 0; i < sizeof machine / sizeof *machine; i++)
		LLVMRemoveStringAttributeAtIndex(f, LLVMAttributeFunctionIndex, machine[i],
						 strlen(machine[i]));
}

static int load_hooks(struct instr_unit *u, LLVMModuleRef *hooks)
{
	LLVMMemoryBufferRef buffer;
	char *message = NULL;
	if (LLVMCreateMemoryBufferWithContentsOfFile(u->options->hooks, &buffer, &message)) {
		int code = rd_fail(RD_ENOTFOUND, "instr: %s: %s", u->options->hooks, message);
		LLVMDisposeMessage(message);
		return code;
	}
	bool bad = LLVMParseBitcodeInContext2(u->context, buffer, hooks);
	LLVMDisposeMemoryBuffer(buffer);
	if (bad)
		return rd_fail(RD_EFORMAT, "instr: %s: not the bitcode of the hooks", u->options->hooks);
	LLVMSetTarget(*hooks, LLVMGetTarget(u->module));
	LLVMSetDataLayout(*hooks, LLVMGetDataLayoutStr(u->module));
	return 0;
}

static bool is_wanted(const struct instr_unit *u, enum instr_hook hook)
{
	if (u->hooks[hook] == NULL)
		return false;
	return rows[hook].inlined == HOOK_INLINED_ALWAYS ||
	       (rows[hook].inlined == HOOK_INLINED_FAST && u->options->fast);
}

static bool is_test(const struct instr_unit *u, LLVMValueRef inst)
{
	if (LLVMGetInstructionOpcode(inst) != LLVMCall)
		return false;
	LLVMValueRef callee = LLVMGetCalledValue(inst);
	for (int i = 0; i < HOOK_COUNT; i++)
		if (callee == u->hooks[i])
			return rows[i].inlined == HOOK_INLINED_FAST;
	return false;
}

/* Prepares a function's calls of hooks that contain tests.  Returns the number of such calls. */
static size_t mark_tests(const struct instr_unit *u, LLVMValueRef f, LLVMAttributeRef attribute)
{
	size_t n = 0;
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b != NULL; b = LLVMGetNextBasicBlock(b))
		for (LLVMValueRef i = LLVMGetFirstInstruction(b); i != NULL; i = LLVMGetNextInstruction(i)) {
			if (!is_test(u, i))
				continue;
			LLVMSetInstructionCallConv(i, LLVMPreserveMostCallConv);
			if (attribute != NULL)
				LLVMAddCallSiteAttribute(i, LLVMAttributeFunctionIndex, attribute);
			n++;
		}
	return n;
}

static int by_size(const void *a, const void *b)
{
	size_t x = *(const size_t *)a, y = *(const size_t *)b;
	return (x > y) - (x < y);
}

/* Returns the limit for inlining.  Tests are inlined in functions up to this size.  In larger functions,
 * the sum of all sizes would exceed MAX_INLINED. */
static size_t largest_inlined(size_t *sizes, size_t count)
{
	size_t sum = 0;
	qsort(sizes, count, sizeof *sizes, by_size);
	for (size_t i = 0; i < count; i++) {
		sum += sizes[i];
		if (sum > MAX_INLINED)
			return i > 0 ? sizes[i - 1] : 0;
	}
	return SIZE_MAX;
}

/* Keeps some tests as calls.  Generating code for an inlined test takes three times as long as for
 * an access and a call of the test together.  So large units inline tests only in their smallest
 * functions.  A called test preserves registers, as the runtime's slow path does. */
static void keep_calls(struct instr_unit *u)
{
	unsigned kind = LLVMGetEnumAttributeKindForName("noinline", strlen("noinline"));
	LLVMAttributeRef noinline = LLVMCreateEnumAttribute(u->context, kind, 0);
	size_t *sizes = NULL, *sorted, count = 0, capacity = 0, k = 0;
	for (int i = 0; i < HOOK_COUNT; i++)
		if (u->hooks[i] != NULL && rows[i].inlined == HOOK_INLINED_FAST)
			LLVMSetFunctionCallConv(u->hooks[i], LLVMPreserveMostCallConv);
	for (LLVMValueRef f = LLVMGetFirstFunction(u->module); f != NULL; f = LLVMGetNextFunction(f)) {
		RD_GROW(sizes, capacity, count + 1);
		sizes[count++] = mark_tests(u, f, NULL);
	}
	sorted = rd_xcalloc(count + 1, sizeof *sorted);
	for (size_t i = 0; i < count; i++)
		sorted[i] = sizes[i];
	size_t limit = largest_inlined(sorted, count);
	for (LLVMValueRef f = LLVMGetFirstFunction(u->module); f != NULL; f = LLVMGetNextFunction(f))
		if (sizes[k++] > limit)
			mark_tests(u, f, noinline);
	free(sizes);
	free(sorted);
}

int instr_hook_link(struct instr_unit *u)
{
	LLVMModuleRef hooks;
	int code = load_hooks(u, &hooks);
	if (code != 0)
		return code;
	instr_hook_refresh(u);
	for (int i = 0; i < HOOK_COUNT; i++) {
		LLVMValueRef f = LLVMGetNamedFunction(hooks, rows[i].name);
		if (is_wanted(u, i) && (f == NULL || LLVMIsDeclaration(f))) {
			LLVMDisposeModule(hooks);
			return rd_fail(RD_EFORMAT, "instr: %s: does not define %s", u->options->hooks,
				       rows[i].name);
		}
		if (f != NULL && !is_wanted(u, i) && !LLVMIsDeclaration(f))
			LLVMDeleteFunction(f);
	}
	if (LLVMLinkModules2(u->module, hooks))
		return rd_fail(RD_ETOOL, "instr: %s: hooks do not link: %s", u->name, u->diagnostics.data);
	for (int i = 0; i < HOOK_COUNT; i++)
		if (is_wanted(u, i))
			adopt(LLVMGetNamedFunction(u->module, rows[i].name));
	instr_hook_refresh(u);
	if (u->options->fast)
		keep_calls(u);
	return 0;
}
