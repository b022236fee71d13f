/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Instruments a module, given as text, with the code of raddle-instr, and runs it in this process.
 * The test supplies a table of functions, one for each hook, so it sees what the instrumented code
 * reports, in order.
 *
 * In production, some hooks are inlined from bitcode.  Here, a module in this file replaces these
 * hooks by functions that call those of the test.
 */
#ifndef TEST_INSTR_JIT_H
#define TEST_INSTR_JIT_H

#include "base/alloc.h"
#include "base/buf.h"
#include "base/scratch.h"
#include "instr/unit-int.h"
#include "test/unit/ir-text.h"

#include <llvm-c/BitWriter.h>
#include <llvm-c/ExecutionEngine.h>

#include <stdio.h>
#include <stdlib.h>

#define INSTR_JIT_HEAD                                                                                       \
	"target datalayout = "                                                                               \
	"\"e-m:e-p270:32:32-p271:32:32-p272:64:64-i64:64-i128:128-f80:128-n8:16:32:64-S128\"\n"              \
	"target triple = \"x86_64-pc-linux-gnu\"\n"

struct instr_jit {
	struct instr_options options;
	struct instr_job job;
	struct instr_unit u;
	char *directory, *hooks;
	LLVMExecutionEngineRef engine;
};

struct instr_jit_symbol {
	const char *name;
	void *function;
};

static const struct {
	const char *name, *signature;
	enum instr_inlined inlined;
} instr_jit_hooks[] = {
#define INSTR_JIT_HOOK(id, name, signature, inlined) {name, signature, HOOK_INLINED_##inlined},
	INSTR_HOOKS(INSTR_JIT_HOOK)
#undef INSTR_JIT_HOOK
};

static inline const char *instr_jit_type(char letter)
{
	switch (letter) {
	case 'p': return "ptr";
	case 'i': return "i32";
	case 'l': return "i64";
	case 'b': return "i1";
	default: return "void";
	}
}

static inline void instr_jit_parameters(struct rd_buf *text, const char *signature)
{
	for (int i = 1; signature[i]; i++)
		rd_buf_addf(text, "%s%s %%a%d", i > 1 ? ", " : "", instr_jit_type(signature[i]), i);
}

/* Adds a hook that calls the test's function `test_NAME`.  It has the attributes that the
 * instrumenter gives to hooks. */
static inline void instr_jit_add_hook(struct rd_buf *text, const char *name, const char *signature)
{
	const char *type = instr_jit_type(signature[0]);

	rd_buf_addf(text, "declare %s @test_%s(", type, name);
	instr_jit_parameters(text, signature);
	rd_buf_addf(text, ") nounwind willreturn memory(inaccessiblemem: readwrite)\ndefine %s @%s(", type,
		    name);
	instr_jit_parameters(text, signature);
	rd_buf_addf(text, ") alwaysinline nounwind {\n  %scall %s @test_%s(",
		    signature[0] == 'v' ? "" : "%r = ", type, name);
	instr_jit_parameters(text, signature);
	rd_buf_addf(text, ")\n  ret %s%s\n}\n", type, signature[0] == 'v' ? "" : " %r");
}

/* Parses a module and writes it to a bitcode file.  The caller frees the path. */
static inline char *instr_jit_write(const char *directory, const char *name, const char *text)
{
	LLVMContextRef context = LLVMContextCreate();
	LLVMModuleRef module = ir_text_parse(context, text);
	struct rd_buf path = RD_BUF_INIT;

	rd_buf_addf(&path, "%s/%s.bc", directory, name);
	assert_int_equal(LLVMWriteBitcodeToFile(module, path.data), 0);
	LLVMDisposeModule(module);
	LLVMContextDispose(context);
	return path.data;
}

