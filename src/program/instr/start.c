// SPDX-License-Identifier: Apache-2.0
/*
 * Turns the lists of constructors and destructors into .init_array and .fini_array.  LLVM's C
 * interface has no option for these sections, so the code generator would write .ctors and .dtors.
 * Only the GNU linkers convert those to the sections that the loader runs.  With lld and mold,
 * nothing would run.  So the two lists become ordinary variables in sections of these names, in
 * the order of the lists, and the lists are removed.  If an entry belongs to a COMDAT, as the
 * initialiser of an inline variable does, it stays in that COMDAT.
 */
#include "instr/unit-int.h"

#include <llvm-c/Comdat.h>
#include <stdio.h>

enum { DEFAULT_PRIORITY = 65535 }; /* the default priority in llvm.global_ctors */

static void add_entry(struct instr_unit *u, LLVMValueRef entry, const char *section)
{
	LLVMValueRef function = LLVMGetOperand(entry, 1), owner = LLVMGetOperand(entry, 2);
	unsigned long long priority = LLVMConstIntGetZExtValue(LLVMGetOperand(entry, 0));
	char name[32];
	LLVMValueRef slot;

	if (LLVMIsNull(function))
		return;
	snprintf(name, sizeof name, priority == DEFAULT_PRIORITY ? "%s" : "%s.%05llu", section, priority);
	slot = LLVMAddGlobal(u->module, u->pointer, "");
	LLVMSetInitializer(slot, function);
	LLVMSetLinkage(slot, LLVMInternalLinkage);
	LLVMSetSection(slot, name);
	LLVMSetAlignment(slot, 8);
	if (LLVMIsAGlobalObject(owner) != NULL && LLVMGetComdat(owner) != NULL)
		LLVMSetComdat(slot, LLVMGetComdat(owner));
}

static void convert(struct instr_unit *u, const char *list, const char *section)
{
	LLVMValueRef g = LLVMGetNamedGlobal(u->module, list), entries;
	if (g == NULL)
		return;
	entries = LLVMGetInitializer(g);
	if (entries != NULL && LLVMIsAConstantArray(entries) != NULL)
		for (int i = 0; i < LLVMGetNumOperands(entries); i++)
			add_entry(u, LLVMGetOperand(entries, (unsigned)i), section);
	LLVMDeleteGlobal(g);
}

void instr_start_arrays(struct instr_unit *u)
{
	convert(u, "llvm.global_ctors", ".init_array");
	convert(u, "llvm.global_dtors", ".fini_array");
}
