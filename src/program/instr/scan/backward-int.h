/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The instructions that values are computed from: a work list that contains each at most once.
 * Values from before a loop are left out.  Initially everything except cfg and loop is zero.
 */
#ifndef INSTR_SCAN_BACKWARD_INT_H
#define INSTR_SCAN_BACKWARD_INT_H

#include "base/map.h"
#include "ir/value.h"

#include <llvm-c/Core.h>

struct backward {
	const struct ir_cfg *cfg;
	const struct facts_loop *loop; /* NULL: the whole function */
	struct rd_umap seen;
	LLVMValueRef *work;
	size_t count, capacity;
};

/* Adds a value if it is an instruction that is new; it may be NULL. */
void backward_want(struct backward *b, LLVMValueRef v);
void backward_release(struct backward *b);

#endif
