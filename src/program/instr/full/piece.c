/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds pieces (raddle/full.h).  Ops are added one after another.  The first op makes code that
 * reserves space, and each op makes code at the builder's position that stores its fields.  The
 * rows of the layout are written too.  The length of a piece is known only when it ends.  Then the
 * call that reserves the space is completed.
 *
 * A piece without fields consists of its head only.  A piece with fields ends with a byte that
 * marks it as complete.
 */
#include "instr/full/full.h"

#include "base/alloc.h"
#include "base/error.h"
#include "raddle/event.h"
#include "raddle/full.h"

/* The largest size of an op, in bytes.  A piece is closed when there may not be enough room for
 * another op. */
enum { OP_MAX = 1024 };

void full_build_at(struct full_function *x, LLVMValueRef inst)
{
	x->at = inst;
	LLVMPositionBuilderBefore(x->u->builder, inst);
	LLVMSetCurrentDebugLocation2(x->u->builder, NULL);
}

LLVMValueRef full_self(struct full_function *x)
{
	if (x->self == NULL)
		x->self = instr_hook_call(x->u, HOOK_ENTER, NULL);
	return x->self;
}

static struct full_piece *current(struct full_function *x)
{
	RD_ASSERT(x->piece_count > 0);
	return &x->pieces[x->piece_count - 1];
}

static LLVMValueRef const32(struct full_function *x, uint64_t n)
{
	return LLVMConstInt(x->u->i32, n, false);
}

static LLVMValueRef place(struct full_function *x, uint32_t offset)
{
	LLVMTypeRef i8 = LLVMInt8TypeInContext(x->u->context);
	LLVMValueRef index = LLVMConstInt(x->u->i64, offset, false);
	return LLVMBuildGEP2(x->u->builder, i8, current(x)->room, &index, 1, "");
}

static void store(struct full_function *x, uint32_t offset, LLVMValueRef v)
{
	LLVMSetAlignment(LLVMBuildStore(x->u->builder, v, place(x, offset)), 1);
}

static void begin(struct full_function *x)
{
	RD_GROW(x->pieces, x->piece_capacity, x->piece_count + 1);
	struct full_piece *p = &x->pieces[x->piece_count++];
	*p = (struct full_piece){.number = ++x->u->sites.pieces,
				 .size = RADDLE_PIECE_HEAD,
				 .next = FACTS_NONE,
				 .ops = RD_BUF_INIT};
	uint32_t piece = (uint32_t)(x->u->sites.slot << RADDLE_SITE_LOCAL_BITS) + p->number;
	p->room = instr_hook_call(x->u, HOOK_PIECE, (LLVMValueRef[]){full_self(x), const32(x, 0)});
	x->open = true;
	store(x, 0, const32(x, raddle_piece_head(piece)));
}

void full_piece_need(struct full_function *x)
{
	if (x->bare != NULL)
		return;
	if (x->open && current(x)->size + OP_MAX > RADDLE_PIECE_MAX)
		full_piece_close(x);
	if (!x->open)
		begin(x);
}

void full_piece_close(struct full_function *x)
{
	if (!x->open)
		return;
	struct full_piece *p = current(x);
	if (p->size > RADDLE_PIECE_HEAD)
		store(x, p->size++, LLVMConstInt(LLVMInt8TypeInContext(x->u->context), 1, false));
	RD_ASSERT(p->size <= RADDLE_PIECE_MAX);
	LLVMSetOperand(p->room, 1, const32(x, p->size));
	instr_hook_call(x->u, HOOK_PIECE_END, (LLVMValueRef[]){p->room});
	x->open = false;
	x->self = NULL;
}

void full_op(struct full_function *x, char letter, uint32_t site)
{
	full_piece_need(x);
	rd_buf_addf(x->bare != NULL ? x->bare : &current(x)->ops, "\t%c%u", letter, site);
}

/* Stores a field after the others.  `bytes` is the number of bytes that the store writes. */
static void put(struct full_function *x, LLVMValueRef v, uint32_t bytes)
{
	struct full_piece *p = current(x);
	RD_ASSERT(x->open);
	store(x, p->size, v);
	p->size += bytes;
}

void full_put_address(struct full_function *x, LLVMValueRef pointer)
{
	LLVMBuilderRef b = x->u->builder;
	LLVMValueRef n = LLVMBuildPtrToInt(b, pointer, x->u->i64, "");
	put(x, LLVMBuildAdd(b, n, LLVMConstInt(x->u->i64, 1, false), ""), 8);
}

static void add_type(struct full_function *x, char letter, uint64_t size)
{
	rd_buf_addf(&current(x)->ops, "%c%llu", letter, (unsigned long long)size);
}

