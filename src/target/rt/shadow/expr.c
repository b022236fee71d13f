// SPDX-License-Identifier: Apache-2.0
/*
 * The store of expressions.  In: an operator and its operands.  Out: a reference to the node that
 * represents this expression.  Each node exists only once, so the store grows with the number of
 * different expressions, not with how often they are computed.  An operator on constants is folded.
 * A few rewrites keep expressions over bytes short.  For example, extracting one half of a
 * concatenation yields that half, and unnecessary extensions are removed.  No rewrite changes a
 * value, whatever the values of the variables are; test/unit/u-rt-expr.c tests that.
 */
#include "rt/common/bug.h"
#include "rt/common/hash.h"
#include "rt/shadow/shadow.h"

#define INDEX_SIZE (RADDLE_SHADOW_NODES * 2u) /* entries of the hash table, a power of two */

_Static_assert((INDEX_SIZE & (INDEX_SIZE - 1)) == 0, "the index is searched by a mask");
_Static_assert(INDEX_SIZE > RADDLE_SHADOW_NODES, "a search in the index ends at a free place");

static const struct raddle_expr *at(uint32_t e)
{
	return &rt_shadow.nodes[e];
}

static uint64_t hash(const struct raddle_expr *n)
{
	uint64_t h = n->op | (uint64_t)n->bits << 8 | (uint64_t)n->a << 16;

	h = rt_hash(h ^ ((uint64_t)n->b << 32 | n->c));
	h = (h ^ h >> 29 ^ n->k) * 0xbf58476d1ce4e5b9ull;
	return h ^ h >> 32;
}

static bool same(const struct raddle_expr *x, const struct raddle_expr *y)
{
	return x->op == y->op && x->bits == y->bits && x->a == y->a && x->b == y->b && x->c == y->c &&
	       x->k == y->k;
}

/* Returns the unique node that equals n, which is added if it is new. */
static uint32_t intern(struct raddle_expr n)
{
	struct raddle_shadow *s = rt_shadow.shared;
	uint32_t i = (uint32_t)hash(&n) & (INDEX_SIZE - 1), count;

	for (; rt_shadow.index[i]; i = (i + 1) & (INDEX_SIZE - 1))
		if (same(&n, at(rt_shadow.index[i])))
			return rt_shadow.index[i];
	count = s->node_count;
	if (count >= RADDLE_SHADOW_NODES) {
		rt_path_lose(RADDLE_LOST_NODES);
		return 0;
	}
	RT_ASSERT(n.a < count && n.b < count && n.c < count); /* a node refers only to earlier nodes */
	n.inputs |= at(n.a)->inputs | at(n.b)->inputs | at(n.c)->inputs;
	rt_shadow.nodes[count] = n;
	rt_shadow.index[i] = count;
	s->node_count = count + 1;
	return count;
}

bool rt_expr_is_const(uint32_t e, uint64_t *value)
{
	*value = at(e)->k;
	return at(e)->op == RADDLE_EXPR_CONST;
}

uint32_t rt_expr_const(uint64_t value, uint32_t bits)
{
	return intern((struct raddle_expr){
		.op = RADDLE_EXPR_CONST, .bits = (uint8_t)bits, .k = value & raddle_expr_mask(bits)});
}

uint32_t rt_expr_var(uint32_t number, uint32_t bits, uint32_t input)
{
	return intern((struct raddle_expr){
		.op = RADDLE_EXPR_VAR, .bits = (uint8_t)bits, .k = number, .inputs = 1ull << (input % 64)});
}

static uint32_t fold(const struct raddle_expr *n, bool *folded)
{
	struct raddle_expr_values v = {at(n->a)->k, at(n->b)->k, at(n->c)->k, at(n->a)->bits, at(n->b)->bits};
	uint32_t refs[] = {n->a, n->b, n->c};

	*folded = true;
	for (uint32_t i = 0; i < raddle_expr_operands(n->op); i++)
		*folded &= at(refs[i])->op == RADDLE_EXPR_CONST;
	return *folded ? rt_expr_const(raddle_expr_apply(n, &v), n->bits) : 0;
}

static uint32_t make(struct raddle_expr n)
{
	uint32_t operands = raddle_expr_operands(n.op);
	bool folded;
	uint32_t e;

	if ((operands > 0 && !n.a) || (operands > 1 && !n.b) || (operands > 2 && !n.c))
		return 0; /* the store was full when the operand was made */
	e = fold(&n, &folded);
	return folded ? e : intern(n);
}

/* ---- two operands ---- */

static bool is_commutative(uint32_t op)
{
	return op == RADDLE_EXPR_ADD || op == RADDLE_EXPR_MUL || op == RADDLE_EXPR_AND ||
	       op == RADDLE_EXPR_OR || op == RADDLE_EXPR_XOR || op == RADDLE_EXPR_EQ;
}

