/* SPDX-License-Identifier: Apache-2.0 */
/* The work list of backward-int.h.  Invariant: `seen` holds exactly the instructions that were ever
 * in `work`. */
#include "instr/scan/backward-int.h"

#include "base/alloc.h"

#include <stdlib.h>

static bool is_in_loop(const struct backward *b, LLVMValueRef inst)
{
	return b->loop == NULL ||
	       facts_loop_has(b->loop, ir_cfg_number(b->cfg, LLVMGetInstructionParent(inst)));
}

void backward_want(struct backward *b, LLVMValueRef v)
{
	bool is_new;

	if (v == NULL || !LLVMIsAInstruction(v) || !is_in_loop(b, v))
		return;
	rd_umap_put(&b->seen, (uintptr_t)v, &is_new);
	if (!is_new)
		return;
	RD_GROW(b->work, b->capacity, b->count + 1);
	b->work[b->count++] = v;
}

void backward_release(struct backward *b)
{
	rd_umap_release(&b->seen);
	free(b->work);
}
