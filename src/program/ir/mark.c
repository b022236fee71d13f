/* SPDX-License-Identifier: Apache-2.0 */
/* Stores marks as metadata, in a node that contains two numbers per mark.  LLVM copies the node
 * when modules are linked. */
#include "ir/mark.h"

#include "base/error.h"

#include <string.h>

static const char kind_name[] = "raddle.marks";

static unsigned kind_of(LLVMValueRef inst)
{
	LLVMContextRef context = LLVMGetModuleContext(
		LLVMGetGlobalParent(LLVMGetBasicBlockParent(LLVMGetInstructionParent(inst))));
	return LLVMGetMDKindIDInContext(context, kind_name, strlen(kind_name));
}

static uint64_t pack(const struct ir_mark *m)
{
	return m->site | (uint64_t)m->operand << 32 | (uint64_t)m->kind << 48 | (uint64_t)m->flags << 52 |
	       (uint64_t)m->access << 60;
}

static struct ir_mark unpack(uint64_t word, uint64_t size)
{
	return (struct ir_mark){
		.access = word >> 60 & 1,
		.kind = word >> 48 & 0xf,
		.flags = word >> 52 & 0xff,
		.operand = word >> 32 & 0xffff,
		.site = word & UINT32_MAX,
		.size = size,
	};
}

void ir_marks_set(LLVMValueRef inst, const struct ir_mark *marks, unsigned count)
{
	LLVMContextRef context = LLVMGetTypeContext(LLVMTypeOf(inst));
	LLVMTypeRef i64 = LLVMInt64TypeInContext(context);
	LLVMMetadataRef words[2 * IR_MARKS_MAX];
	count = count < IR_MARKS_MAX ? count : IR_MARKS_MAX;
	for (unsigned i = 0; i < count; i++) {
		RD_ASSERT(marks[i].kind < 16);
		words[2 * i] = LLVMValueAsMetadata(LLVMConstInt(i64, pack(&marks[i]), false));
		words[2 * i + 1] = LLVMValueAsMetadata(LLVMConstInt(i64, marks[i].size, false));
	}
	LLVMMetadataRef node = LLVMMDNodeInContext2(context, words, 2 * count);
	LLVMSetMetadata(inst, kind_of(inst), LLVMMetadataAsValue(context, node));
}

unsigned ir_marks_get(LLVMValueRef inst, struct ir_mark marks[IR_MARKS_MAX])
{
	LLVMValueRef node = LLVMGetMetadata(inst, kind_of(inst)), words[2 * IR_MARKS_MAX];
	if (node == NULL)
		return 0;
	unsigned count = LLVMGetMDNodeNumOperands(node) / 2;
	RD_ASSERT(count <= IR_MARKS_MAX);
	LLVMGetMDNodeOperands(node, words);
	for (unsigned i = 0; i < count; i++)
		marks[i] = unpack(LLVMConstIntGetZExtValue(words[2 * i]),
				  LLVMConstIntGetZExtValue(words[2 * i + 1]));
	return count;
}
