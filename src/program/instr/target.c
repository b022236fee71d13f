/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Contains the code that depends on the machine.  It loads the back end, sets up a target machine
 * with clang's options for this unit, and generates code.  The options are stored in the unit's
 * module (PIC level, code model) and in the attributes of its functions (features, frame
 * pointers), so a generic CPU is enough.
 */
#include "instr/unit-int.h"

#include "base/error.h"
#include "raddle/abi.h"

#include <llvm-c/Analysis.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const char cpu[] = "x86-64";

void instr_target_init(void)
{
	LLVMInitializeX86TargetInfo();
	LLVMInitializeX86Target();
	LLVMInitializeX86TargetMC();
	LLVMInitializeX86AsmPrinter();
	LLVMInitializeX86AsmParser();
}

static bool module_flag(struct instr_unit *u, const char *name, unsigned *value)
{
	LLVMMetadataRef flag = LLVMGetModuleFlag(u->module, name, strlen(name));
	LLVMValueRef operand;
	if (flag == NULL)
		return false;
	LLVMGetMDNodeOperands(LLVMMetadataAsValue(u->context, flag), &operand);
	*value = LLVMConstIntGetZExtValue(operand);
	return true;
}

/* Reads the module flag "Code Model", which contains LLVM's own numbers. */
static LLVMCodeModel code_model(struct instr_unit *u)
{
	static const LLVMCodeModel models[] = {LLVMCodeModelTiny, LLVMCodeModelSmall, LLVMCodeModelKernel,
					       LLVMCodeModelMedium, LLVMCodeModelLarge};
	unsigned n;
	if (!module_flag(u, "Code Model", &n) || n >= sizeof models / sizeof *models)
		return LLVMCodeModelDefault;
	return models[n];
}

int instr_target_open(struct instr_unit *u)
{
	LLVMTargetRef target;
	char *message = NULL;
	unsigned pic;
	const char *triple = LLVMGetTarget(u->module);
	if (LLVMGetTargetFromTriple(triple, &target, &message)) {
		int code = rd_fail(RD_ETOOL, "instr: %s: %s", u->name, message);
		LLVMDisposeMessage(message);
		return code;
	}
	LLVMTargetMachineOptionsRef options = LLVMCreateTargetMachineOptions();
	LLVMTargetMachineOptionsSetCPU(options, cpu);
	LLVMTargetMachineOptionsSetCodeGenOptLevel(options, u->options->fast ? LLVMCodeGenLevelDefault
									     : LLVMCodeGenLevelNone);
	LLVMTargetMachineOptionsSetRelocMode(options, module_flag(u, "PIC Level", &pic) ? LLVMRelocPIC
											: LLVMRelocStatic);
	LLVMTargetMachineOptionsSetCodeModel(options, code_model(u));
	u->machine = LLVMCreateTargetMachineWithOptions(target, triple, options);
	LLVMDisposeTargetMachineOptions(options);
	return 0;
}

int instr_target_emit(struct instr_unit *u)
{
	char *message = NULL;
	if (!LLVMTargetMachineEmitToFile(u->machine, u->module, (char *)u->job->object, LLVMObjectFile,
					 &message))
		return 0;
	int code = rd_fail(RD_ETOOL, "instr: %s: code generation: %s", u->name, message);
	LLVMDisposeMessage(message);
	return code;
}

/* The code that runs at the target site of a fault is out of line, in a subsection.  It skips the
 * 128 bytes below the stack pointer, because the function may be using them.  The runtime finds
 * the site and the value on the stack, and preserves all registers (rt/inject/inject-x86.c).  The
 * call goes through the global offset table, because a procedure linkage table would not preserve
 * the registers. */
static const char integer_test[] =
	"cmpl $$%1$u, %2$u($2)\n\tje 1f\n2:\n\t.subsection 1\n1:\tleaq -128(%%rsp), %%rsp\n\t"
	"pushq ${0:q}\n\tpushq $$%1$u\n\tcallq *__raddle_inject_%3$s@GOTPCREL(%%rip)\n\t"
	"leaq 8(%%rsp), %%rsp\n\tpopq ${0:q}\n\tleaq 128(%%rsp), %%rsp\n\t"
	"jmp 2b\n\t.previous";
static const char float_test[] =
	"cmpl $$%1$u, %2$u($2)\n\tje 1f\n2:\n\t.subsection 1\n1:\tleaq -136(%%rsp), %%rsp\n\t"
	"movq $0, (%%rsp)\n\tpushq $$%1$u\n\tcallq *__raddle_inject_%3$s@GOTPCREL(%%rip)\n\t"
	"leaq 8(%%rsp), %%rsp\n\tmovq (%%rsp), $0\n\tleaq 136(%%rsp), %%rsp\n\t"
	"jmp 2b\n\t.previous";

/* Returns the width in bits with which a value of this type is tested, or 0 if values of this type
 * are not tested. */
unsigned instr_target_bits(LLVMTypeRef type)
{
	unsigned width;
	switch (LLVMGetTypeKind(type)) {
	case LLVMFloatTypeKind: return 32;
	case LLVMDoubleTypeKind: return 64;
	case LLVMPointerTypeKind: return LLVMGetPointerAddressSpace(type) == 0 ? 64 : 0;
	case LLVMIntegerTypeKind:
		width = LLVMGetIntTypeWidth(type);
		return width == 1    ? 1
		       : width <= 8  ? 8
		       : width <= 16 ? 16
		       : width <= 32 ? 32
		       : width <= 64 ? 64
				     : 0;
	default: return 0;
	}
}

static LLVMValueRef test_code(LLVMTypeRef function, const char *what, uint32_t site)
{
	LLVMTypeKind kind = LLVMGetTypeKind(LLVMGetReturnType(function));
	bool is_integer = kind == LLVMIntegerTypeKind || kind == LLVMPointerTypeKind;
	const char *constraints = is_integer ? "=r,0,r,~{flags}" : "=x,0,r,~{flags}";
	char text[512];
	int n = snprintf(text, sizeof text, is_integer ? integer_test : float_test, site,
			 (unsigned)offsetof(struct raddle_self, target), what);
	return LLVMGetInlineAsm(function, text, (size_t)n, constraints, strlen(constraints), true, false,
				LLVMInlineAsmDialectATT, false);
}

LLVMValueRef instr_target_test(struct instr_unit *u, LLVMValueRef value, const struct instr_test *test)
{
	LLVMTypeRef type = LLVMTypeOf(value), wide = type;
	unsigned bits = instr_target_bits(type);
	char what[16];
	snprintf(what, sizeof what, test->is_callee ? "call" : "%u", bits);
	if (LLVMGetTypeKind(type) == LLVMIntegerTypeKind) {
		wide = LLVMIntTypeInContext(u->context, bits < 8 ? 8 : bits);
		value = LLVMBuildZExt(u->builder, value, wide, "");
	}
	LLVMTypeRef function = LLVMFunctionType(wide, (LLVMTypeRef[]){wide, u->pointer}, 2, false);
	LLVMValueRef out = LLVMBuildCall2(u->builder, function, test_code(function, what, test->site),
					  (LLVMValueRef[]){value, test->self}, 2, "");
	return wide != type ? LLVMBuildTrunc(u->builder, out, type, "") : out;
}
