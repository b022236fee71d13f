/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All that knows the machine: which back end is loaded, how a target machine is
 * set up so that it does what clang did for this unit, and code generation.  A
 * unit's flags come from its module (PIC level, code model) and from attributes
 * of its functions (features, frame pointers), so a plain CPU will do.
 */
#include "instr/unit.h"

#include "base/error.h"

#include <llvm-c/Analysis.h>
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

/* The module flag "Code Model" holds LLVM's own numbers. */
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
	LLVMCodeGenOptLevel quick =
		u->options->flavour == FLAVOUR_FULL ? LLVMCodeGenLevelLess : LLVMCodeGenLevelNone;
	LLVMTargetMachineOptionsSetCodeGenOptLevel(options,
						   u->options->fast ? LLVMCodeGenLevelDefault : quick);
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
