/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Marks: what the instrumenter found out about an instruction of a unit.  They are kept as
 * metadata, so that they survive the merging of units.
 */
#ifndef IR_MARK_H
#define IR_MARK_H

#include <llvm-c/Core.h>
#include <stdbool.h>
#include <stdint.h>

struct ir_mark {
	bool access;	  /* else a call or a fence, which has only a site */
	uint8_t kind;	  /* of the access: enum facts_access_kind */
	uint8_t flags;	  /* enum facts_access_flag */
	uint16_t operand; /* that is the address */
	uint32_t site;	  /* 0: no site */
	uint64_t size;
};

enum { IR_MARKS_MAX = 32 }; /* of one instruction; more are left out.  Set by hand */

void ir_marks_set(LLVMValueRef inst, const struct ir_mark *marks, unsigned count);
unsigned ir_marks_get(LLVMValueRef inst, struct ir_mark marks[IR_MARKS_MAX]);

#endif