/* Returns the expression `a op k` if it equals a or a constant, as for x + 0; otherwise 0. */
static uint32_t absorb(uint32_t op, uint32_t a, uint64_t k, uint32_t bits)
{
	switch (op) {
	case RADDLE_EXPR_ADD:
	case RADDLE_EXPR_SUB:
	case RADDLE_EXPR_OR:
	case RADDLE_EXPR_XOR:
	case RADDLE_EXPR_SHL:
	case RADDLE_EXPR_LSHR:
	case RADDLE_EXPR_ASHR: return k == 0 ? a : 0;
	case RADDLE_EXPR_MUL: return k == 1 ? a : k == 0 ? rt_expr_const(0, bits) : 0;
	case RADDLE_EXPR_AND: return k == raddle_expr_mask(bits) ? a : k == 0 ? rt_expr_const(0, bits) : 0;
	default: return 0;
	}
}

/* zext(x) == k is equivalent to x == k if k fits into the width of x; otherwise it is false. */
static uint32_t narrow_equality(uint32_t a, uint64_t k)
{
	uint32_t inner = at(a)->a, bits = at(inner)->bits;

	if (k & ~raddle_expr_mask(bits))
		return rt_expr_const(0, 1);
	return rt_expr_binary(RADDLE_EXPR_EQ, inner, rt_expr_const(k, bits));
}

/* (x << k) >> k equals the lower bits of x, extended to the width of x. */
static uint32_t extend_part(uint32_t op, uint32_t x, uint32_t k)
{
	uint32_t bits = at(x)->bits, part = rt_expr_extract(x, 0, bits - k);

	return op == RADDLE_EXPR_ASHR ? rt_expr_sext(part, bits) : rt_expr_zext(part, bits);
}

/* Returns a simpler expression for `a op k`, where k is a constant, or 0 if there is none. */
static uint32_t with_constant(uint32_t op, uint32_t a, uint64_t k)
{
	const struct raddle_expr *n = at(a);
	uint32_t e = absorb(op, a, k, n->bits);
	uint64_t inner;

	if (e)
		return e;
	if ((op == RADDLE_EXPR_ASHR || op == RADDLE_EXPR_LSHR) && n->op == RADDLE_EXPR_SHL &&
	    rt_expr_is_const(n->b, &inner) && inner == k && k < n->bits)
		return extend_part(op, n->a, (uint32_t)k);
	if (op == RADDLE_EXPR_EQ && n->op == RADDLE_EXPR_ZEXT)
		return narrow_equality(a, k);
	if (op == RADDLE_EXPR_EQ && n->bits == 1)
		return k ? a : rt_expr_not(a);
	if ((op == RADDLE_EXPR_ADD || op == RADDLE_EXPR_XOR) && n->op == op && rt_expr_is_const(n->b, &inner))
		return rt_expr_binary(op, n->a,
				      rt_expr_const(raddle_expr_binary(op, inner, k, n->bits), n->bits));
	return 0;
}

uint32_t rt_expr_binary(uint32_t op, uint32_t a, uint32_t b)
{
	uint32_t bits = raddle_expr_is_compare(op) ? 1 : at(a)->bits, e = 0;
	uint64_t k;

	if (!a || !b)
		return 0;
	if (is_commutative(op) &&
	    (at(a)->op == RADDLE_EXPR_CONST || (at(b)->op != RADDLE_EXPR_CONST && a > b))) {
		uint32_t other = a;
		a = b;
		b = other;
	}
	if (op == RADDLE_EXPR_SUB && rt_expr_is_const(b, &k)) {
		op = RADDLE_EXPR_ADD;
		b = rt_expr_const(0 - k, bits);
	}
	if (b && rt_expr_is_const(b, &k) && at(a)->op != RADDLE_EXPR_CONST)
		e = with_constant(op, a, k);
	return e ? e : make((struct raddle_expr){.op = (uint8_t)op, .bits = (uint8_t)bits, .a = a, .b = b});
}

uint32_t rt_expr_not(uint32_t a)
{
	return a ? rt_expr_binary(RADDLE_EXPR_XOR, a, rt_expr_const(~0ull, at(a)->bits)) : 0;
}

/* ---- widths ---- */

uint32_t rt_expr_zext(uint32_t a, uint32_t bits)
{
	if (!a || at(a)->bits == bits)
		return a;
	if (at(a)->op == RADDLE_EXPR_ZEXT)
		a = at(a)->a;
	return make((struct raddle_expr){.op = RADDLE_EXPR_ZEXT, .bits = (uint8_t)bits, .a = a});
}

uint32_t rt_expr_sext(uint32_t a, uint32_t bits)
{
	if (!a || at(a)->bits == bits)
		return a;
	if (at(a)->op == RADDLE_EXPR_ZEXT) /* the sign bit is 0 */
		return rt_expr_zext(at(a)->a, bits);
	return make((struct raddle_expr){.op = RADDLE_EXPR_SEXT, .bits = (uint8_t)bits, .a = a});
}

