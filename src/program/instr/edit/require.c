/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compiles predicates.  The input is an expression and the instruction before which it must be
 * true.  This code adds a function __raddle_require_N to the module, which evaluates the
 * expression, and a call of that function.
 *
 * The function gets local variables as arguments.  Numbers and pointers are passed by value, so
 * that they can stay in registers.  Structures, arrays and variables whose address other code may
 * know are passed by address.  The function reads globals itself.  The runtime reads memory
 * through pointers, and ends the program if the predicate has no value or is false.  Types come
 * from debug information, and conversions are those of C.
 */
#include "instr/edit/edit.h"

#include "base/alloc.h"
#include "ir/debug.h"
#include "ir/expr.h"
#include "ir/value.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define PREFIX "__raddle_require_"
enum { LOCALS_MAX = 32 }; /* largest number of local variables in one predicate; set by hand */

/* A value.  It is either `v`, or the content of the memory at `address`. */
struct value {
	/* IR_SHAPE_NONE if there is no value because of an error, which has been reported. */
	enum ir_shape shape;
	unsigned bits;
	bool is_signed;
	/* The type of a pointer's target or an array's elements; NULL if unknown. */
	LLVMMetadataRef to;
	LLVMMetadataRef type; /* the type of a record or an array */
	unsigned dimension;   /* the number of an array's dimensions that have been indexed */
	LLVMValueRef v, address;
	bool far; /* true if the address came from a pointer, so that it may be invalid */
	/* The width of a bit-field and the number of its first bit; the width is 0 for other
	 * values. */
	unsigned field, field_offset;
};

struct local {
	const char *name;
	struct ir_variable variable;
	LLVMValueRef parameter;
	LLVMTypeRef type;
	bool by_value;
};

struct emitter {
	struct instr_unit *u;
	struct ir_debug *debug;
	LLVMBuilderRef builder;
	LLVMValueRef function, at;
	uint32_t number;
	struct local locals[LOCALS_MAX];
	size_t local_count;
	struct rd_buf why;
};

static struct value emit(struct emitter *e, const struct ir_expr *x);

static struct value fail(struct emitter *e, const char *what, const char *name)
{
	if (e->why.length == 0)
		rd_buf_addf(&e->why, what, name);
	return (struct value){.shape = IR_SHAPE_NONE};
}

static bool failed(const struct emitter *e)
{
	return e->why.length != 0;
}

static LLVMTypeRef integer_type(struct emitter *e, unsigned bits)
{
	return LLVMIntTypeInContext(e->u->context, bits);
}

static struct value integer(LLVMValueRef v, unsigned bits, bool is_signed)
{
	return (struct value){.shape = IR_SHAPE_INTEGER, .v = v, .bits = bits, .is_signed = is_signed};
}

static struct value truth(struct emitter *e, LLVMValueRef bit)
{
	return integer(LLVMBuildZExt(e->builder, bit, e->u->i32, ""), 32, true);
}

/* --- calls of the runtime ------------------------------------------------------- */

static LLVMValueRef call(struct emitter *e, const char *name, LLVMTypeRef result, LLVMValueRef *arguments,
			 unsigned count)
{
	LLVMTypeRef types[4];
	for (unsigned i = 0; i < count; i++)
		types[i] = LLVMTypeOf(arguments[i]);
	LLVMTypeRef type = LLVMFunctionType(result, types, count, false);
	LLVMValueRef f = LLVMGetNamedFunction(e->u->module, name);
	if (f == NULL)
		f = LLVMAddFunction(e->u->module, name, type);
	return LLVMBuildCall2(e->builder, type, f, arguments, count, "");
}

static LLVMValueRef number_of(struct emitter *e)
{
	return LLVMConstInt(e->u->i32, e->number, false);
}

/* --- loads ------------------------------------------------------------------------ */

/* Loads a value of a type from an address.  If the program computed the address from a pointer, it
 * may be invalid.  The runtime therefore copies the memory first. */
static LLVMValueRef load(struct emitter *e, LLVMTypeRef type, LLVMValueRef address, bool far)
{
	if (far) {
		LLVMBasicBlockRef here = LLVMGetInsertBlock(e->builder);
		LLVMPositionBuilderBefore(e->builder,
					  LLVMGetFirstInstruction(LLVMGetEntryBasicBlock(e->function)));
		LLVMValueRef copy = LLVMBuildAlloca(e->builder, type, "");
		LLVMPositionBuilderAtEnd(e->builder, here);
		uint64_t size = LLVMStoreSizeOfType(LLVMGetModuleDataLayout(e->u->module), type);
		LLVMValueRef arguments[] = {number_of(e), copy, address,
					    LLVMConstInt(e->u->i64, size, false)};
		call(e, "__raddle_peek", e->u->nothing, arguments, 4);
		address = copy;
	}
	LLVMValueRef v = LLVMBuildLoad2(e->builder, type, address, "");
	if (!far)
		LLVMSetAlignment(v, 1);
	return v;
}

