/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Generates code that computes how many bytes a library function reads or writes, according to a
 * row of raddle/libc.inc.  Then inserts the call of a hook that records this range of bytes.
 */
#include "instr/scan/event.h"

#include "base/error.h"
#include "raddle/abi.h"
#include "raddle/event.h"

static LLVMValueRef const64(struct instr_unit *u, uint64_t n)
{
	return LLVMConstInt(u->i64, n, false);
}

static LLVMValueRef as_number(struct instr_unit *u, LLVMValueRef v, bool is_signed)
{
	LLVMTypeRef type = LLVMTypeOf(v);
	if (LLVMGetTypeKind(type) != LLVMIntegerTypeKind)
		return const64(u, 0);
	return LLVMBuildIntCast2(u->builder, v, u->i64, is_signed, "");
}

static LLVMValueRef argument(struct instr_unit *u, const struct instr_event *event, int n)
{
	RD_ASSERT(n >= 0);
	if ((unsigned)n >= LLVMGetNumArgOperands(event->inst))
		return const64(u, 0);
	return as_number(u, LLVMGetArgOperand(event->inst, n), false);
}

static LLVMValueRef limit(struct instr_unit *u, const struct instr_event *event, int n)
{
	return n < 0 ? const64(u, UINT64_MAX) : argument(u, event, n);
}

/* Returns the result of the call as a length, or 0 if the result is negative. */
static LLVMValueRef positive_result(struct instr_unit *u, const struct instr_event *event)
{
	LLVMBuilderRef b = u->builder;
	LLVMValueRef result = as_number(u, event->inst, true);
	LLVMValueRef positive = LLVMBuildICmp(b, LLVMIntSGT, result, const64(u, 0), "");
	return LLVMBuildSelect(b, positive, result, const64(u, 0), "");
}

static LLVMValueRef smaller(struct instr_unit *u, LLVMValueRef x, LLVMValueRef y)
{
	LLVMBuilderRef b = u->builder;
	return LLVMBuildSelect(b, LLVMBuildICmp(b, LLVMIntULT, x, y, ""), x, y, "");
}

static LLVMValueRef printed_length(struct instr_unit *u, const struct instr_event *event)
{
	LLVMBuilderRef b = u->builder;
	LLVMValueRef result = as_number(u, event->inst, true);
	LLVMValueRef good = LLVMBuildICmp(b, LLVMIntSGE, result, const64(u, 0), "");
	LLVMValueRef n = LLVMBuildAdd(b, result, const64(u, 1), "");
	n = smaller(u, n, limit(u, event, event->libc->a));
	return LLVMBuildSelect(b, good, n, const64(u, 0), "");
}

/* Returns the number of bytes that a search function such as memchr() has read: those up to the
 * byte that it found, or `otherwise` bytes if it found none. */
static LLVMValueRef found_length(struct instr_unit *u, const struct instr_event *event,
				 LLVMValueRef otherwise)
{
	LLVMBuilderRef b = u->builder;
	LLVMValueRef end = LLVMBuildPtrToInt(b, event->inst, u->i64, "");
	LLVMValueRef start = LLVMBuildPtrToInt(b, event->pointer, u->i64, "");
	LLVMValueRef n = LLVMBuildAdd(b, LLVMBuildSub(b, end, start, ""), const64(u, 1), "");
	return LLVMBuildSelect(b, LLVMBuildIsNull(b, event->inst, ""), otherwise, n, "");
}

/* Returns n, or 0 if the pointer is NULL. */
static LLVMValueRef unless_null(struct instr_unit *u, const struct instr_event *event, LLVMValueRef n)
{
	LLVMBuilderRef b = u->builder;
	return LLVMBuildSelect(b, LLVMBuildIsNull(b, event->pointer, ""), const64(u, 0), n, "");
}

/* Returns the limit `n` of a row as a value.  A negative number means no limit. */
static LLVMValueRef most(struct instr_unit *u, int n)
{
	return const64(u, n < 0 ? UINT64_MAX : (uint64_t)n);
}

static LLVMValueRef scanned_length(struct instr_unit *u, const struct instr_event *event)
{
	LLVMBuilderRef b = u->builder;
	LLVMValueRef result = as_number(u, event->inst, true);
	LLVMValueRef more = LLVMBuildICmp(b, LLVMIntSGT, result, const64(u, (uint64_t)event->libc->b), "");
	return LLVMBuildSelect(b, more, most(u, event->libc->a), const64(u, 0), "");
}

static enum instr_hook string_hook(const struct instr_libc *row)
{
	return row->write ? HOOK_WRITE_STRING : HOOK_READ_STRING;
}

/* Returns the length of a library function's range.  Stores the hook that takes this length in
 * *hook. */
