/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The events of a function are the actions of its instructions that a trace contains. scan.c finds
 * the events, wait.c and eliminate.c mark them, and record.c inserts hooks for them.
 */
#ifndef INSTR_EVENT_H
#define INSTR_EVENT_H

#include "instr/scan/libc.h"
#include "instr/unit-int.h"
#include "ir/effects.h"
#include "ir/value.h"

enum instr_kind {
	EVENT_READ,
	EVENT_WRITE,
	EVENT_RANGE_READ,
	EVENT_RANGE_WRITE,
	EVENT_ATOMIC_LOAD,
	EVENT_ATOMIC_STORE,
	EVENT_ATOMIC_RMW,
	EVENT_ATOMIC_CAS,
	EVENT_FENCE,
	EVENT_CALL,
	EVENT_FORGET, /* not an event; accesses before it do not represent accesses after it */
};

enum instr_event_flags {
	EVENT_VOLATILE = 1,
	EVENT_WAIT_LOOP = 2, /* the read decides a loop that contains a condition wait */
	EVENT_THREAD_LOCAL = 4,
	EVENT_STACK = 8,
	EVENT_REDUNDANT = 16, /* an earlier event of the segment represents this one */
	EVENT_SYNCS = 32,     /* the call may end the segment */
	EVENT_NEVER_RETURNS = 64,
	EVENT_UNSEEN = 128, /* the program does not use the result of the atomic */
	EVENT_PASSES = 256, /* the atomic does not end the segment (counter.c) */
};

struct instr_event {
	enum instr_kind kind;
	unsigned flags;
	uint32_t block; /* the block's number in the function's flow graph */
	LLVMValueRef inst;
	LLVMValueRef pointer;
	unsigned operand;    /* the number of the operand of `inst` that is the pointer */
	uint64_t size;	     /* the number of bytes; 0 if it is only known at run time */
	LLVMValueRef length; /* the length of a range, if `size` is 0 and `libc` is NULL */
	/* For an access by a library function, the row that states its length; otherwise NULL. */
	const struct instr_libc *libc;
	LLVMAtomicOrdering order; /* the memory order of an atomic */
};

/* A function that is being instrumented. */
struct instr_function {
	struct instr_unit *unit;
	struct ir_effects *effects;
	LLVMValueRef function;
	struct ir_cfg cfg;
	/* True if the events include accesses to memory that no other thread can reach. */
	bool everything;
	struct rd_umap wait_reads;	/* the loads of the whole unit that decide a wait loop */
	struct rd_umap private_objects; /* maps an object to true if it is private */
	struct instr_event *events;	/* the events, in the order of blocks, then of instructions */
	size_t count, capacity;
};

/* Fills `reads` with the loads that decide whether a loop around a condition wait continues. */
void instr_find_wait_reads(LLVMModuleRef module, struct ir_effects *effects, struct rd_umap *reads);

/* Returns the instruction before which new code must be inserted so that the code runs after
 * `inst`.  If `inst` is an invoke, that instruction is in the block to which the call returns. */
LLVMValueRef instr_place_after(LLVMValueRef inst);
/* Returns the number that RADDLE_ATOMIC_ORDERED expects. */
unsigned instr_order_number(LLVMAtomicOrdering order);
/* Returns the argument of the hook before an atomic operation, which is made by
 * RADDLE_ATOMIC_WHAT. */
uint64_t instr_atomic_what(const struct instr_event *event, LLVMValueRef site);
/* Returns the site of an event, as a constant. */
LLVMValueRef instr_event_site(struct instr_unit *u, const struct instr_event *event);
bool instr_is_atomic(const struct instr_event *event);
/* Returns the flags RADDLE_ATOMIC_STORED and RADDLE_ATOMIC_PASSED of an atomic operation, as a
 * value. */
LLVMValueRef instr_atomic_stored(struct instr_unit *u, const struct instr_event *event);
bool instr_is_counter(LLVMValueRef update); /* true if EVENT_PASSES applies to an update */
bool instr_only_looks(LLVMValueRef load);   /* true if EVENT_PASSES applies to a load */

/* Returns the number of bytes that a library function will read or write, if the number is known
 * before the call.  Returns RADDLE_STOP_STRING if the bytes are those of an existing string.
 * Returns NULL if the number is unknown. */
LLVMValueRef instr_libc_length_before(struct instr_unit *u, const struct instr_event *event);

/* Inserts the hook that records the range of a library function's argument, at the builder's
 * position. */
void instr_libc_call(struct instr_unit *u, const struct instr_event *event, LLVMValueRef self,
		     LLVMValueRef site);

/* promise.c */
bool instr_is_instrumented(struct ir_effects *effects, LLVMValueRef function);
void instr_drop_promises(LLVMValueRef function); /* removes attributes that hooks make untrue */
void instr_drop_call_promises(LLVMValueRef call);

typedef void instr_function_fn(struct instr_function *f, void *context);
/* Scans the functions of a unit as the flavour `record` does, and calls `fn` for each instrumented
 * function.  Defined in record.c. */
void instr_each_function(struct instr_unit *u, instr_function_fn *fn, void *context);
/* Returns true if the event has a site.  Sites are numbered in the order of events. */
bool instr_event_has_site(const struct instr_event *event);

void instr_scan(struct instr_function *f);
void instr_eliminate(struct instr_function *f);
/* Returns true if redundant accesses of this block keep their hooks.  This is the case in the
 * flavour `shadow`, in which a thread may have to stop at an access to bytes that it has accessed
 * before.  Blocks of loops are excepted, because the hooks would cost too much. */
bool instr_keeps_redundant(const struct instr_unit *u, const struct facts_loops *loops, uint32_t block);

/* Adds the event of an atomic operation that is a call of a library function (libatomic or
 * __sync_).  Returns false if the call is not an atomic operation. */
bool instr_libatomic(struct instr_function *f, LLVMValueRef call, const char *name,
		     struct instr_event *event);

/* Returns true if the event is a store by which the compiler sets an object's vtable pointer. */
bool instr_event_is_of_vtable(const struct instr_event *event);

#endif
