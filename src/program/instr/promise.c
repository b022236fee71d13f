/* SPDX-License-Identifier: Apache-2.0 */
/* Decides which functions get hooks, and removes attributes that hooks make untrue. */
#include "instr/scan/event.h"

#include <string.h>

/* Function attributes that are no longer true once the function contains hooks.  If they remained,
 * the optimiser would remove calls of the function, and the events of these calls would be
 * lost. */
static const char *const promises[] = {"memory", "nosync", "nofree", "willreturn", "speculatable"};

void instr_drop_promises(LLVMValueRef function)
{
	for (size_t i = 0; i < sizeof promises / sizeof *promises; i++) {
		unsigned kind = LLVMGetEnumAttributeKindForName(promises[i], strlen(promises[i]));
		LLVMRemoveEnumAttributeAtIndex(function, LLVMAttributeFunctionIndex, kind);
	}
}

void instr_drop_call_promises(LLVMValueRef call)
{
	for (size_t i = 0; i < sizeof promises / sizeof *promises; i++) {
		unsigned kind = LLVMGetEnumAttributeKindForName(promises[i], strlen(promises[i]));
		LLVMRemoveCallSiteEnumAttribute(call, LLVMAttributeFunctionIndex, kind);
	}
}

bool instr_is_instrumented(struct ir_effects *effects, LLVMValueRef function)
{
	return !ir_is_external(function) && !ir_starts(ir_name(function), "__raddle_") &&
	       !ir_has_attribute(function, "naked") &&
	       !ir_has_attribute(function, "disable_sanitizer_instrumentation") &&
	       !ir_has_attribute(function, "no_sanitize_thread") && !ir_effects_is_early(effects, function);
}