/* Loads a bit-field.  A bit-field that fits in an int becomes an int, no matter what its type
 * is. */
static struct value load_field(struct emitter *e, struct value a)
{
	bool small = a.field < 32;
	unsigned bits = a.field > 32 ? a.bits : 32;
	unsigned bytes = (a.field_offset + a.field + 7) / 8;
	LLVMValueRef v = load(e, integer_type(e, bytes * 8), a.address, a.far);
	v = LLVMBuildLShr(e->builder, v, LLVMConstInt(LLVMTypeOf(v), a.field_offset, false), "");
	v = LLVMBuildTrunc(e->builder, v, integer_type(e, a.field), "");
	LLVMTypeRef whole = integer_type(e, bits);
	v = a.is_signed ? LLVMBuildSExtOrBitCast(e->builder, v, whole, "")
			: LLVMBuildZExtOrBitCast(e->builder, v, whole, "");
	return integer(v, bits, small || a.is_signed);
}

/* Converts a value to a number or a pointer.  Arrays become pointers to their elements. */
static struct value scalar(struct emitter *e, struct value a)
{
	struct ir_view view;
	switch (a.shape) {
	case IR_SHAPE_NONE: return a;
	case IR_SHAPE_RECORD: return fail(e, "a structure cannot be compared%s", "");
	case IR_SHAPE_ARRAY:
		ir_type_view(e->debug, a.type, &view);
		if (a.dimension + 1 != view.dimensions)
			return fail(e, "an array of arrays has no value%s", "");
		return (struct value){.shape = IR_SHAPE_POINTER, .bits = 64, .to = a.to, .v = a.address};
	default: break;
	}
	if (a.v != NULL)
		return a;
	if (a.field != 0)
		return load_field(e, a);
	LLVMTypeRef type = a.shape == IR_SHAPE_POINTER ? e->u->pointer
			   : a.shape == IR_SHAPE_INTEGER
				   ? integer_type(e, a.bits)
				   : (a.bits == 32 ? LLVMFloatTypeInContext(e->u->context)
						   : LLVMDoubleTypeInContext(e->u->context));
	a.v = load(e, type, a.address, a.far);
	a.address = NULL;
	return a;
}

/* Returns the value at an address, according to its type. */
static struct value place(struct emitter *e, LLVMMetadataRef type, LLVMValueRef address, bool far)
{
	struct ir_view view;
	ir_type_view(e->debug, type, &view);
	if (view.shape == IR_SHAPE_NONE)
		return fail(e, "its type is not supported%s", "");
	return (struct value){.shape = view.shape,
			      .bits = view.bits,
			      .is_signed = view.is_signed,
			      .to = view.to,
			      .type = type,
			      .address = address,
			      .far = far};
}

static LLVMValueRef step(struct emitter *e, LLVMValueRef address, LLVMValueRef bytes)
{
	LLVMTypeRef byte = integer_type(e, 8);
	return LLVMBuildGEP2(e->builder, byte, address, &bytes, 1, "");
}

/* --- names ------------------------------------------------------------------------ */

static struct value extern_value(struct emitter *e, LLVMValueRef global, const char *name)
{
	LLVMTypeRef type = LLVMGlobalGetValueType(global);
	switch (LLVMGetTypeKind(type)) {
	case LLVMIntegerTypeKind:
		return (struct value){.shape = IR_SHAPE_INTEGER,
				      .bits = LLVMGetIntTypeWidth(type),
				      .is_signed = true,
				      .address = global};
	case LLVMPointerTypeKind:
		return (struct value){.shape = IR_SHAPE_POINTER, .bits = 64, .address = global};
	case LLVMFloatTypeKind: return (struct value){.shape = IR_SHAPE_REAL, .bits = 32, .address = global};
	case LLVMDoubleTypeKind: return (struct value){.shape = IR_SHAPE_REAL, .bits = 64, .address = global};
	default: return fail(e, "the type of %s is known only where it is defined", name);
	}
}

