/* SPDX-License-Identifier: Apache-2.0 */
/* Random expressions over a few variables, and a slow, obvious evaluator that computes their
 * values. */
#ifndef TEST_SYMBOLIC_FIXTURE_H
#define TEST_SYMBOLIC_FIXTURE_H

#include "base/alloc.h"
#include "base/error.h"
#include "symbolic/trace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

typedef unsigned __int128 wide;

static uint64_t random_state = 88172645463325252u;

static inline uint64_t draw(uint64_t below)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state % below;
}

static inline uint64_t draw_bits(uint32_t bits)
{
	uint64_t v = draw(UINT64_MAX);

	/* Operators differ most for small numbers and for those at the ends of the range. */
	switch (draw(4)) {
	case 0: v = draw(4); break;
	case 1: v = 0 - draw(4); break;
	case 2: v = 1ull << draw(bits); break;
	}
	return bits == 64 ? v : v & ((1ull << bits) - 1);
}

/* ---- the slow evaluator, which computes with lists of single bits ---- */

static inline int bit_of(uint64_t v, uint32_t i)
{
	return (int)(v >> i & 1);
}

static inline uint64_t cut(wide v, uint32_t bits)
{
	uint64_t out = 0;

	for (uint32_t i = 0; i < bits; i++)
		out |= (uint64_t)(v >> i & 1) << i;
	return out;
}

static inline __int128 as_signed(uint64_t v, uint32_t bits)
{
	return bit_of(v, bits - 1) ? (__int128)v - ((__int128)1 << bits) : (__int128)v;
}

static inline uint64_t slow_divide(uint32_t op, uint64_t a, uint64_t b, uint32_t bits)
{
	__int128 x = as_signed(a, bits), y = as_signed(b, bits);

	if (op == RADDLE_EXPR_UDIV)
		return b ? a / b : cut(~(wide)0, bits);
	if (op == RADDLE_EXPR_UREM)
		return b ? a % b : a;
	if (op == RADDLE_EXPR_SDIV)
		return cut((wide)(y ? x / y : x < 0 ? 1 : -1), bits);
	return cut((wide)(y ? x % y : x), bits);
}

static inline uint64_t slow_shift(uint32_t op, uint64_t a, uint64_t by, uint32_t bits)
{
	for (uint64_t i = 0; i < by && i < 64; i++) {
		int sign = bit_of(a, bits - 1);

		a = op == RADDLE_EXPR_SHL ? cut((wide)a * 2, bits) : a / 2;
		if (op == RADDLE_EXPR_ASHR && sign)
			a |= 1ull << (bits - 1);
	}
	return a;
}

static inline uint64_t slow_binary(uint32_t op, uint64_t a, uint64_t b, uint32_t bits)
{
	__int128 x = as_signed(a, bits), y = as_signed(b, bits);

	switch (op) {
	case RADDLE_EXPR_ADD: return cut((wide)a + b, bits);
	case RADDLE_EXPR_SUB: return cut((wide)a - b, bits);
	case RADDLE_EXPR_MUL: return cut((wide)a * b, bits);
	case RADDLE_EXPR_AND: return a & b;
	case RADDLE_EXPR_OR: return a | b;
	case RADDLE_EXPR_XOR: return a ^ b;
	case RADDLE_EXPR_SHL:
	case RADDLE_EXPR_LSHR:
	case RADDLE_EXPR_ASHR: return slow_shift(op, a, b, bits);
	case RADDLE_EXPR_EQ: return a == b;
	case RADDLE_EXPR_ULT: return a < b;
	case RADDLE_EXPR_ULE: return a <= b;
	case RADDLE_EXPR_SLT: return x < y;
	case RADDLE_EXPR_SLE: return x <= y;
	default: return slow_divide(op, a, b, bits);
	}
}

/* Evaluates a node by recursion, without storing the values of other nodes. */
static inline uint64_t slow_value(const struct sym_trace *t, uint32_t node, const uint64_t *values)
{
	const struct raddle_expr *n = &t->nodes[node];
	uint32_t operands = raddle_expr_operands(n->op), a_bits = t->nodes[n->a].bits;
	uint64_t a = operands > 0 ? slow_value(t, n->a, values) : 0;
	uint64_t b = operands > 1 ? slow_value(t, n->b, values) : 0, out = 0;

	switch (n->op) {
	case RADDLE_EXPR_VAR: return cut(values[n->k], n->bits);
	case RADDLE_EXPR_CONST: return n->k;
	case RADDLE_EXPR_ZEXT: return a;
	case RADDLE_EXPR_SEXT:
		for (uint32_t i = 0; i < n->bits; i++)
			out |= (uint64_t)bit_of(a, i < a_bits ? i : a_bits - 1) << i;
		return out;
	case RADDLE_EXPR_EXTRACT:
		for (uint32_t i = 0; i < n->bits; i++)
			out |= (uint64_t)bit_of(a, (uint32_t)n->k + i) << i;
		return out;
	case RADDLE_EXPR_CONCAT: return cut((wide)a << t->nodes[n->b].bits | b, n->bits);
	case RADDLE_EXPR_ITE: return a ? b : slow_value(t, n->c, values);
	case RADDLE_EXPR_TABLE: return cut(t->tables[n->k * 256 + a], n->bits);
	default: return slow_binary(n->op, a, b, a_bits);
	}
}

