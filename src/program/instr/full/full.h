/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Instruments one function for the flavour `full` (raddle/full.h, doc/format/full.md).
 *
 *	instr_full()          full.c    the unit: function by function
 *	instr_full_walk()     walk.c    a function: its blocks as chains, an op for each instruction
 *	full_piece_*()        piece.c   pieces: their space, fields and end, and their rows in the table
 *	full_call_*()         call.c    calls, intrinsics and atomics
 *	full_library()        library.c  ranges that library functions access and no LIBC_RANGE describes
 *	full_moved_from() ..  origin.c  how code uses values that may be addresses
 *	full_inject*()        inject.c  values that a fault may change
 *	full_bounds()         bounds.c  accesses outside variables and arrays
 *	instr_mark_progress() progress.c loops that get closer to their end, in the flavour `led`
 */
#ifndef INSTR_FULL_H
#define INSTR_FULL_H

#include "instr/scan/event.h"

/* A piece that is being built or is finished. */
struct full_piece {
	uint32_t number; /* the number of the piece's P record (doc/format/full.md) */
	uint32_t size;	 /* the size in bytes of the fields that the piece has so far */
	uint32_t next;	 /* the bare block that follows the piece; FACTS_NONE if there is none */
	struct rd_buf ops;
	LLVMValueRef room; /* the call that reserves space for the piece */
};

/* Describes where a block is in its chain (walk.c). */
struct full_block {
	/* The block whose chain this block continues, or FACTS_NONE if this block begins a
	 * chain. */
	uint32_t into;
	uint32_t tail; /* the block that continues the chain; FACTS_NONE at the end of the chain */
	/* True if the chain has no piece, because it stores nothing at run time, and only plain
	 * branches lead to it. */
	bool bare;
	uint32_t next; /* the bare block that follows a bare chain; FACTS_NONE if there is none */
	struct rd_buf ops;
};

/* The placeholder of a test.  It is a `freeze` of the value, or a call whose callee is tested. */
struct full_injection {
	LLVMValueRef place, self;
	uint32_t site;
};

struct full_function {
	struct instr_function *f;
	struct instr_unit *u;
	/* The thread's state while a piece is open, or NULL if it is not loaded yet. */
	LLVMValueRef self;
	/* The call frame, or NULL if neither an exception nor longjmp() can lead here. */
	LLVMValueRef frame;
	struct full_block *blocks;
	struct full_piece *pieces;
	size_t piece_count, piece_capacity;
	uint32_t entry; /* the number of the piece that contains the function's entry */
	struct full_injection *injections;
	size_t injection_count, injection_capacity;
	bool open; /* true if the last one of `pieces` is being written */
	/* The ops of the current bare chain, which has no piece.  NULL in other chains. */
	struct rd_buf *bare;
	LLVMValueRef at; /* the instruction before which code is inserted */
	/* The value that an atomic call found, and its site.  The code after the call uses them. */
	LLVMValueRef old[2], old_site;
	struct rd_umap events; /* maps an instruction to the first of its events in f->events */
	struct rd_umap loads;  /* maps a load to the number of its site */
};

/* Returns the thread's state.  Each piece loads it again.  If one value were used throughout a
 * large function, the code generator would take time quadratic in the number of its uses. */
LLVMValueRef full_self(struct full_function *x);

/* Defined in piece.c.  These functions add to the open piece.  If no piece is open, they begin one at
 * the insertion point `x->at`. */
void full_piece_need(struct full_function *x);
void full_piece_close(struct full_function *x); /* does nothing if no piece is open */
void full_op(struct full_function *x, char letter, uint32_t site);
void full_put_address(struct full_function *x, LLVMValueRef pointer);
void full_put_word(struct full_function *x, const char *type, LLVMValueRef v); /* stores eight bytes */
/* Stores a value in the piece.  Returns false if values of its type are not recorded or the piece
 * is full. */
bool full_put_value(struct full_function *x, LLVMValueRef v);
bool full_is_recorded(struct full_function *x, LLVMTypeRef type);
void full_rows(struct full_function *x); /* writes the P records */
void full_build_at(struct full_function *x, LLVMValueRef inst);