static struct value local_value(struct emitter *e, const struct local *l)
{
	struct value a = place(e, l->variable.type, l->parameter, false);
	if (a.shape == IR_SHAPE_NONE || !l->by_value)
		return a;
	a.address = NULL;
	a.v = l->parameter;
	return a;
}

static struct value emit_name(struct emitter *e, const struct ir_expr *x)
{
	struct ir_variable variable;
	int64_t value;
	for (size_t i = 0; i < e->local_count; i++)
		if (strcmp(e->locals[i].name, x->name) == 0)
			return local_value(e, &e->locals[i]);
	if (ir_debug_variable(e->debug, e->at, x->name, &variable))
		return variable.type != NULL ? place(e, variable.type, variable.storage, false)
					     : extern_value(e, variable.storage, x->name);
	if (ir_debug_enumerator(e->debug, x->name, &value))
		return integer(LLVMConstInt(e->u->i32, (uint64_t)value, true), 32, true);
	return fail(
		e,
		"there is no variable '%s' there (macros are not variables, and globals are known only in "
		"files that use them)",
		x->name);
}

/* --- conversions ------------------------------------------------------------------- */

static LLVMValueRef to_real(struct emitter *e, struct value a, unsigned bits)
{
	LLVMTypeRef type =
		bits == 32 ? LLVMFloatTypeInContext(e->u->context) : LLVMDoubleTypeInContext(e->u->context);
	if (a.shape == IR_SHAPE_REAL)
		return LLVMTypeOf(a.v) == type ? a.v : LLVMBuildFPCast(e->builder, a.v, type, "");
	return a.is_signed ? LLVMBuildSIToFP(e->builder, a.v, type, "")
			   : LLVMBuildUIToFP(e->builder, a.v, type, "");
}

static LLVMValueRef to_bits(struct emitter *e, struct value a, unsigned bits)
{
	if (a.shape == IR_SHAPE_POINTER)
		return LLVMBuildPtrToInt(e->builder, a.v, integer_type(e, bits), "");
	return LLVMBuildIntCast2(e->builder, a.v, integer_type(e, bits), a.is_signed, "");
}

/* Converts integers smaller than int to int. */
static struct value promote(struct emitter *e, struct value a)
{
	if (a.shape != IR_SHAPE_INTEGER || a.bits >= 32)
		return a;
	return integer(to_bits(e, a, 32), 32, true);
}

/* Returns the type to which two numbers are converted in an operation.  A pointer is treated as an
 * unsigned long. */
static struct ir_arithmetic common_type(struct value a, struct value b)
{
	struct value of[] = {a, b};
	struct ir_arithmetic type = {.bits = 32, .is_signed = true};
	for (int i = 0; i < 2; i++)
		type.is_real |= of[i].shape == IR_SHAPE_REAL;
	for (int i = 0; i < 2; i++)
		if (of[i].bits > type.bits && (of[i].shape == IR_SHAPE_REAL || !type.is_real))
			type.bits = of[i].bits;
	for (int i = 0; i < 2; i++)
		if (of[i].bits == type.bits && !of[i].is_signed)
			type.is_signed = false;
	return type;
}

static LLVMValueRef is_true(struct emitter *e, struct value a)
{
	if (a.shape == IR_SHAPE_REAL)
		return LLVMBuildFCmp(e->builder, LLVMRealUNE, a.v, LLVMConstNull(LLVMTypeOf(a.v)), "");
	return LLVMBuildICmp(e->builder, LLVMIntNE, a.v, LLVMConstNull(LLVMTypeOf(a.v)), "");
}

static struct value cast(struct emitter *e, struct value a, struct ir_arithmetic to)
{
	if (to.is_real) {
		return (struct value){.shape = IR_SHAPE_REAL, .v = to_real(e, a, to.bits), .bits = to.bits};
	}
	if (to.bits == 1)
		return truth(e, is_true(e, a));
	if (a.shape == IR_SHAPE_REAL) {
		LLVMTypeRef type = integer_type(e, to.bits);
		LLVMValueRef v = to.is_signed ? LLVMBuildFPToSI(e->builder, a.v, type, "")
					      : LLVMBuildFPToUI(e->builder, a.v, type, "");
		return integer(v, to.bits, to.is_signed);
	}
	return integer(to_bits(e, a, to.bits), to.bits, to.is_signed);
}

/* --- operators ------------------------------------------------------------------------ */

static struct value emit_scalar(struct emitter *e, const struct ir_expr *x)
{
	return scalar(e, emit(e, x));
}

