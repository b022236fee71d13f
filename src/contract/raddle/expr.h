/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Expressions over a program's input.  The flavour `shadow` builds the nodes of expressions, and
 * the driver reads them.  A node takes 32 bytes and never changes.  It refers only to earlier
 * nodes, so a reader evaluates all nodes in one pass, without recursion.  Reference 0 means that
 * the value is concrete, that is, it does not depend on the input.  Values have 1 to 64 bits; the
 * result of a comparison has one bit.
 *
 * Only raddle_expr_apply() defines what the operators mean.  The runtime folds constants with it,
 * the driver evaluates nodes with it, and tests compare the solver with it.
 */
#ifndef RADDLE_EXPR_H
#define RADDLE_EXPR_H

#include <stdint.h>

/* X(constant, number of operands, operator in printed expressions). */
#define RADDLE_EXPRS(X)                                                                                      \
	X(NONE, 0, "")                                                                                       \
	X(VAR, 0, "") /* k: the number of the variable */                                                    \
	X(CONST, 0, "")                                                                                      \
	X(ADD, 2, "+")                                                                                       \
	X(SUB, 2, "-")                                                                                       \
	X(MUL, 2, "*")                                                                                       \
	X(UDIV, 2, "/u")                                                                                     \
	X(SDIV, 2, "/")                                                                                      \
	X(UREM, 2, "%u")                                                                                     \
	X(SREM, 2, "%")                                                                                      \
	X(AND, 2, "&")                                                                                       \
	X(OR, 2, "|")                                                                                        \
	X(XOR, 2, "^")                                                                                       \
	X(SHL, 2, "<<")                                                                                      \
	X(LSHR, 2, ">>u")                                                                                    \
	X(ASHR, 2, ">>")                                                                                     \
	X(EQ, 2, "==")                                                                                       \
	X(ULT, 2, "<u")                                                                                      \
	X(ULE, 2, "<=u")                                                                                     \
	X(SLT, 2, "<")                                                                                       \
	X(SLE, 2, "<=")                                                                                      \
	X(ZEXT, 1, "")                                                                                       \
	X(SEXT, 1, "")                                                                                       \
	X(EXTRACT, 1, "") /* k: the lowest bit */                                                            \
	X(CONCAT, 2, "")  /* a in the upper bits, b in the lower bits */                                     \
	X(ITE, 3, "")                                                                                        \
	X(TABLE, 1, "") /* k: the number of a table, whose index is a (eight bits) */

enum raddle_expr_op {
#define RADDLE_EXPR_OP(constant, operands, text) RADDLE_EXPR_##constant,
	RADDLE_EXPRS(RADDLE_EXPR_OP)
#undef RADDLE_EXPR_OP
		RADDLE_EXPR_OPS
};

struct raddle_expr {
	uint8_t op, bits; /* enum raddle_expr_op, and the width of the value */
	uint16_t unused;
	uint32_t a, b, c; /* references to the operands */
	uint64_t k;	  /* the value of a constant; for other operators, see the list above */
	uint64_t inputs;  /* a bit for each input that the value depends on */
};
_Static_assert(sizeof(struct raddle_expr) == 32, "the layout of the shared memory");

static inline uint64_t raddle_expr_mask(uint32_t bits)
{
	return bits >= 64 ? ~0ull : (1ull << bits) - 1;
}

static inline int64_t raddle_expr_signed(uint64_t v, uint32_t bits)
{
	return (int64_t)(v << (64 - bits)) >> (64 - bits);
}

/* Returns the result of a division.  If the processor would trap, the result is the one that the
 * solver defines. */
static inline uint64_t raddle_expr_divide(uint32_t op, uint64_t a, uint64_t b, uint32_t bits)
{
	int64_t x = raddle_expr_signed(a, bits), y = raddle_expr_signed(b, bits);

	switch (op) {
	case RADDLE_EXPR_UDIV: return b ? a / b : ~0ull;
	case RADDLE_EXPR_UREM: return b ? a % b : a;
	case RADDLE_EXPR_SDIV: return !y ? (x < 0 ? 1 : ~0ull) : y == -1 ? 0 - a : (uint64_t)(x / y);
	default: return !y ? a : y == -1 ? 0 : (uint64_t)(x % y);
	}
}

