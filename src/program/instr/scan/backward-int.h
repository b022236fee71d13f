/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A work list of the instructions from which values are computed.  Each instruction is added at
 * most once.  If `loop` is set, instructions outside the loop are left out.  Initially, all
 * members except `cfg` and `loop` must be zero.
 */
#ifndef INSTR_SCAN_BACKWARD_INT_H
#define INSTR_SCAN_BACKWARD_INT_H

#include "base/map.h"
#include "ir/value.h"

#include <llvm-c/Core.h>

struct backward {
	const struct ir_cfg *cfg;
	const struct facts_loop
		*loop; /* the loop in which values are followed; NULL for the whole function */
	struct rd_umap seen;
	LLVMValueRef *work;
	size_t count, capacity;
};

/* Adds `v` if it is an instruction that was never in the list.  `v` may be NULL. */
void backward_want(struct backward *b, LLVMValueRef v);
void backward_release(struct backward *b);

#endif