static struct value emit_unary(struct emitter *e, const struct ir_expr *x)
{
	if (x->op == '&') {
		struct value a = emit(e, x->a);
		if (a.shape != IR_SHAPE_NONE && (a.address == NULL || a.field != 0))
			return fail(e, "this has no address here%s", "");
		return (struct value){.shape = a.shape != IR_SHAPE_NONE ? IR_SHAPE_POINTER : IR_SHAPE_NONE,
				      .bits = 64,
				      .to = a.type,
				      .v = a.address};
	}
	struct value a = emit_scalar(e, x->a);
	if (a.shape == IR_SHAPE_NONE)
		return a;
	if (x->op == '*') {
		if (a.shape != IR_SHAPE_POINTER || a.to == NULL)
			return fail(e, "only a pointer to a known type can be followed%s", "");
		return place(e, a.to, a.v, true);
	}
	if (x->op == '!')
		return truth(e, LLVMBuildNot(e->builder, is_true(e, a), ""));
	a = promote(e, a);
	if (a.shape == IR_SHAPE_REAL && x->op == '-')
		a.v = LLVMBuildFNeg(e->builder, a.v, "");
	else if (a.shape == IR_SHAPE_INTEGER && x->op == '-')
		a.v = LLVMBuildNeg(e->builder, a.v, "");
	else if (a.shape == IR_SHAPE_INTEGER && x->op == '~')
		a.v = LLVMBuildNot(e->builder, a.v, "");
	else if (x->op != '+' || a.shape == IR_SHAPE_POINTER)
		return fail(e, "the operator does not fit its operand%s", "");
	return a;
}

/* Emits a && b or a || b.  The second operand is evaluated only if the first one does not decide
 * the result. */
static struct value emit_logical(struct emitter *e, const struct ir_expr *x)
{
	LLVMContextRef c = e->u->context;
	LLVMBasicBlockRef second = LLVMAppendBasicBlockInContext(c, e->function, "");
	LLVMBasicBlockRef end = LLVMAppendBasicBlockInContext(c, e->function, "");
	struct value a = emit_scalar(e, x->a);
	if (a.shape == IR_SHAPE_NONE)
		return a;
	LLVMValueRef bits[2] = {is_true(e, a), NULL};
	LLVMBasicBlockRef blocks[2] = {LLVMGetInsertBlock(e->builder), NULL};
	LLVMBuildCondBr(e->builder, bits[0], x->op == IR_OP_AND ? second : end,
			x->op == IR_OP_AND ? end : second);
	LLVMPositionBuilderAtEnd(e->builder, second);
	struct value b = emit_scalar(e, x->b);
	if (b.shape == IR_SHAPE_NONE)
		return b;
	bits[1] = is_true(e, b);
	blocks[1] = LLVMGetInsertBlock(e->builder);
	LLVMBuildBr(e->builder, end);
	LLVMPositionBuilderAtEnd(e->builder, end);
	LLVMValueRef phi = LLVMBuildPhi(e->builder, LLVMInt1TypeInContext(c), "");
	LLVMAddIncoming(phi, bits, blocks, 2);
	return truth(e, phi);
}

static struct value compare(struct emitter *e, int op, LLVMValueRef a, LLVMValueRef b, bool is_signed)
{
	LLVMIntPredicate p = op == IR_OP_EQ   ? LLVMIntEQ
			     : op == IR_OP_NE ? LLVMIntNE
			     : op == '<'      ? (is_signed ? LLVMIntSLT : LLVMIntULT)
			     : op == '>'      ? (is_signed ? LLVMIntSGT : LLVMIntUGT)
			     : op == IR_OP_LE ? (is_signed ? LLVMIntSLE : LLVMIntULE)
					      : (is_signed ? LLVMIntSGE : LLVMIntUGE);
	return truth(e, LLVMBuildICmp(e->builder, p, a, b, ""));
}

static bool is_comparison(int op)
{
	return op == IR_OP_EQ || op == IR_OP_NE || op == '<' || op == '>' || op == IR_OP_LE || op == IR_OP_GE;
}