static LLVMValueRef libc_length(struct instr_unit *u, const struct instr_event *event, enum instr_hook *hook)
{
	const struct instr_libc *row = event->libc;
	LLVMBuilderRef b = u->builder;
	*hook = row->write ? HOOK_WRITE_RANGE : HOOK_READ_RANGE;
	switch (row->length) {
	case LENGTH_FIXED: return unless_null(u, event, const64(u, row->a));
	case LENGTH_ARG: return argument(u, event, row->a);
	case LENGTH_ARG_TIMES: return LLVMBuildMul(b, argument(u, event, row->a), const64(u, row->b), "");
	case LENGTH_PRODUCT:
		return LLVMBuildMul(b, argument(u, event, row->a), argument(u, event, row->b), "");
	case LENGTH_RESULT: return LLVMBuildMul(b, positive_result(u, event), const64(u, row->a), "");
	case LENGTH_RESULT_TIMES:
		return LLVMBuildMul(b, positive_result(u, event), argument(u, event, row->a), "");
	case LENGTH_PRINTED: return printed_length(u, event);
	case LENGTH_FOUND:
		if (row->a >= 0)
			return found_length(u, event, argument(u, event, row->a));
		*hook = HOOK_READ_STRING;
		return found_length(u, event, const64(u, UINT64_MAX));
	case LENGTH_STRING: *hook = string_hook(row); return const64(u, UINT64_MAX);
	case LENGTH_STRING_MAX: *hook = string_hook(row); return argument(u, event, row->a);
	case LENGTH_STRING_IF:
		*hook = string_hook(row);
		return LLVMBuildSelect(b, LLVMBuildIsNull(b, event->inst, ""), const64(u, 0),
				       argument(u, event, row->a), "");
	case LENGTH_COMMON: *hook = HOOK_READ_COMMON; return limit(u, event, row->b);
	case LENGTH_COPIED: *hook = HOOK_WRITE_COPIED; return limit(u, event, row->b);
	case LENGTH_APPENDED: *hook = HOOK_WRITE_APPENDED; return limit(u, event, row->b);
	case LENGTH_PRINTED_STRING:
		*hook = HOOK_READ_STRING;
		return unless_null(u, event, row->b >= 0 ? argument(u, event, row->b) : most(u, row->a));
	case LENGTH_SCANNED_STRING: *hook = HOOK_WRITE_STRING; return scanned_length(u, event);
	case LENGTH_SCANNED: return scanned_length(u, event);
	case LENGTH_DESCRIPTOR:
	case LENGTH_OPENED: break;
	}
	RD_BUG("a length without code");
}

/* For a copied string, recording the first byte is enough, because threads that race on a string
 * also race on its first byte. */
LLVMValueRef instr_libc_length_before(struct instr_unit *u, const struct instr_event *event)
{
	RD_ASSERT(event->libc != NULL);
	const struct instr_libc *row = event->libc;
	enum instr_hook hook;
	switch (row->length) {
	case LENGTH_FIXED:
	case LENGTH_ARG:
	case LENGTH_ARG_TIMES:
	case LENGTH_PRODUCT: return libc_length(u, event, &hook);
	case LENGTH_STRING:
	case LENGTH_PRINTED_STRING: return row->write ? const64(u, 1) : const64(u, RADDLE_STOP_STRING);
	case LENGTH_STRING_MAX:
	case LENGTH_COMMON:
	case LENGTH_COPIED:
	case LENGTH_APPENDED: return unless_null(u, event, const64(u, 1));
	default: return NULL;
	}
}

static bool takes_two_pointers(enum instr_hook hook)
{
	return hook == HOOK_READ_COMMON || hook == HOOK_WRITE_COPIED || hook == HOOK_WRITE_APPENDED;
}

static bool is_string(enum instr_hook hook)
{
	return hook == HOOK_READ_STRING || hook == HOOK_WRITE_STRING;
}

/* Returns the length.  Returns 0 if the pointer is invalid and the library function accepts such
 * pointers. */
static LLVMValueRef readable(struct instr_unit *u, const struct instr_event *event, enum instr_hook hook,
			     LLVMValueRef n)
{
	if (!event->libc->is_checked || (!is_string(hook) && !u->options->flavour->values))
		return n;
	return instr_hook_call(
		u, HOOK_READABLE,
		(LLVMValueRef[]){event->pointer, LLVMConstInt(u->i32, is_string(hook), false), n});
}

static bool is_descriptor(const struct instr_libc *row)
{
	return row->length == LENGTH_DESCRIPTOR || row->length == LENGTH_OPENED;
}

/* Inserts the hook for the bytes that represent a file descriptor (raddle/event.h).  An invalid
 * descriptor has no bytes. */
static void call_descriptor(struct instr_unit *u, const struct instr_event *event, LLVMValueRef self,
			    LLVMValueRef site)
{
	LLVMBuilderRef b = u->builder;
	bool opened = event->libc->length == LENGTH_OPENED;
	LLVMValueRef number =
		opened ? event->inst : LLVMGetArgOperand(event->inst, (unsigned)event->libc->argument);
	number = LLVMBuildIntCast2(b, number, u->i64, true, "");
	LLVMValueRef known = LLVMBuildICmp(b, LLVMIntULT, number, const64(u, RADDLE_DESCRIPTOR_COUNT), "");
	LLVMValueRef at = LLVMBuildAdd(b, LLVMBuildMul(b, number, const64(u, RADDLE_DESCRIPTOR_BYTES), ""),
				       const64(u, RADDLE_DESCRIPTORS), "");
	LLVMValueRef n = LLVMBuildSelect(b, known, const64(u, opened ? 2 : 1), const64(u, 0), "");
	instr_hook_call(u, event->libc->write ? HOOK_WRITE_RANGE : HOOK_READ_RANGE,
			(LLVMValueRef[]){self, LLVMBuildIntToPtr(b, at, u->pointer, ""), site, n});
}

void instr_libc_call(struct instr_unit *u, const struct instr_event *event, LLVMValueRef self,
		     LLVMValueRef site)
{
	enum instr_hook hook;
	RD_ASSERT(event->libc != NULL && self != NULL);
	if (is_descriptor(event->libc)) {
		call_descriptor(u, event, self, site);
		return;
	}
	LLVMValueRef n = libc_length(u, event, &hook);
	n = readable(u, event, hook, n);
	if (takes_two_pointers(hook)) {
		LLVMValueRef other = LLVMGetArgOperand(event->inst, event->libc->a);
		instr_hook_call(u, hook, (LLVMValueRef[]){self, event->pointer, other, site, n});
	} else {
		instr_hook_call(u, hook, (LLVMValueRef[]){self, event->pointer, site, n});
	}
}
