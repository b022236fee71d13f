/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records ranges of memory that library functions access, if no LIBC_RANGE of raddle/libc.inc
 * describes the range.  A range may be the memory of an argument that a format describes
 * (format.h), the memory that a result points to, or memory that is reached through a pointer to a
 * pointer.  The hooks that record the ranges of a call are inserted at the builder's position.
 */
#include "instr/scan/format.h"
#include "instr/full/full.h"
#include "raddle/abi.h"

#include <string.h>

enum way {
	RETURNS, /* the call wrote the string that the result points to */
	/* The argument is an array of iovecs, and the call reads the buffers that they describe.
	 * The next argument is the number of buffers. */
	GATHERS,
	SCATTERS, /* the call writes to these buffers; its result is the number of bytes */
	SENDS,	  /* like GATHERS, with a struct msghdr */
	RECEIVES,
	/* The argument points to a pointer, and the call writes where that pointer points.  The
	 * number of bytes is one more than the result. */
	LEADS,
};

static const struct library {
	const char *name;
	enum way way;
	unsigned argument;
} functions[] = {
#define LIBC_REACHES(name, way, argument) {name, way, argument},
#include "raddle/libc.inc"
};

static LLVMValueRef const64(struct full_function *x, uint64_t n)
{
	return LLVMConstInt(x->u->i64, n, false);
}

/* --- inserting hooks for ranges --- */

struct range {
	LLVMValueRef call, pointer, length;
	bool write, is_string;
};

static void put_range(struct full_function *x, const struct range *r)
{
	struct instr_event event = {.kind = r->write ? EVENT_RANGE_WRITE : EVENT_RANGE_READ,
				    .inst = r->call,
				    .pointer = r->pointer};
	if (LLVMGetTypeKind(LLVMTypeOf(r->pointer)) != LLVMPointerTypeKind)
		return;
	enum instr_hook hook = r->is_string ? (r->write ? HOOK_WRITE_STRING : HOOK_READ_STRING)
					    : (r->write ? HOOK_WRITE_RANGE : HOOK_READ_RANGE);
	LLVMValueRef site = instr_event_site(x->u, &event);
	if (x->u->stops && !r->write && r->is_string) {
		uint64_t what = RADDLE_ATOMIC_WHAT(LLVMConstIntGetZExtValue(site), RADDLE_STOP_STRING, false);
		instr_hook_call(
			x->u, HOOK_STOP,
			(LLVMValueRef[]){full_self(x), r->pointer, LLVMConstInt(x->u->i64, what, false)});
	}
	instr_hook_call(x->u, hook, (LLVMValueRef[]){full_self(x), r->pointer, site, r->length});
}

static LLVMValueRef as_number(struct full_function *x, LLVMValueRef v)
{
	return LLVMBuildIntCast2(x->u->builder, v, x->u->i64, true, "");
}

/* Returns n if the result of the call is more than `least`, and 0 otherwise. */
static LLVMValueRef if_more(struct full_function *x, LLVMValueRef call, uint64_t least, LLVMValueRef n)
{
	LLVMBuilderRef b = x->u->builder;
	LLVMValueRef more = LLVMBuildICmp(b, LLVMIntSGT, as_number(x, call), const64(x, least), "");
	return LLVMBuildSelect(b, more, n, const64(x, 0), "");
}

struct formatted {
	struct full_function *x;
	LLVMValueRef call;
	bool behind;
};

/* Before the call, records the strings that the call will print.  After the call, records the
 * memory that the call wrote. */
static void put_conversion(void *context, const struct instr_conversion *c)
{
	const struct formatted *f = context;
	struct full_function *x = f->x;
	LLVMValueRef length = const64(x, c->size);

	if (c->write != f->behind)
		return;
	if (c->limit >= 0)
		length = as_number(x, LLVMGetArgOperand(f->call, (unsigned)c->limit));
	if (c->is_scanned)
		length = if_more(x, f->call, c->least, length);
	put_range(x, &(struct range){.call = f->call,
				     .pointer = LLVMGetArgOperand(f->call, c->argument),
				     .length = length,
				     .write = c->write,
				     .is_string = c->is_string});
}

/* If the call failed, its argument may not be a valid pointer.  In that case the code reads other,
 * readable memory instead. */
static void put_led(struct full_function *x, LLVMValueRef call, unsigned argument)
{
	LLVMBuilderRef b = x->u->builder;
	LLVMValueRef result = as_number(x, call), self = full_self(x);
	LLVMValueRef good = LLVMBuildICmp(b, LLVMIntSGT, result, const64(x, 0), "");
	LLVMValueRef at = LLVMBuildSelect(b, good, LLVMGetArgOperand(call, argument), self, "");
	put_range(x,
		  &(struct range){.call = call,
				  .pointer = LLVMBuildLoad2(b, x->u->pointer, at, ""),
				  .length = if_more(x, call, 0, LLVMBuildAdd(b, result, const64(x, 1), "")),
				  .write = true});
}

static void put_vector(struct full_function *x, LLVMValueRef call, const struct library *f)
{
	bool write = f->way == SCATTERS || f->way == RECEIVES,
	     message = f->way == SENDS || f->way == RECEIVES;
	struct instr_event event = {.kind = write ? EVENT_RANGE_WRITE : EVENT_RANGE_READ,
				    .inst = call,
				    .pointer = LLVMGetArgOperand(call, f->argument)};
	LLVMValueRef count = const64(x, UINT64_MAX), bytes = const64(x, UINT64_MAX);
	if (f->argument + 1 >= LLVMGetNumArgOperands(call))
		return;
	if (!message)
		count = as_number(x, LLVMGetArgOperand(call, f->argument + 1));
	if (write)
		bytes = if_more(x, call, 0, as_number(x, call));
	instr_hook_call(
		x->u, HOOK_VECTOR,
		(LLVMValueRef[]){full_self(x), event.pointer, instr_event_site(x->u, &event), count, bytes});
}

static void put_function(struct full_function *x, LLVMValueRef call, const struct library *f, bool behind)
{
	LLVMTypeKind result = LLVMGetTypeKind(LLVMTypeOf(call));
	if (f->way != RETURNS && f->argument >= LLVMGetNumArgOperands(call))
		return;
	if (f->way == GATHERS || f->way == SENDS ? !behind
						 : behind && (f->way == SCATTERS || f->way == RECEIVES))
		put_vector(x, call, f);
	if (!behind)
		return;
	if (f->way == LEADS && result == LLVMIntegerTypeKind)
		put_led(x, call, f->argument);
	if (f->way == RETURNS && result == LLVMPointerTypeKind)
		put_range(x, &(struct range){call, call, const64(x, UINT64_MAX), true, true});
}

void full_library(struct full_function *x, LLVMValueRef call, bool behind)
{
	LLVMValueRef callee = ir_callee(call);
	if (callee == NULL || !ir_is_external(callee))
		return;
	instr_format_read(call, ir_name(callee), put_conversion, &(struct formatted){x, call, behind});
	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
		if (strcmp(functions[i].name, ir_name(callee)) == 0)
			put_function(x, call, &functions[i], behind);
}
