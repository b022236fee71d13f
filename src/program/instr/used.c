// SPDX-License-Identifier: Apache-2.0
/*
 * Restores the list of symbols that a unit must keep.  When clang embeds bitcode it removes
 * `llvm.compiler.used`, and with it every __attribute__((used)).  So the optimiser would drop
 * static functions and variables that only assembler code or a section's bounds refer to.  Such a
 * symbol is recognised in unoptimised code if one of these is true:
 *
 * - nothing uses it, since clang emits no static symbol that is neither used nor marked;
 * - it has a section of its own;
 * - assembler code of the module mentions its name.
 */
#include "instr/unit-int.h"

#include "base/alloc.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct list {
	LLVMValueRef *items;
	size_t count, capacity;
};

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '$';
}

static bool mentions(const char *text, size_t length, const char *name, size_t n)
{
	const char *at = text, *end = text + length;
	while (n != 0 && (at = memmem(at, (size_t)(end - at), name, n)) != NULL) {
		if ((at == text || !is_word(at[-1])) && (at + n == end || !is_word(at[n])))
			return true;
		at++;
	}
	return false;
}

/* Appends the text of all assembler code in functions.  It is later searched for names. */
static void add_inline_assembler(LLVMModuleRef m, struct rd_buf *text)
{
	for (LLVMValueRef f = LLVMGetFirstFunction(m); f != NULL; f = LLVMGetNextFunction(f))
		for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b != NULL; b = LLVMGetNextBasicBlock(b))
			for (LLVMValueRef i = LLVMGetFirstInstruction(b); i != NULL;
			     i = LLVMGetNextInstruction(i)) {
				if (LLVMIsACallInst(i) == NULL || !LLVMIsAInlineAsm(LLVMGetCalledValue(i)))
					continue;
				size_t n;
				const char *s = LLVMGetInlineAsmAsmString(LLVMGetCalledValue(i), &n);
				rd_buf_add(text, s, n);
				rd_buf_addc(text, '\n');
			}
}

static bool must_stay(LLVMValueRef v, const struct rd_buf *text)
{
	LLVMLinkage linkage = LLVMGetLinkage(v);
	if (LLVMIsDeclaration(v) || (linkage != LLVMInternalLinkage && linkage != LLVMPrivateLinkage))
		return false;
	const char *section = LLVMGetSection(v);
	size_t n;
	const char *name = LLVMGetValueName2(v, &n);
	/* The compiler made this constant, for example as a type description of
	 * -fsanitize=undefined. */
	if (n == 0)
		return false;
	if (LLVMGetFirstUse(v) == NULL || (section != NULL && *section != '\0'))
		return true;
	return mentions(text->data, text->length, name, n);
}

static void consider(struct list *l, LLVMValueRef v, const struct rd_buf *text)
{
	if (!must_stay(v, text))
		return;
	RD_GROW(l->items, l->capacity, l->count + 1);
	l->items[l->count++] = v;
}

void instr_keep_used(struct instr_unit *u)
{
	struct rd_buf text = RD_BUF_INIT;
	struct list l = {0};
	size_t n;
	const char *module_assembler = LLVMGetModuleInlineAsm(u->module, &n);
	rd_buf_add(&text, module_assembler, n);
	rd_buf_addc(&text, '\n');
	add_inline_assembler(u->module, &text);
	for (LLVMValueRef f = LLVMGetFirstFunction(u->module); f != NULL; f = LLVMGetNextFunction(f))
		consider(&l, f, &text);
	for (LLVMValueRef g = LLVMGetFirstGlobal(u->module); g != NULL; g = LLVMGetNextGlobal(g))
		consider(&l, g, &text);
	if (l.count != 0 && LLVMGetNamedGlobal(u->module, "llvm.compiler.used") == NULL) {
		LLVMTypeRef type = LLVMArrayType2(u->pointer, l.count);
		LLVMValueRef used = LLVMAddGlobal(u->module, type, "llvm.compiler.used");
		LLVMSetInitializer(used, LLVMConstArray2(u->pointer, l.items, l.count));
		LLVMSetLinkage(used, LLVMAppendingLinkage);
		LLVMSetSection(used, "llvm.metadata");
	}
	free(l.items);
	rd_buf_release(&text);
}