static struct value reals(struct emitter *e, int op, struct value left, struct value right)
{
	LLVMBuilderRef builder = e->builder;
	struct value r = {.shape = IR_SHAPE_REAL, .bits = common_type(left, right).bits};
	LLVMValueRef a = to_real(e, left, r.bits), b = to_real(e, right, r.bits);
	if (is_comparison(op)) {
		LLVMRealPredicate p = op == IR_OP_EQ   ? LLVMRealOEQ
				      : op == IR_OP_NE ? LLVMRealUNE
				      : op == '<'      ? LLVMRealOLT
				      : op == '>'      ? LLVMRealOGT
				      : op == IR_OP_LE ? LLVMRealOLE
						       : LLVMRealOGE;
		return truth(e, LLVMBuildFCmp(builder, p, a, b, ""));
	}
	switch (op) {
	case '+': r.v = LLVMBuildFAdd(builder, a, b, ""); break;
	case '-': r.v = LLVMBuildFSub(builder, a, b, ""); break;
	case '*': r.v = LLVMBuildFMul(builder, a, b, ""); break;
	case '/': r.v = LLVMBuildFDiv(builder, a, b, ""); break;
	default: return fail(e, "the operator does not fit floating-point numbers%s", "");
	}
	return r;
}

/* Checks a divisor.  If a predicate divides by zero, the runtime ends the program. */
static LLVMValueRef divisor(struct emitter *e, LLVMValueRef b, unsigned bits)
{
	LLVMValueRef wide = LLVMBuildIntCast2(e->builder, b, e->u->i64, false, "");
	LLVMValueRef arguments[] = {number_of(e), wide};
	return LLVMBuildIntCast2(e->builder, call(e, "__raddle_divisor", e->u->i64, arguments, 2),
				 integer_type(e, bits), false, "");
}

/* Returns the distance of a shift.  Only its lower bits are used, as on the machine. */
static LLVMValueRef distance(struct emitter *e, LLVMValueRef b, unsigned bits)
{
	return LLVMBuildAnd(e->builder, b, LLVMConstInt(LLVMTypeOf(b), bits - 1, false), "");
}

static struct value integers(struct emitter *e, int op, struct value a, struct value b)
{
	bool shift = op == IR_OP_SHL || op == IR_OP_SHR;
	struct ir_arithmetic type = common_type(a, shift ? a : b);
	unsigned bits = type.bits;
	bool is_signed = type.is_signed;
	LLVMValueRef x = to_bits(e, a, bits), y = to_bits(e, b, bits), v;
	LLVMBuilderRef builder = e->builder;
	if (is_comparison(op))
		return compare(e, op, x, y, is_signed);
	switch (op) {
	case '+': v = LLVMBuildAdd(builder, x, y, ""); break;
	case '-': v = LLVMBuildSub(builder, x, y, ""); break;
	case '*': v = LLVMBuildMul(builder, x, y, ""); break;
	case '&': v = LLVMBuildAnd(builder, x, y, ""); break;
	case '|': v = LLVMBuildOr(builder, x, y, ""); break;
	case '^': v = LLVMBuildXor(builder, x, y, ""); break;
	case IR_OP_SHL: v = LLVMBuildShl(builder, x, distance(e, y, bits), ""); break;
	case IR_OP_SHR:
		y = distance(e, y, bits);
		v = is_signed ? LLVMBuildAShr(builder, x, y, "") : LLVMBuildLShr(builder, x, y, "");
		break;
	case '/':
		y = divisor(e, y, bits);
		v = is_signed ? LLVMBuildSDiv(builder, x, y, "") : LLVMBuildUDiv(builder, x, y, "");
		break;
	default:
		y = divisor(e, y, bits);
		v = is_signed ? LLVMBuildSRem(builder, x, y, "") : LLVMBuildURem(builder, x, y, "");
	}
	return integer(v, bits, is_signed);
}

/* Computes a + n or a - n for a pointer a. */
static struct value move(struct emitter *e, struct value a, struct value n, bool back)
{
	uint64_t size = a.to != NULL ? ir_type_bytes(e->debug, a.to) : 1;
	LLVMValueRef bytes = LLVMBuildMul(e->builder, to_bits(e, n, 64),
					  LLVMConstInt(e->u->i64, size != 0 ? size : 1, false), "");
	a.v = step(e, a.v, back ? LLVMBuildNeg(e->builder, bytes, "") : bytes);
	return a;
}

