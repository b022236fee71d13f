/* SPDX-License-Identifier: Apache-2.0 */
/* What late.c and loop.c share: the hooks of a function after optimisation. */
#ifndef INSTR_LATE_H
#define INSTR_LATE_H

#include "instr/unit.h"
#include "ir/effects.h"
#include "ir/value.h"

/* A hook call of the optimised function. */
struct late_hook {
	LLVMValueRef call; /* NULL once it is gone */
	enum instr_hook hook;
	uint32_t block;
	uint64_t size; /* of an access; 0 for a range */
	bool write;
};

struct late {
	struct instr_unit *unit;
	struct ir_effects *effects;
	LLVMValueRef function, self;
	struct ir_cfg cfg;
	struct facts_loops loops;
	bool *forgets;		 /* per block: it holds something that may end a segment */
	struct late_hook *hooks; /* in order of blocks, then of instructions */
	size_t count, capacity;
};

/* Takes hooks out of loops where that keeps their meaning. */
void instr_late_loops(struct late *l);

/* Erases a hook's call. */
void instr_late_drop(struct late_hook *hook);

#endif