void full_put_word(struct full_function *x, const char *type, LLVMValueRef v)
{
	rd_buf_adds(&current(x)->ops, type);
	put(x, v, 8);
}

static uint32_t integer_bytes(unsigned width)
{
	uint32_t bytes = 1;
	while (bytes * 8 < width)
		bytes *= 2;
	return bytes;
}

/* Returns the size of a floating-point type in bytes, or 0 for other types. */
static uint32_t float_bytes(LLVMTypeRef type)
{
	switch (LLVMGetTypeKind(type)) {
	case LLVMHalfTypeKind:
	case LLVMBFloatTypeKind: return 2;
	case LLVMFloatTypeKind: return 4;
	case LLVMDoubleTypeKind: return 8;
	case LLVMX86_FP80TypeKind: return 10;
	case LLVMFP128TypeKind: return 16;
	default: return 0;
	}
}

bool full_is_recorded(struct full_function *x, LLVMTypeRef type)
{
	switch (LLVMGetTypeKind(type)) {
	case LLVMIntegerTypeKind: return LLVMGetIntTypeWidth(type) <= 8 * RADDLE_FULL_VALUE_MAX;
	case LLVMPointerTypeKind: return LLVMGetPointerAddressSpace(type) == 0;
	case LLVMStructTypeKind:
	case LLVMArrayTypeKind:
	case LLVMVectorTypeKind: {
		if (!LLVMTypeIsSized(type))
			return false;
		uint64_t size = LLVMStoreSizeOfType(x->u->layout, type);
		return size != 0 && size <= RADDLE_FULL_VALUE_MAX;
	}
	default: return float_bytes(type) != 0;
	}
}

bool full_put_value(struct full_function *x, LLVMValueRef v)
{
	LLVMTypeRef type = LLVMTypeOf(v);
	uint32_t bytes = float_bytes(type);
	if (!full_is_recorded(x, type) || current(x)->size + RADDLE_FULL_VALUE_MAX + 1 > RADDLE_PIECE_MAX)
		return false;
	if (bytes != 0) {
		add_type(x, 'f', bytes);
	} else if (LLVMGetTypeKind(type) == LLVMPointerTypeKind) {
		add_type(x, 'p', bytes = 8);
	} else if (LLVMGetTypeKind(type) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(type) <= 128) {
		bytes = integer_bytes(LLVMGetIntTypeWidth(type));
		add_type(x, 'i', bytes);
		if (LLVMGetIntTypeWidth(type) != bytes * 8)
			v = LLVMBuildZExt(x->u->builder, v, LLVMIntTypeInContext(x->u->context, bytes * 8),
					  "");
	} else {
		bytes = (uint32_t)LLVMStoreSizeOfType(x->u->layout, type);
		add_type(x, 'v', bytes);
	}
	put(x, v, bytes);
	return true;
}

void full_mark(struct full_function *x, char mark, uint32_t n)
{
	struct rd_buf *ops = x->bare != NULL ? x->bare : &current(x)->ops;
	rd_buf_addc(ops, mark);
	if (n != 0)
		rd_buf_addf(ops, "%u", n);
}

void full_put_origin(struct full_function *x, LLVMValueRef v)
{
	bool calculated = full_is_calculated_with(x, v);
	if (full_put_value(x, v) && calculated)
		full_mark(x, '*', 0);
}

/* Appends the ops of a bare block (a block without a piece), and those of the bare blocks that
 * follow it, to the ops of a piece. */
static void add_bare(struct full_function *x, struct rd_buf *out, uint32_t block)
{
	uint32_t count = 0;
	while (block != FACTS_NONE && count++ < x->f->cfg.graph.nodes) {
		rd_buf_add(out, x->blocks[block].ops.data, x->blocks[block].ops.length);
		block = x->blocks[block].next;
	}
}

void full_rows(struct full_function *x)
{
	struct rd_buf *out = &x->u->sites.text;
	for (size_t i = 0; i < x->piece_count; i++) {
		const struct full_piece *p = &x->pieces[i];
		rd_buf_addf(out, "P\t%u\t%u\t%u", p->number, x->entry, p->size);
		rd_buf_add(out, p->ops.data, p->ops.length);
		add_bare(x, out, p->next);
		rd_buf_addc(out, '\n');
	}
}

uint32_t full_site(struct full_function *x, const struct instr_site *site)
{
	return instr_sites_add(&x->u->sites, site) - (uint32_t)(x->u->sites.slot << RADDLE_SITE_LOCAL_BITS);
}

LLVMValueRef full_site_number(struct full_function *x, uint32_t n)
{
	return const32(x, (x->u->sites.slot << RADDLE_SITE_LOCAL_BITS) + n);
}