static struct value pointers(struct emitter *e, int op, struct value a, struct value b)
{
	bool both = a.shape == b.shape;
	if (is_comparison(op))
		return compare(e, op, to_bits(e, a, 64), to_bits(e, b, 64), false);
	if (op == '+' && !both)
		return a.shape == IR_SHAPE_POINTER ? move(e, a, b, false) : move(e, b, a, false);
	if (op == '-' && !both && a.shape == IR_SHAPE_POINTER)
		return move(e, a, b, true);
	if (op != '-' || !both)
		return fail(e, "the operator does not fit pointers%s", "");
	uint64_t size = a.to != NULL ? ir_type_bytes(e->debug, a.to) : 1;
	LLVMValueRef bytes = LLVMBuildSub(e->builder, to_bits(e, a, 64), to_bits(e, b, 64), "");
	return integer(
		LLVMBuildSDiv(e->builder, bytes, LLVMConstInt(e->u->i64, size != 0 ? size : 1, false), ""),
		64, true);
}

static struct value emit_binary(struct emitter *e, const struct ir_expr *x)
{
	if (x->op == IR_OP_AND || x->op == IR_OP_OR)
		return emit_logical(e, x);
	struct value a = promote(e, emit_scalar(e, x->a)), b = promote(e, emit_scalar(e, x->b));
	if (failed(e))
		return (struct value){.shape = IR_SHAPE_NONE};
	if (a.shape == IR_SHAPE_POINTER || b.shape == IR_SHAPE_POINTER) {
		if (a.shape == IR_SHAPE_REAL || b.shape == IR_SHAPE_REAL)
			return fail(e, "a pointer and a floating-point number cannot be combined%s", "");
		return pointers(e, x->op, a, b);
	}
	if (a.shape == IR_SHAPE_REAL || b.shape == IR_SHAPE_REAL)
		return reals(e, x->op, a, b);
	return integers(e, x->op, a, b);
}

/* Emits a ?  b : c.  Pointers stay pointers.  Numbers are converted to their common type. */
static struct value emit_choice(struct emitter *e, const struct ir_expr *x)
{
	struct value a = emit_scalar(e, x->a);
	if (a.shape == IR_SHAPE_NONE)
		return a;
	LLVMContextRef c = e->u->context;
	LLVMBasicBlockRef yes = LLVMAppendBasicBlockInContext(c, e->function, "");
	LLVMBasicBlockRef no = LLVMAppendBasicBlockInContext(c, e->function, "");
	LLVMBasicBlockRef end = LLVMAppendBasicBlockInContext(c, e->function, ""), from[2];
	LLVMBuildCondBr(e->builder, is_true(e, a), yes, no);
	LLVMPositionBuilderAtEnd(e->builder, yes);
	struct value r[2];
	r[0] = emit_scalar(e, x->b);
	from[0] = LLVMGetInsertBlock(e->builder);
	LLVMPositionBuilderAtEnd(e->builder, no);
	r[1] = emit_scalar(e, x->c);
	from[1] = LLVMGetInsertBlock(e->builder);
	if (failed(e))
		return (struct value){.shape = IR_SHAPE_NONE};
	struct ir_arithmetic type = common_type(r[0], r[1]);
	bool pointer = r[0].shape == IR_SHAPE_POINTER && r[1].shape == IR_SHAPE_POINTER;
	LLVMValueRef v[2];
	for (int i = 0; i < 2; i++) {
		LLVMPositionBuilderAtEnd(e->builder, from[i]);
		v[i] = pointer	      ? r[i].v
		       : type.is_real ? to_real(e, r[i], type.bits)
				      : to_bits(e, r[i], type.bits);
		LLVMBuildBr(e->builder, end);
	}
	LLVMPositionBuilderAtEnd(e->builder, end);
	struct value result = pointer	     ? r[0]
			      : type.is_real ? (struct value){.shape = IR_SHAPE_REAL, .bits = type.bits}
					     : integer(NULL, type.bits, type.is_signed);
	result.v = LLVMBuildPhi(e->builder, LLVMTypeOf(v[0]), "");
	LLVMAddIncoming(result.v, v, from, 2);
	return result;
}

/* --- parts of objects ------------------------------------------------------------------- */

static struct value emit_member(struct emitter *e, const struct ir_expr *x)
{
	struct value a = emit(e, x->a);
	struct ir_found_member member;
	if (a.shape == IR_SHAPE_NONE)
		return a;
	if (a.shape != IR_SHAPE_RECORD || !ir_type_member(e->debug, a.type, x->name, &member))
		return fail(e, "there is no member '%s' in it, or its type is not known in this file",
			    x->name);
	uint64_t bytes = member.offset / 8;
	struct value r =
		place(e, member.type, step(e, a.address, LLVMConstInt(e->u->i64, bytes, false)), a.far);
	r.field = member.bits;
	r.field_offset = member.bits != 0 ? (unsigned)(member.offset % 8) : 0;
	return r;
}

