/* SPDX-License-Identifier: Apache-2.0 */
/*
 * LLVM modules written as text, for tests of raddle-instr.  The values of a function are found by
 * name.
 */
#ifndef TEST_IR_TEXT_H
#define TEST_IR_TEXT_H

#include <llvm-c/Core.h>
#include <llvm-c/IRReader.h>
#include <llvm-c/Target.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static inline LLVMModuleRef ir_text_parse(LLVMContextRef context, const char *text)
{
	LLVMMemoryBufferRef buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(text, strlen(text), "test");
	LLVMModuleRef module = NULL;
	char *message = NULL;

	if (LLVMParseIRInContext(context, buffer, &module, &message))
		fail_msg("%s", message);
	return module;
}

/* Returns the instruction %name of the function. */
static inline LLVMValueRef ir_text_find(LLVMModuleRef module, const char *function, const char *name)
{
	LLVMValueRef f = LLVMGetNamedFunction(module, function);
	size_t length;

	assert_non_null(f);
	for (unsigned i = 0; i < LLVMCountParams(f); i++)
		if (!strcmp(LLVMGetValueName2(LLVMGetParam(f, i), &length), name))
			return LLVMGetParam(f, i);
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
		for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
			if (!strcmp(LLVMGetValueName2(i, &length), name))
				return i;
	fail_msg("%s has no %%%s", function, name);
	return NULL;
}

#endif