/* Returns a part of a concatenation, or 0 if the part spans both halves. */
static uint32_t extract_concat(const struct raddle_expr *n, uint32_t low, uint32_t bits)
{
	uint32_t cut = at(n->b)->bits;

	if (low >= cut)
		return rt_expr_extract(n->a, low - cut, bits);
	return low + bits <= cut ? rt_expr_extract(n->b, low, bits) : 0;
}

static uint32_t extract_extended(const struct raddle_expr *n, uint32_t low, uint32_t bits)
{
	uint32_t inner = at(n->a)->bits;

	if (low + bits <= inner)
		return rt_expr_extract(n->a, low, bits);
	if (n->op == RADDLE_EXPR_ZEXT && low >= inner)
		return rt_expr_const(0, bits);
	if (low == 0)
		return n->op == RADDLE_EXPR_ZEXT ? rt_expr_zext(n->a, bits) : rt_expr_sext(n->a, bits);
	return 0;
}

uint32_t rt_expr_extract(uint32_t a, uint32_t low, uint32_t bits)
{
	const struct raddle_expr *n = at(a);
	uint32_t e = 0;

	if (!a || (low == 0 && n->bits == bits))
		return a;
	if (n->op == RADDLE_EXPR_EXTRACT)
		return rt_expr_extract(n->a, low + (uint32_t)n->k, bits);
	if (n->op == RADDLE_EXPR_CONCAT)
		e = extract_concat(n, low, bits);
	else if (n->op == RADDLE_EXPR_ZEXT || n->op == RADDLE_EXPR_SEXT)
		e = extract_extended(n, low, bits);
	return e ? e
		 : make((struct raddle_expr){
			   .op = RADDLE_EXPR_EXTRACT, .bits = (uint8_t)bits, .a = a, .k = low});
}

uint32_t rt_expr_concat(uint32_t high, uint32_t low)
{
	const struct raddle_expr *h = at(high), *l = at(low);
	uint32_t bits = h->bits + l->bits;
	uint64_t k;

	if (!high || !low)
		return 0;
	/* The operands may be adjacent parts of one number.  The lower part may be represented by a
	 * node of another kind. */
	if (h->op == RADDLE_EXPR_EXTRACT && h->k >= l->bits &&
	    rt_expr_extract(h->a, (uint32_t)h->k - l->bits, l->bits) == low)
		return rt_expr_extract(h->a, (uint32_t)h->k - l->bits, bits);
	if (rt_expr_is_const(high, &k) && k == 0)
		return rt_expr_zext(low, bits);
	return make(
		(struct raddle_expr){.op = RADDLE_EXPR_CONCAT, .bits = (uint8_t)bits, .a = high, .b = low});
}

/* ---- choices ---- */

uint32_t rt_expr_ite(uint32_t c, uint32_t a, uint32_t b)
{
	uint64_t k, x, y;

	if (!c || !a || !b)
		return 0;
	if (a == b)
		return a;
	if (rt_expr_is_const(c, &k))
		return k ? a : b;
	if (at(a)->bits == 1 && rt_expr_is_const(a, &x) && rt_expr_is_const(b, &y))
		return x ? c : rt_expr_not(c);
	return make((struct raddle_expr){.op = RADDLE_EXPR_ITE, .bits = at(a)->bits, .a = c, .b = a, .c = b});
}

uint32_t rt_expr_table(uint32_t index, uint32_t table, uint32_t bits)
{
	return index ? intern((struct raddle_expr){
			       .op = RADDLE_EXPR_TABLE, .bits = (uint8_t)bits, .a = index, .k = table})
		     : 0;
}

/* ---- expressions that depend on one byte ---- */

/* The maximum number of nodes that one query visits.  Expressions of an index are small; for a
 * larger expression, the query fails. */
#define STEPS_MAX 64

struct walk {
	uint32_t var, left;
	uint8_t value;
	bool other;
};

static uint64_t walk(struct walk *w, uint32_t e)
{
	const struct raddle_expr *n = at(e);
	struct raddle_expr_values v = {0};
	uint32_t operands = raddle_expr_operands(n->op);

	if (w->left-- == 0 || n->op == RADDLE_EXPR_TABLE)
		w->other = true;
	if (n->op == RADDLE_EXPR_VAR) {
		w->other |= n->bits != 8 || (w->var && w->var != e);
		w->var = e;
		return w->value;
	}
	if (w->other)
		return 0;
	if (operands > 0)
		v.a = walk(w, n->a), v.a_bits = at(n->a)->bits;
	if (operands > 1)
		v.b = walk(w, n->b), v.b_bits = at(n->b)->bits;
	if (operands > 2)
		v.c = walk(w, n->c);
	return raddle_expr_apply(n, &v);
}

uint32_t rt_expr_only_byte(uint32_t e)
{
	struct walk w = {.left = STEPS_MAX};

	walk(&w, e);
	return w.other ? 0 : w.var;
}

uint64_t rt_expr_with_byte(uint32_t e, uint32_t var, uint8_t value)
{
	struct walk w = {.var = var, .left = STEPS_MAX, .value = value};

	return walk(&w, e);
}
