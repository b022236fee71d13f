/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A mark states a fact that the instrumenter has determined about an instruction of a unit.  Marks
 * are LLVM metadata, so they are preserved when units are merged.
 */
#ifndef IR_MARK_H
#define IR_MARK_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stdint.h>

struct ir_mark {
	/* True if this is an access.  Otherwise it is a call or a fence, which has only a site. */
	bool access;
	uint8_t kind;	  /* the kind of access, an enum facts_access_kind */
	uint8_t flags;	  /* a set of enum facts_access_flag */
	uint16_t operand; /* the number of the operand that is the address */
	uint32_t site;	  /* the site number; 0 if there is no site */
	uint64_t size;
};

/* The largest number of marks of an instruction.  Further marks are left out.  Set by hand. */
enum { IR_MARKS_MAX = 32 };

void ir_marks_set(LLVMValueRef inst, const struct ir_mark *marks, unsigned count);
unsigned ir_marks_get(LLVMValueRef inst, struct ir_mark marks[IR_MARKS_MAX]);

#endif
