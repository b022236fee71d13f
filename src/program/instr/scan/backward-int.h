/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What values are computed from: a work list of instructions, each at most once.  Values from before a loop
 * are left out.  Zero but for cfg and loop at first.
 */
#ifndef INSTR_SCAN_BACKWARD_INT_H
#define INSTR_SCAN_BACKWARD_INT_H

#include "base/map.h"
#include "ir/value.h"

#include <llvm-c/Core.h>

struct backward {
	const struct ir_cfg *cfg;
	const struct facts_loop *loop; /* NULL: the whole function is looked at */
	struct rd_umap seen;
	LLVMValueRef *work;
	size_t count, capacity;
};

/* Adds a value if it is an instruction that is new; it may be NULL. */
void backward_want(struct backward *b, LLVMValueRef v);
void backward_release(struct backward *b);

#endif
