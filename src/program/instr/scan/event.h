/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The events of a function: what a trace records of its instructions.  scan.c finds them, wait.c
 * and eliminate.c mark them, record.c inserts their hooks.
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
	EVENT_FORGET, /* not an event, but earlier accesses do not represent later ones */
};

enum instr_event_flags {
	EVENT_VOLATILE = 1,
	EVENT_WAIT_LOOP = 2, /* decides a loop that contains a condition wait */
	EVENT_THREAD_LOCAL = 4,
	EVENT_STACK = 8,
	EVENT_REDUNDANT = 16, /* adds nothing new */
	EVENT_SYNCS = 32,     /* a call that may end the segment */
	EVENT_NEVER_RETURNS = 64,
	EVENT_UNSEEN = 128, /* the result of an atomic is not used */
	EVENT_PASSES = 256, /* an atomic that ends no segment (counter.c) */
};

struct instr_event {
	enum instr_kind kind;
	unsigned flags;
	uint32_t block; /* number in the function's flow graph */
	LLVMValueRef inst;
	LLVMValueRef pointer;
	unsigned operand;	       /* of inst that the pointer is */
	uint64_t size;		       /* bytes, 0 if only known at run time */
	LLVMValueRef length;	       /* a range's length, if size is 0 and libc is NULL */
	const struct instr_libc *libc; /* a library function's argument: its row states the length */
	LLVMAtomicOrdering order;      /* of atomics */
};

/* A function under work. */
struct instr_function {
	struct instr_unit *unit;
	struct ir_effects *effects;
	LLVMValueRef function;
	struct ir_cfg cfg;
	bool everything;		/* includes memory that no other thread can reach */
	struct rd_umap wait_reads;	/* of the whole unit: loads that decide a wait loop */
	struct rd_umap private_objects; /* object to whether it is private */
	struct instr_event *events;	/* in order of blocks, then of instructions */
	size_t count, capacity;
};

/* Fills `reads` with the loads that decide a loop around a condition wait. */
void instr_find_wait_reads(LLVMModuleRef module, struct ir_effects *effects, struct rd_umap *reads);

/* Where code after an instruction is inserted; for an invoke, where it returns to. */
LLVMValueRef instr_place_after(LLVMValueRef inst);
unsigned instr_order_number(LLVMAtomicOrdering order); /* as RADDLE_ATOMIC_ORDERED has it */
/* The argument of the hook before an atomic operation: RADDLE_ATOMIC_WHAT. */
uint64_t instr_atomic_what(const struct instr_event *event, LLVMValueRef site);
/* The site of an event, as a constant. */
LLVMValueRef instr_event_site(struct instr_unit *u, const struct instr_event *event);
bool instr_is_atomic(const struct instr_event *event);
LLVMValueRef instr_atomic_stored(struct instr_unit *u, const struct instr_event *event); /* RADDLE_ATOMIC_ */
bool instr_is_counter(LLVMValueRef update);						 /* EVENT_PASSES */
bool instr_only_looks(LLVMValueRef load);						 /* the same */

/* What a library function will read or write, if that is known before the call: a number, or
 * RADDLE_STOP_STRING for an existing string.  NULL: unknown. */
LLVMValueRef instr_libc_length_before(struct instr_unit *u, const struct instr_event *event);

/* Records the range of a library function's argument at the builder's place. */
void instr_libc_call(struct instr_unit *u, const struct instr_event *event, LLVMValueRef self,
		     LLVMValueRef site);

/* promise.c */
bool instr_is_instrumented(struct ir_effects *effects, LLVMValueRef function);
void instr_drop_promises(LLVMValueRef function); /* those that a function with hooks does not keep */
void instr_drop_call_promises(LLVMValueRef call);

/* record.c: scans the functions of a unit as the flavour `record` does, and calls back for each
 * instrumented function. */
typedef void instr_function_fn(struct instr_function *f, void *context);
void instr_each_function(struct instr_unit *u, instr_function_fn *fn, void *context);
bool instr_event_has_site(const struct instr_event *event); /* sites are numbered in the order of events */

void instr_scan(struct instr_function *f);
void instr_eliminate(struct instr_function *f);

/* Adds the atomic operation of a library call (libatomic and __sync_); false if the call is not
 * one. */
bool instr_libatomic(struct instr_function *f, LLVMValueRef call, const char *name,
		     struct instr_event *event);

/* Whether it is a store that the compiler generated: the address of a class's vtable into an
 * object. */
bool instr_event_is_of_vtable(const struct instr_event *event);

#endif