static inline char *instr_jit_write_hooks(const char *directory)
{
	struct rd_buf text = RD_BUF_INIT;
	char *path;

	rd_buf_adds(&text, INSTR_JIT_HEAD);
	for (int i = 0; i < HOOK_COUNT; i++)
		if (instr_jit_hooks[i].inlined != HOOK_INLINED_NEVER)
			instr_jit_add_hook(&text, instr_jit_hooks[i].name, instr_jit_hooks[i].signature);
	path = instr_jit_write(directory, "hooks", text.data);
	rd_buf_release(&text);
	return path;
}

/* Creates a directory for the files of the unit.  It is removed together with the unit. */
static inline void instr_jit_begin(struct instr_jit *j)
{
	instr_target_init();
	assert_int_equal(rd_scratch_open(&j->directory, NULL, "u-instr"), 0);
}

/* Reads a module from a bitcode file and prepares it for analysis.  The caller may set j->options,
 * but not its flavour and hooks.  Returns the result of instr_unit_open(). */
static inline int instr_jit_open_file(struct instr_jit *j, enum raddle_flavour_number flavour,
				      const char *path)
{
	int code;

	j->job.source = rd_xstrdup(path);
	j->hooks = instr_jit_write_hooks(j->directory);
	j->options.hooks = j->hooks;
	j->options.flavour = raddle_flavour(flavour);
	j->u = (struct instr_unit){.options = &j->options, .job = &j->job, .context = LLVMContextCreate()};
	code = instr_unit_open(&j->u);
	if (code == 0)
		instr_sites_init(&j->u.sites, j->job.slot, j->u.module);
	return code;
}

/* Does the same for a module that is given as text. */
static inline int instr_jit_open(struct instr_jit *j, enum raddle_flavour_number flavour, const char *text)
{
	struct rd_buf whole = RD_BUF_INIT;
	char *path;
	int code;

	instr_jit_begin(j);
	rd_buf_addf(&whole, "%s%s", INSTR_JIT_HEAD, text);
	path = instr_jit_write(j->directory, "unit", whole.data);
	code = instr_jit_open_file(j, flavour, path);
	rd_buf_release(&whole);
	free(path);
	return code;
}

static inline int instr_jit_instrument(struct instr_jit *j)
{
	switch (j->options.flavour->number) {
#define RADDLE_FLAVOUR(constant, name, layers, bytes, values)                                                \
	case RADDLE_FLAVOUR_##constant:                                                                      \
		return instr_##name(&j->u);
#include "raddle/flavour.inc"
#undef RADDLE_FLAVOUR
	default: return -1;
	}
}

/* Runs the steps of `raddle-instr` between instrumentation and code generation, and those steps of
 * code generation that depend on the flavour. */
static inline int instr_jit_generate(struct instr_jit *j)
{
	LLVMStripModuleDebugInfo(j->u.module);
	switch (j->options.flavour->number) {
#define RADDLE_FLAVOUR(constant, name, layers, bytes, values)                                                \
	case RADDLE_FLAVOUR_##constant:                                                                      \
		return instr_##name##_generate(&j->u);
#include "raddle/flavour.inc"
#undef RADDLE_FLAVOUR
	default: return -1;
	}
}

static inline void instr_jit_map(struct instr_jit *j, const char *name, void *function)
{
	LLVMValueRef f = LLVMGetNamedFunction(j->u.module, name);

	if (f != NULL && LLVMIsDeclaration(f) && LLVMGetFirstUse(f) != NULL) {
		if (function == NULL)
			fail_msg("the code calls %s, which this test has no function for", name);
		LLVMAddGlobalMapping(j->engine, f, function);
	}
}

/* Generates code for this process.  The module calls the functions in `hooks` and `others`. */
static inline void instr_jit_load(struct instr_jit *j, void *const hooks[HOOK_COUNT],
				  const struct instr_jit_symbol *others, size_t count)
{
	struct LLVMMCJITCompilerOptions options;
	char *message = NULL, name[96];

	LLVMLinkInMCJIT();
	LLVMInitializeMCJITCompilerOptions(&options, sizeof options);
	options.OptLevel = 0;
	options.CodeModel = LLVMCodeModelLarge;
	if (LLVMCreateMCJITCompilerForModule(&j->engine, j->u.module, &options, sizeof options, &message))
		fail_msg("%s", message);
	for (int i = 0; i < HOOK_COUNT; i++) {
		instr_jit_map(j, instr_jit_hooks[i].name, hooks[i]);
		snprintf(name, sizeof name, "test_%s", instr_jit_hooks[i].name);
		instr_jit_map(j, name, hooks[i]);
	}
	for (size_t i = 0; i < count; i++)
		instr_jit_map(j, others[i].name, others[i].function);
}

