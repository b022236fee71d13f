/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The flavour `full` at work on one function (raddle/full.h, doc/format/full.md).
 *
 *	instr_full()          full.c    the unit: function by function
 *	instr_full_walk()     walk.c    a function: its blocks as chains, an op for each instruction
 *	full_piece_*()        piece.c   pieces: their space, fields and end, and their rows in the table
 *	full_call_*()         call.c    calls, intrinsics and atomics
 *	full_inject*()        inject.c  values that a fault may change
 */
#ifndef INSTR_FULL_H
#define INSTR_FULL_H

#include "instr/scan/event.h"

/* A piece under construction or finished. */
struct full_piece {
	uint32_t number; /* n of its P record */
	uint32_t size;	 /* raw bytes so far */
	uint32_t next;	 /* the bare block that follows it; FACTS_NONE: none */
	struct rd_buf ops;
	LLVMValueRef room; /* the call that reserved it */
};

/* What is known of a block. */
struct full_block {
	uint32_t into; /* the block whose chain it continues, FACTS_NONE: it begins one */
	uint32_t tail; /* the block that continues its chain, FACTS_NONE: none */
	bool bare;     /* stores nothing at run time and only plain branches lead there: no piece */
	uint32_t next; /* of a bare chain: as in a piece */
	struct rd_buf ops;
};

/* The placeholder of a test: a `freeze` of the value, or a call whose callee is tested. */
struct full_injection {
	LLVMValueRef place, self;
	uint32_t site;
};

struct full_function {
	struct instr_function *f;
	struct instr_unit *u;
	LLVMValueRef self;  /* the thread's state, as long as a piece is open; NULL: not loaded yet */
	LLVMValueRef frame; /* NULL if neither an exception nor longjmp() can lead here */
	struct full_block *blocks;
	struct full_piece *pieces;
	size_t piece_count, piece_capacity;
	uint32_t entry; /* n of the piece with the entry */
	struct full_injection *injections;
	size_t injection_count, injection_capacity;
	bool open;		       /* the last one of `pieces` is being written */
	struct rd_buf *bare;	       /* ops go there: the chain has no piece */
	LLVMValueRef at;	       /* where code goes */
	LLVMValueRef old[2], old_site; /* what an atomic call found, and its site, for the code after it */
	struct rd_umap events;	       /* instruction to the first of its f->events */
	struct rd_umap loads;	       /* load to the n of its site */
};

/* The thread's state.  Each piece looks it up again.  If one value were used throughout a large
 * function, the code generator would take time quadratic in the number of its uses. */
LLVMValueRef full_self(struct full_function *x);

/* piece.c.  Ops go into the piece that is open; one is begun at `at` if none is. */
void full_piece_need(struct full_function *x);
void full_piece_close(struct full_function *x); /* if one is open */
void full_op(struct full_function *x, char letter, uint32_t site);
void full_put_address(struct full_function *x, LLVMValueRef pointer);
void full_put_word(struct full_function *x, const char *type, LLVMValueRef v); /* eight bytes */
/* False if values of that type are not recorded. */
bool full_put_value(struct full_function *x, LLVMValueRef v);
bool full_is_recorded(struct full_function *x, LLVMTypeRef type);
void full_rows(struct full_function *x); /* the P records */
void full_build_at(struct full_function *x, LLVMValueRef inst);

/* full_put_value() for a value that originates here, with a mark if the code calculates with it. */
void full_put_origin(struct full_function *x, LLVMValueRef v);
/* After an op: a mark of full.md, with a number unless it is 0. */
void full_mark(struct full_function *x, char mark, uint32_t n);

/* origin.c.  Whether something is calculated with what may be an address, or a part of one. */
bool full_is_calculated_with(struct full_function *x, LLVMValueRef v);
/* Whether the instruction turns the address of a variable into a number that is used in a
 * calculation. */
bool full_numbers_variable(struct full_function *x, LLVMValueRef inst);
/* The n of the load that a stored value of less than eight bytes comes from; 0: unknown. */
uint32_t full_moved_from(struct full_function *x, LLVMValueRef value);

/* Makes a site; returns its n. */
uint32_t full_site(struct full_function *x, const struct instr_site *site);
LLVMValueRef full_site_number(struct full_function *x, uint32_t n); /* as in the trace */

/* inject.c.  Makes all users of an instruction's value use the value as it is after a fault.
 * Returns `v` itself if it cannot be changed. */
bool full_is_injectable(LLVMValueRef v);
LLVMValueRef full_inject(struct full_function *x, LLVMValueRef v, uint32_t site);
void full_inject_arguments(struct full_function *x, LLVMValueRef call);
void full_inject_call(struct full_function *x, LLVMValueRef call);
/* The operands of an instruction, before it; `name` is its opcode. */
void full_inject_operands(struct full_function *x, LLVMValueRef inst, const char *name);
void full_inject_finish(struct full_function *x); /* puts the tests in place */

/* call.c.  A call or invoke: everything up to it at x->at, and everything after it. */
void full_call_before(struct full_function *x, LLVMValueRef call);
void full_call_after(struct full_function *x, LLVMValueRef call);
bool full_call_is_tail(LLVMValueRef call);
bool full_call_is_twice(LLVMValueRef call); /* setjmp and the like */
/* A call of an intrinsic; `next` is the instruction after it. */
void full_intrinsic(struct full_function *x, LLVMValueRef call, LLVMValueRef next);
bool full_intrinsic_is_bare(LLVMValueRef call); /* it stores nothing at run time */
void full_atomic(struct full_function *x, const struct instr_event *event, LLVMValueRef next);
/* The first event of an instruction, or NULL; its pointer is the one that the instruction has
 * now. */
const struct instr_event *full_event(struct full_function *x, LLVMValueRef inst);

/* library.c.  Ranges of a library function that are not described by a LIBC_RANGE in libc.inc,
 * before or after the call. */
void full_library(struct full_function *x, LLVMValueRef call, bool behind);

/* walk.c */
void instr_full_walk(struct full_function *x);

#endif
