/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Edits of a unit, which are changes that the user requested (base/edit.h).  They are made before
 * anything else is done to the unit.  At that time every local variable is still in memory,
 * whatever optimisation options the user chose.
 */
#ifndef INSTR_EDIT_H
#define INSTR_EDIT_H

#include "base/edit.h"
#include "instr/unit-int.h"

/* Makes the edits whose places are in the unit.  Reports an error if an expression cannot be
 * evaluated at its place. */
int instr_edit(struct instr_unit *u);

/* Inserts, before an instruction, a call that evaluates a predicate.  Returns NULL, or the reason
 * why the predicate cannot be evaluated there.  The text lives as long as `d`. */
const char *instr_require(struct instr_unit *u, struct ir_debug *d, LLVMValueRef before,
			  const struct rd_edit *edit, uint32_t number);

/* Returns true if a function evaluates a predicate. */
bool instr_edit_is_predicate(LLVMValueRef function);

/* Marks an instruction that an edit inserted.  Such an instruction has no events. */
void instr_edit_own(LLVMValueRef inst);
bool instr_edit_is_own(LLVMValueRef inst);

#endif