static inline void *instr_jit_find(struct instr_jit *j, const char *name)
{
	uint64_t address = LLVMGetFunctionAddress(j->engine, name);

	assert_true(address != 0);
	return (void *)(uintptr_t)address;
}

static inline void *instr_jit_variable(struct instr_jit *j, const char *name)
{
	uint64_t address = LLVMGetGlobalValueAddress(j->engine, name);

	assert_true(address != 0);
	return (void *)(uintptr_t)address;
}

static inline void instr_jit_close(struct instr_jit *j)
{
	if (j->u.sites.debug != NULL)
		instr_sites_release(&j->u.sites);
	if (j->engine != NULL) {
		LLVMDisposeExecutionEngine(j->engine);
		j->u.module = NULL;
	}
	instr_unit_close(&j->u, 0);
	LLVMContextDispose(j->u.context);
	rd_scratch_close(j->directory);
	free(j->job.source);
	free(j->hooks);
}

/* ---- the inserted hooks, as text ---- */

static inline void instr_jit_say_operand(struct rd_buf *out, LLVMValueRef v)
{
	size_t n;
	const char *name = LLVMGetValueName2(v, &n);

	if (LLVMIsAConstantInt(v))
		rd_buf_addf(out, "%lld", (long long)LLVMConstIntGetSExtValue(v));
	else if (LLVMIsAConstantPointerNull(v))
		rd_buf_adds(out, "null");
	else if (n != 0)
		rd_buf_addf(out, "%.*s", (int)n, name);
	else
		rd_buf_adds(out, "?");
}

/* Lists the hooks of a function in code order.  Their arguments are shown without the thread's
 * state and stack position.  Each named instruction appears as `=NAME`: "enter read4(x,1) =a". */
static inline char *instr_jit_say(struct instr_jit *j, const char *function)
{
	LLVMValueRef f = LLVMGetNamedFunction(j->u.module, function);
	struct rd_buf out = RD_BUF_INIT;

	assert_non_null(f);
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b != NULL; b = LLVMGetNextBasicBlock(b))
		for (LLVMValueRef i = LLVMGetFirstInstruction(b); i != NULL; i = LLVMGetNextInstruction(i)) {
			size_t n;
			const char *own = LLVMGetValueName2(i, &n), *name;
			LLVMValueRef callee = LLVMIsACallInst(i) ? LLVMGetCalledValue(i) : NULL;
			bool first = true;

			if (n != 0)
				rd_buf_addf(&out, "%s=%s", out.length ? " " : "", own);
			name = callee != NULL ? LLVMGetValueName2(callee, &n) : "";
			if (strncmp(name, "__raddle_", 9) != 0)
				continue;
			rd_buf_addf(&out, "%s%s", out.length ? " " : "", name + 9);
			for (unsigned k = 0; k < LLVMGetNumArgOperands(i); k++) {
				LLVMValueRef v = LLVMGetArgOperand(i, k);

				if (LLVMIsACallInst(v) && LLVMIsAFunction(LLVMGetCalledValue(v)) &&
				    !strncmp(LLVMGetValueName2(LLVMGetCalledValue(v), &n), "__raddle_", 9))
					continue;
				rd_buf_addc(&out, first ? '(' : ',');
				first = false;
				instr_jit_say_operand(&out, v);
			}
			if (!first)
				rd_buf_addc(&out, ')');
		}
	return out.length ? out.data : rd_xstrdup("");
}

#endif