/* Does the same as full_put_value() for a value that enters the function here: a parameter, or the
 * result of a load or call.  Adds a mark if the code calculates with the value. */
void full_put_origin(struct full_function *x, LLVMValueRef v);
/* Adds a mark of doc/format/full.md to the last op.  If n is not 0, it follows the mark. */
void full_mark(struct full_function *x, char mark, uint32_t n);

/* Returns true if code calculates with a value that may be an address or a part of one
 * (origin.c). */
bool full_is_calculated_with(struct full_function *x, LLVMValueRef v);
/* Returns true if the instruction turns the address of a variable into a number that is used in a
 * calculation. */
bool full_numbers_variable(struct full_function *x, LLVMValueRef inst);
/* For a stored value of less than eight bytes, returns the site number of the load that read the
 * value, or 0 if it is unknown. */
uint32_t full_moved_from(struct full_function *x, LLVMValueRef value);

/* Makes a site and returns its number in the unit. */
uint32_t full_site(struct full_function *x, const struct instr_site *site);
LLVMValueRef full_site_number(struct full_function *x, uint32_t n); /* the number as in the trace */

/* Inserts a test, and makes all users of the value use the result of the test instead (inject.c).
 * A fault may change that result.  Returns `v` itself if no fault can change the value. */
bool full_is_injectable(LLVMValueRef v);
LLVMValueRef full_inject(struct full_function *x, LLVMValueRef v, uint32_t site);
void full_inject_arguments(struct full_function *x, LLVMValueRef call);
void full_inject_call(struct full_function *x, LLVMValueRef call);
/* Replaces the operands of an instruction by values that faults can change.  `name` is the
 * instruction's opcode. */
void full_inject_operands(struct full_function *x, LLVMValueRef inst, const char *name);
void full_inject_finish(struct full_function *x); /* inserts the tests */

/* In call.c.  These insert the code before a call or invoke, at x->at, and the code after it. */
void full_call_before(struct full_function *x, LLVMValueRef call);
void full_call_after(struct full_function *x, LLVMValueRef call);
bool full_call_is_tail(LLVMValueRef call);
/* True if the call may return twice, as setjmp() does. */
bool full_call_is_twice(LLVMValueRef call);
/* Handles a call of an intrinsic.  `next` is the instruction after it. */
void full_intrinsic(struct full_function *x, LLVMValueRef call, LLVMValueRef next);
/* True if the intrinsic stores nothing at run time. */
bool full_intrinsic_is_bare(LLVMValueRef call);
void full_atomic(struct full_function *x, const struct instr_event *event, LLVMValueRef next);
/* Returns the first event of an instruction, or NULL if there is none.  The event's pointer is the
 * current operand of the instruction. */
const struct instr_event *full_event(struct full_function *x, LLVMValueRef inst);

/* Records ranges that a library function accesses, but that no LIBC_RANGE in libc.inc describes
 * (library.c).  If `behind` is set, records those that are recorded after the call, and otherwise
 * those that are recorded before it. */
void full_library(struct full_function *x, LLVMValueRef call, bool behind);

/* An access that must stay within a variable or array. */
struct full_access {
	LLVMValueRef pointer;
	LLVMValueRef size; /* in bytes, as a number of 64 bits */
	LLVMValueRef site; /* the number as in the trace */
	/* True if the access may cover several members of a structure, as memcpy() may. */
	bool crosses_members;
};

/* In progress.c.  Returns true if nothing but values in memory depends on what the access reads. */
bool full_is_idle(LLVMValueRef inst);

/* In bounds.c.  Inserts a test at the builder's position, if one is needed.  Only in the flavour
 * `led`. */
void full_bounds(struct full_function *x, const struct full_access *access);
/* Does the same for the memory that a call accesses.  `site` is the site of the event. */
void full_bounds_of_range(struct full_function *x, const struct instr_event *event, LLVMValueRef site);

/* walk.c */
void instr_full_walk(struct full_function *x);

#endif