static struct value emit_index(struct emitter *e, const struct ir_expr *x)
{
	struct value a = emit(e, x->a), index = emit_scalar(e, x->b);
	struct ir_view view;
	if (a.shape == IR_SHAPE_NONE || index.shape == IR_SHAPE_NONE)
		return (struct value){.shape = IR_SHAPE_NONE};
	if (index.shape != IR_SHAPE_INTEGER)
		return fail(e, "the index is not an integer%s", "");
	if (a.shape != IR_SHAPE_ARRAY) {
		a = scalar(e, a);
		if (a.shape != IR_SHAPE_POINTER || a.to == NULL)
			return fail(e, "only an array or a pointer to a known type can have an index%s", "");
		a = move(e, a, index, false);
		return place(e, a.to, a.v, true);
	}
	ir_type_view(e->debug, a.type, &view);
	uint64_t size = ir_type_bytes(e->debug, a.to) * ir_type_step(e->debug, a.type, a.dimension);
	LLVMValueRef bytes =
		LLVMBuildMul(e->builder, to_bits(e, index, 64), LLVMConstInt(e->u->i64, size, false), "");
	/* An element beyond the end of the array may be in unmapped memory. */
	LLVMValueRef address = step(e, a.address, bytes);
	if (a.dimension + 1 == view.dimensions)
		return place(e, a.to, address, true);
	a.address = address;
	a.dimension++;
	return a;
}

static struct value emit(struct emitter *e, const struct ir_expr *x)
{
	if (failed(e))
		return (struct value){.shape = IR_SHAPE_NONE};
	switch (x->kind) {
	case IR_EXPR_INTEGER:
		return integer(LLVMConstInt(integer_type(e, x->type.bits), x->value, false), x->type.bits,
			       x->type.is_signed);
	case IR_EXPR_REAL:
		return (struct value){.shape = IR_SHAPE_REAL,
				      .bits = 64,
				      .v = LLVMConstReal(LLVMDoubleTypeInContext(e->u->context), x->real)};
	case IR_EXPR_NAME: return emit_name(e, x);
	case IR_EXPR_UNARY: return emit_unary(e, x);
	case IR_EXPR_BINARY: return emit_binary(e, x);
	case IR_EXPR_CHOICE: return emit_choice(e, x);
	case IR_EXPR_MEMBER: return emit_member(e, x);
	case IR_EXPR_INDEX: return emit_index(e, x);
	case IR_EXPR_CAST: {
		struct value a = emit_scalar(e, x->a);
		return a.shape == IR_SHAPE_NONE ? a : cast(e, a, x->type);
	}
	}
	return (struct value){.shape = IR_SHAPE_NONE};
}

/* --- the function ---------------------------------------------------------------------------- */

/* Returns true if no other code can know the variable's address. */
static bool is_private(LLVMValueRef alloca)
{
	for (LLVMUseRef use = LLVMGetFirstUse(alloca); use != NULL; use = LLVMGetNextUse(use)) {
		LLVMValueRef user = LLVMGetUser(use);
		if (!LLVMIsALoadInst(user) && !(LLVMIsAStoreInst(user) && LLVMGetOperand(user, 0) != alloca))
			return false;
	}
	return true;
}

/* Returns true if the variable is passed by value.  It must be a number or pointer and have
 * exactly the type that debug information states, and no other thread may be able to change it
 * before the function reads it. */
static bool goes_by_value(struct emitter *e, const struct ir_variable *v)
{
	struct ir_view view;
	if (!LLVMIsAAllocaInst(v->storage) || !is_private(v->storage))
		return false;
	ir_type_view(e->debug, v->type, &view);
	LLVMTypeRef type = LLVMGetAllocatedType(v->storage);
	switch (LLVMGetTypeKind(type)) {
	case LLVMIntegerTypeKind:
		return view.shape == IR_SHAPE_INTEGER && LLVMGetIntTypeWidth(type) == view.bits;
	case LLVMPointerTypeKind: return view.shape == IR_SHAPE_POINTER;
	case LLVMFloatTypeKind: return view.shape == IR_SHAPE_REAL && view.bits == 32;
	case LLVMDoubleTypeKind: return view.shape == IR_SHAPE_REAL && view.bits == 64;
	default: return false;
	}
}