static inline uint64_t raddle_expr_shift(uint32_t op, uint64_t a, uint64_t b, uint32_t bits)
{
	int64_t x = raddle_expr_signed(a, bits);

	if (b >= bits)
		return op == RADDLE_EXPR_ASHR && x < 0 ? ~0ull : 0;
	return op == RADDLE_EXPR_SHL ? a << b : op == RADDLE_EXPR_LSHR ? a >> b : (uint64_t)(x >> b);
}

static inline uint64_t raddle_expr_compare(uint32_t op, uint64_t a, uint64_t b, uint32_t bits)
{
	int64_t x = raddle_expr_signed(a, bits), y = raddle_expr_signed(b, bits);

	switch (op) {
	case RADDLE_EXPR_EQ: return a == b;
	case RADDLE_EXPR_ULT: return a < b;
	case RADDLE_EXPR_ULE: return a <= b;
	case RADDLE_EXPR_SLT: return x < y;
	default: return x <= y;
	}
}

/* Returns the result of an operator on two operands of `bits` bits each, zero-extended. */
static inline uint64_t raddle_expr_binary(uint32_t op, uint64_t a, uint64_t b, uint32_t bits)
{
	uint64_t v;

	switch (op) {
	case RADDLE_EXPR_ADD: v = a + b; break;
	case RADDLE_EXPR_SUB: v = a - b; break;
	case RADDLE_EXPR_MUL: v = a * b; break;
	case RADDLE_EXPR_UDIV:
	case RADDLE_EXPR_SDIV:
	case RADDLE_EXPR_UREM:
	case RADDLE_EXPR_SREM: v = raddle_expr_divide(op, a, b, bits); break;
	case RADDLE_EXPR_AND: v = a & b; break;
	case RADDLE_EXPR_OR: v = a | b; break;
	case RADDLE_EXPR_XOR: v = a ^ b; break;
	case RADDLE_EXPR_SHL:
	case RADDLE_EXPR_LSHR:
	case RADDLE_EXPR_ASHR: v = raddle_expr_shift(op, a, b, bits); break;
	default: return raddle_expr_compare(op, a, b, bits);
	}
	return v & raddle_expr_mask(bits);
}

static inline int raddle_expr_is_binary(uint32_t op)
{
	return op >= RADDLE_EXPR_ADD && op <= RADDLE_EXPR_SLE;
}

static inline int raddle_expr_is_compare(uint32_t op)
{
	return op >= RADDLE_EXPR_EQ && op <= RADDLE_EXPR_SLE;
}

static inline uint32_t raddle_expr_operands(uint32_t op)
{
	static const uint8_t counts[] = {
#define RADDLE_EXPR_COUNT(constant, operands, text) operands,
		RADDLE_EXPRS(RADDLE_EXPR_COUNT)
#undef RADDLE_EXPR_COUNT
	};

	return op < RADDLE_EXPR_OPS ? counts[op] : 0;
}

/* The values of a node's operands, and the widths of a and b. */
struct raddle_expr_values {
	uint64_t a, b, c;
	uint32_t a_bits, b_bits;
};

/* Returns the value of a node, computed from the values of its operands.  Does not work for
 * variables and tables. */
static inline uint64_t raddle_expr_apply(const struct raddle_expr *e, const struct raddle_expr_values *v)
{
	uint64_t mask = raddle_expr_mask(e->bits);

	if (raddle_expr_is_binary(e->op))
		return raddle_expr_binary(e->op, v->a, v->b, v->a_bits);
	switch (e->op) {
	case RADDLE_EXPR_CONST: return e->k & mask;
	case RADDLE_EXPR_ZEXT: return v->a;
	case RADDLE_EXPR_SEXT: return (uint64_t)raddle_expr_signed(v->a, v->a_bits) & mask;
	case RADDLE_EXPR_EXTRACT: return v->a >> e->k & mask;
	case RADDLE_EXPR_CONCAT: return (v->a << v->b_bits | v->b) & mask;
	case RADDLE_EXPR_ITE: return v->a ? v->b : v->c;
	default: return 0;
	}
}

#endif
