/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Edits of a unit (base/edit.h), made before anything else happens to it: each local variable is
 * then still in memory, whatever the user's optimisation options are.
 */
#ifndef INSTR_EDIT_H
#define INSTR_EDIT_H

#include "base/edit.h"
#include "instr/unit-int.h"

/* Makes those edits whose places are in the unit.  An expression that cannot be evaluated there is an error.
 */
int instr_edit(struct instr_unit *u);

/* Before an instruction a call goes in that evaluates a predicate.  NULL, or why that cannot be: the text
 * lives as long as `d`. */
const char *instr_require(struct instr_unit *u, struct ir_debug *d, LLVMValueRef before,
			  const struct rd_edit *edit, uint32_t number);

/* Whether a function evaluates a predicate. */
bool instr_edit_is_predicate(LLVMValueRef function);

/* Instructions that edits put in and that are none of the program: they have no events. */
void instr_edit_own(LLVMValueRef inst);
bool instr_edit_is_own(LLVMValueRef inst);

#endif