static void find_locals(struct emitter *e, const struct ir_expr *x)
{
	struct ir_variable v;
	if (x == NULL)
		return;
	find_locals(e, x->a);
	find_locals(e, x->b);
	find_locals(e, x->c);
	if (x->kind != IR_EXPR_NAME || !ir_debug_variable(e->debug, e->at, x->name, &v) || !v.local)
		return;
	for (size_t i = 0; i < e->local_count; i++)
		if (strcmp(e->locals[i].name, x->name) == 0)
			return;
	if (e->local_count == LOCALS_MAX) {
		fail(e, "too many variables%s", "");
		return;
	}
	struct local *l = &e->locals[e->local_count++];
	*l = (struct local){.name = x->name, .variable = v, .by_value = goes_by_value(e, &v)};
	l->type = l->by_value ? LLVMGetAllocatedType(v.storage) : e->u->pointer;
}

static LLVMTypeRef make_function(struct emitter *e)
{
	LLVMTypeRef types[LOCALS_MAX];
	char name[64];
	for (size_t i = 0; i < e->local_count; i++)
		types[i] = e->locals[i].type;
	LLVMTypeRef type = LLVMFunctionType(e->u->nothing, types, (unsigned)e->local_count, false);
	/* If a line is entered in several places, LLVM makes the name unique. */
	snprintf(name, sizeof name, PREFIX "%" PRIu32, e->number);
	e->function = LLVMAddFunction(e->u->module, name, type);
	LLVMSetLinkage(e->function, LLVMInternalLinkage);
	for (size_t i = 0; i < e->local_count; i++)
		e->locals[i].parameter = LLVMGetParam(e->function, (unsigned)i);
	LLVMPositionBuilderAtEnd(e->builder,
				 LLVMAppendBasicBlockInContext(e->u->context, e->function, "entry"));
	return type;
}

/* Emits the body in a separate block, so that the entry block only allocates memory for copies. */
static void emit_body(struct emitter *e, const struct ir_expr *x)
{
	LLVMBasicBlockRef body = LLVMAppendBasicBlockInContext(e->u->context, e->function, "body");
	LLVMBuildBr(e->builder, body);
	LLVMPositionBuilderAtEnd(e->builder, body);
	struct value a = emit_scalar(e, x);
	if (a.shape == IR_SHAPE_NONE)
		return;
	LLVMValueRef holds = LLVMBuildZExt(e->builder, is_true(e, a), e->u->i32, "");
	LLVMValueRef arguments[] = {number_of(e), holds};
	call(e, "__raddle_require", e->u->nothing, arguments, 2);
	LLVMBuildRetVoid(e->builder);
}

static void emit_call(struct emitter *e, LLVMTypeRef type)
{
	LLVMValueRef arguments[LOCALS_MAX];
	LLVMPositionBuilderBefore(e->builder, e->at);
	LLVMSetCurrentDebugLocation2(e->builder, LLVMInstructionGetDebugLoc(e->at));
	for (size_t i = 0; i < e->local_count; i++) {
		const struct local *l = &e->locals[i];
		arguments[i] = l->variable.storage;
		if (!l->by_value)
			continue;
		arguments[i] = LLVMBuildLoad2(e->builder, l->type, l->variable.storage, "");
		instr_edit_own(arguments[i]);
	}
	LLVMBuildCall2(e->builder, type, e->function, arguments, (unsigned)e->local_count, "");
	LLVMSetCurrentDebugLocation2(e->builder, NULL);
}

bool instr_edit_is_predicate(LLVMValueRef function)
{
	return ir_starts(ir_name(function), PREFIX);
}

const char *instr_require(struct instr_unit *u, struct ir_debug *d, LLVMValueRef before,
			  const struct rd_edit *edit, uint32_t number)
{
	struct emitter e = {.u = u,
			    .debug = d,
			    .builder = u->builder,
			    .at = before,
			    .number = number,
			    .why = RD_BUF_INIT};
	struct rd_arena *arena = rd_arena_new();
	const char *why = NULL;
	struct ir_expr *x = ir_expr_parse(edit->expression, arena, &e.why);
	LLVMSetCurrentDebugLocation2(u->builder, NULL);
	if (x != NULL)
		find_locals(&e, x);
	if (x != NULL && !failed(&e)) {
		LLVMTypeRef type = make_function(&e);
		emit_body(&e, x);
		if (!failed(&e))
			emit_call(&e, type);
	}
	if (failed(&e))
		why = ir_debug_keep(d, e.why.data);
	rd_buf_release(&e.why);
	rd_arena_free(arena);
	return why;
}