/* ---- random traces of expressions ---- */

enum { NODES_MAX = 64, VARS_MAX = 4, STEPS_MAX = 8 };

static inline uint32_t add_node(struct sym_trace *t, struct raddle_expr n)
{
	assert_true(t->node_count < NODES_MAX);
	n.inputs = t->nodes[n.a].inputs | t->nodes[n.b].inputs | t->nodes[n.c].inputs;
	if (n.op == RADDLE_EXPR_VAR)
		n.inputs = 1ull << t->vars[n.k].input;
	t->nodes[t->node_count] = n;
	return (uint32_t)t->node_count++;
}

/* Returns a node with so many bits, if there is one, otherwise a new constant. */
static inline uint32_t some_node(struct sym_trace *t, uint32_t bits)
{
	size_t first = 1 + draw(t->node_count);

	for (size_t i = 0; i < t->node_count; i++) {
		size_t at = (first + i) % t->node_count;

		if (at && t->nodes[at].bits == bits && draw(8))
			return (uint32_t)at;
	}
	return add_node(t, (struct raddle_expr){
				   .op = RADDLE_EXPR_CONST, .bits = (uint8_t)bits, .k = draw_bits(bits)});
}

static inline uint32_t random_node(struct sym_trace *t)
{
	uint32_t a = 1 + (uint32_t)draw(t->node_count - 1), bits = t->nodes[a].bits;
	uint32_t op = RADDLE_EXPR_ADD + (uint32_t)draw(RADDLE_EXPR_OPS - RADDLE_EXPR_ADD);
	struct raddle_expr n = {.op = (uint8_t)op, .a = a, .bits = (uint8_t)bits};

	if (raddle_expr_is_binary(op)) {
		n.b = some_node(t, bits);
		n.bits = raddle_expr_is_compare(op) ? 1 : n.bits;
		return add_node(t, n);
	}
	switch (op) {
	case RADDLE_EXPR_ZEXT:
	case RADDLE_EXPR_SEXT:
		if (bits == 64)
			return a;
		n.bits = (uint8_t)(bits + 1 + draw(64 - bits));
		break;
	case RADDLE_EXPR_EXTRACT:
		n.k = draw(bits);
		n.bits = (uint8_t)(1 + draw(bits - n.k));
		break;
	case RADDLE_EXPR_CONCAT:
		n.b = 1 + (uint32_t)draw(t->node_count - 1);
		if (bits + t->nodes[n.b].bits > 64)
			return a;
		n.bits = (uint8_t)(bits + t->nodes[n.b].bits);
		break;
	case RADDLE_EXPR_ITE:
		n.b = some_node(t, bits);
		n.c = a;
		n.a = some_node(t, 1);
		break;
	default:
		n.a = some_node(t, 8);
		n.bits = 8;
		n.k = 0;
	}
	return add_node(t, n);
}

static inline void add_var(struct sym_trace *t, struct raddle_shadow_var v)
{
	assert_true(t->var_count < VARS_MAX);
	v.node = (uint32_t)t->node_count;
	t->vars[t->var_count] = v;
	add_node(t, (struct raddle_expr){.op = RADDLE_EXPR_VAR, .bits = v.bits, .k = t->var_count++});
}

/* Makes an empty trace with room for one input (standard input) and one table. */
static inline void begin_trace(struct sym_trace *t)
{
	*t = (struct sym_trace){.node_count = 1, .table_count = 1, .input_count = 1};
	t->nodes = rd_xcalloc(NODES_MAX, sizeof *t->nodes);
	t->vars = rd_xcalloc(VARS_MAX, sizeof *t->vars);
	t->steps = rd_xcalloc(STEPS_MAX, sizeof *t->steps);
	t->output = rd_xcalloc(STEPS_MAX, sizeof *t->output);
	t->tables = rd_xcalloc(256, sizeof *t->tables);
	t->text = rd_xcalloc(256, 1);
	for (size_t i = 0; i < 256; i++)
		t->tables[i] = i < 40 ? 7 : draw_bits(8);
	t->inputs[0] = (struct raddle_shadow_input){.kind = RADDLE_INPUT_STDIN};
}

/* Adds a variable for one byte of an input. */
static inline void add_byte(struct sym_trace *t, uint32_t input, uint64_t offset, uint8_t value)
{
	add_var(t, (struct raddle_shadow_var){.sort = RADDLE_VAR_BYTE,
					      .bits = 8,
					      .input = input,
					      .offset = offset,
					      .length = 1,
					      .value = value});
}

#endif
