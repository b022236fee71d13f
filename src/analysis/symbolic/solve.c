// SPDX-License-Identifier: Apache-2.0
/*
 * Translates expressions into formulas for Z3.  In: conditions of a path.  Out: an input that
 * satisfies them.
 *
 * A question to the solver contains only the conditions that share a variable with its subject,
 * directly or through other conditions.  The remaining conditions hold with the values of the run.
 * Every node is a bit vector, and a condition has one bit.
 */
#include "symbolic/solve.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "solver/z3.h"

#include <stdlib.h>
#include <string.h>

#define LENGTH_MAX 4096u /* the largest length of a string, in bytes; keeps the formula small */
/* Numbers up to SMALL are tried before larger ones, because people usually write small numbers. */
#define SMALL ((1ull << 31) - 1)
/* Numbers that differ from the number in the run by at most this much are tried even earlier.  Set
 * by hand. */
#define NEAR_BY 16

enum nearness { NEAR, USUAL };

struct sym_solver {
	const struct sym_trace *trace;
	const bool *fixed;
	struct solver_z3 z3;
	Z3_context ctx;
	Z3_solver solver;
	Z3_ast *made; /* the formula of each node, or NULL */
	struct sym_walk *walk;
	bool *touched; /* for each variable, true if the question depends on it */
	struct sym_cost cost;
};

/* ---- the library ---- */

static void open_context(struct sym_solver *s, unsigned work)
{
	s->ctx = solver_z3_context(&s->z3);
	s->solver = s->z3.mk_solver(s->ctx);
	s->z3.solver_inc_ref(s->ctx, s->solver);
	solver_z3_limit_work(&s->z3, s->ctx, s->solver, work);
}

struct sym_solver *sym_solver_new(const struct sym_trace *t, unsigned work)
{
	struct sym_solver *s = rd_xcalloc(1, sizeof *s);

	s->trace = t;
	if (!solver_z3_open(&s->z3)) {
		sym_solver_free(s);
		return NULL;
	}
	open_context(s, work);
	s->made = rd_xcalloc(t->node_count + 1, sizeof(Z3_ast));
	s->touched = rd_xcalloc(t->var_count + 1, sizeof *s->touched);
	s->walk = sym_walk_new(t);
	return s;
}

/* Releases the solver.  The library stays loaded, because it is large and the next trace will need
 * it. */
void sym_solver_free(struct sym_solver *s)
{
	if (!s)
		return;
	if (s->ctx) {
		s->z3.solver_dec_ref(s->ctx, s->solver);
		s->z3.del_context(s->ctx);
	}
	sym_walk_free(s->walk);
	RD_FREE(s->made, s->touched, s);
}

void sym_solver_fix(struct sym_solver *s, const bool *fixed)
{
	s->fixed = fixed;
}

struct sym_cost sym_solver_cost(struct sym_solver *s)
{
	struct sym_cost cost = s->cost;

	s->cost = (struct sym_cost){0};
	return cost;
}

/* ---- formulas ---- */

static Z3_ast number(struct sym_solver *s, uint64_t value, unsigned bits)
{
	return s->z3.mk_unsigned_int64(s->ctx, value & raddle_expr_mask(bits),
				       s->z3.mk_bv_sort(s->ctx, bits));
}

static Z3_ast bit(struct sym_solver *s, Z3_ast is)
{
	return s->z3.mk_ite(s->ctx, is, number(s, 1, 1), number(s, 0, 1));
}

static Z3_ast binary(struct sym_solver *s, const struct raddle_expr *n, Z3_ast a, Z3_ast b)
{
	const struct solver_z3 *z = &s->z3;
	Z3_context c = s->ctx;

	switch (n->op) {
	case RADDLE_EXPR_ADD: return z->mk_bvadd(c, a, b);
	case RADDLE_EXPR_SUB: return z->mk_bvsub(c, a, b);
	case RADDLE_EXPR_MUL: return z->mk_bvmul(c, a, b);
	case RADDLE_EXPR_UDIV: return z->mk_bvudiv(c, a, b);
	case RADDLE_EXPR_SDIV: return z->mk_bvsdiv(c, a, b);
	case RADDLE_EXPR_UREM: return z->mk_bvurem(c, a, b);
	case RADDLE_EXPR_SREM: return z->mk_bvsrem(c, a, b);
	case RADDLE_EXPR_AND: return z->mk_bvand(c, a, b);
	case RADDLE_EXPR_OR: return z->mk_bvor(c, a, b);
	case RADDLE_EXPR_XOR: return z->mk_bvxor(c, a, b);
	case RADDLE_EXPR_SHL: return z->mk_bvshl(c, a, b);
	case RADDLE_EXPR_LSHR: return z->mk_bvlshr(c, a, b);
	case RADDLE_EXPR_ASHR: return z->mk_bvashr(c, a, b);
	case RADDLE_EXPR_EQ: return bit(s, z->mk_eq(c, a, b));
	case RADDLE_EXPR_ULT: return bit(s, z->mk_bvult(c, a, b));
	case RADDLE_EXPR_ULE: return bit(s, z->mk_bvule(c, a, b));
	case RADDLE_EXPR_SLT: return bit(s, z->mk_bvslt(c, a, b));
	default: return bit(s, z->mk_bvsle(c, a, b));
	}
}

/* Returns the formula of a table lookup, with one condition for each range of equal values. */
static Z3_ast table(struct sym_solver *s, const struct raddle_expr *n, Z3_ast index)
{
	const uint64_t *values = s->trace->tables + n->k * 256;
	Z3_ast e = number(s, values[255], n->bits);

	for (int i = 254; i >= 0; i--) {
		if (values[i] == values[i + 1])
			continue;
		e = s->z3.mk_ite(s->ctx, s->z3.mk_bvule(s->ctx, index, number(s, (uint64_t)i, 8)),
				 number(s, values[i], n->bits), e);
	}
	return e;
}

static Z3_ast variable(struct sym_solver *s, const struct raddle_expr *n)
{
	const struct raddle_shadow_var *v = &s->trace->vars[n->k];

	if (s->fixed && s->fixed[n->k])
		return number(s, v->value, n->bits);
	return s->z3.mk_const(s->ctx, s->z3.mk_int_symbol(s->ctx, (int)n->k),
			      s->z3.mk_bv_sort(s->ctx, n->bits));
}

static Z3_ast make(struct sym_solver *s, const struct raddle_expr *n)
{
	unsigned a_bits = s->trace->nodes[n->a].bits;
	Z3_ast a = s->made[n->a], b = s->made[n->b];

	if (raddle_expr_is_binary(n->op))
		return binary(s, n, a, b);
	switch (n->op) {
	case RADDLE_EXPR_VAR: return variable(s, n);
	case RADDLE_EXPR_CONST: return number(s, n->k, n->bits);
	case RADDLE_EXPR_ZEXT: return s->z3.mk_zero_ext(s->ctx, n->bits - a_bits, a);
	case RADDLE_EXPR_SEXT: return s->z3.mk_sign_ext(s->ctx, n->bits - a_bits, a);
	case RADDLE_EXPR_EXTRACT:
		return s->z3.mk_extract(s->ctx, (unsigned)n->k + n->bits - 1, (unsigned)n->k, a);
	case RADDLE_EXPR_CONCAT: return s->z3.mk_concat(s->ctx, a, b);
	case RADDLE_EXPR_ITE:
		return s->z3.mk_ite(s->ctx, s->z3.mk_eq(s->ctx, a, number(s, 1, 1)), b, s->made[n->c]);
	default: return table(s, n, a);
	}
}

/* Makes the formula of a node, after those of its operands.  An explicit stack avoids deep
 * recursion. */
static Z3_ast formula(struct sym_solver *s, uint32_t node)
{
	RD_ASSERT(node < s->trace->node_count);
	uint32_t *stack = NULL;
	size_t count = 0, capacity = 0;

	RD_GROW(stack, capacity, 1);
	stack[count++] = node;
	while (count) {
		uint32_t at = stack[count - 1];
		const struct raddle_expr *n = &s->trace->nodes[at];
		uint32_t refs[] = {n->a, n->b, n->c};
		size_t before = count;

		for (uint32_t i = 0; i < raddle_expr_operands(n->op) && !s->made[at]; i++)
			if (!s->made[refs[i]]) {
				RD_GROW(stack, capacity, count + 1);
				stack[count++] = refs[i];
			}
		if (count != before)
			continue;
		if (!s->made[at])
			s->made[at] = make(s, n);
		count--;
	}
	free(stack);
	return s->made[node];
}

static void require(struct sym_solver *s, const struct sym_fact *f)
{
	s->z3.solver_assert(s->ctx, s->solver,
			    s->z3.mk_eq(s->ctx, formula(s, f->node), number(s, f->holds, 1)));
}

/* ---- the subject of a question ---- */

struct var_reach {
	struct sym_solver *s;
	bool any, grown;
};

static void touch(void *context, uint32_t var)
{
	struct var_reach *r = context;
	bool *touched = &r->s->touched[var];

	if (r->s->fixed && r->s->fixed[var])
		return;
	r->grown |= !*touched;
	*touched = true;
}

static void look(void *context, uint32_t var)
{
	struct var_reach *r = context;

	r->any |= r->s->touched[var];
}

static bool is_about(struct sym_solver *s, uint32_t node)
{
	struct var_reach r = {.s = s};

	sym_walk_vars(s->walk, node, look, &r);
	return r.any;
}

static bool overlap(const struct raddle_shadow_var *a, const struct raddle_shadow_var *b)
{
	return a->input == b->input && a->offset < b->offset + b->length && b->offset < a->offset + a->length;
}

/* Adds the variables whose bytes overlap those of variables that are already in the question.
 * Returns true if it added any. */
static bool touch_slots(struct sym_solver *s)
{
	struct var_reach r = {.s = s};

	for (size_t i = 0; i < s->trace->var_count; i++) {
		if (!s->touched[i] || s->trace->vars[i].sort == RADDLE_VAR_BYTE)
			continue;
		for (size_t k = 0; k < s->trace->var_count; k++)
			if (overlap(&s->trace->vars[i], &s->trace->vars[k]))
				touch(&r, (uint32_t)k);
	}
	return r.grown;
}

static void find_related(struct sym_solver *s, const struct sym_fact *facts, size_t count, size_t wanted,
			 bool *in)
{
	struct var_reach r = {.s = s, .grown = true};

	memset(s->touched, 0, s->trace->var_count * sizeof *s->touched);
	for (size_t i = count - wanted; i < count; i++) {
		sym_walk_vars(s->walk, facts[i].node, touch, &r);
		in[i] = true;
	}
	while (r.grown) {
		r.grown = touch_slots(s);
		for (size_t i = 0; i < count - wanted; i++) {
			if (in[i] || !is_about(s, facts[i].node))
				continue;
			in[i] = true;
			sym_walk_vars(s->walk, facts[i].node, touch, &r);
		}
	}
}

/* ---- constraints for every input ---- */

static Z3_ast variable_at(struct sym_solver *s, size_t var)
{
	return formula(s, s->trace->vars[var].node);
}

/* If a text replaces a slot, requires that the bytes of the slot are those of the text. */
static void require_equal(struct sym_solver *s, size_t var)
{
	const struct sym_trace *t = s->trace;
	const struct raddle_shadow_var *v = &t->vars[var];
	Z3_ast is = s->z3.mk_eq(s->ctx, variable_at(s, var), number(s, 1, 1));

	for (size_t i = 0; i < t->var_count; i++) {
		const struct raddle_shadow_var *o = &t->vars[i];
		Z3_ast then;

		if (i == var || !s->touched[i] || !overlap(v, o))
			continue;
		if (o->sort == RADDLE_VAR_BYTE && o->offset - v->offset < v->text_length)
			then = s->z3.mk_eq(s->ctx, variable_at(s, i),
					   number(s, (uint8_t)t->text[v->text + (o->offset - v->offset)], 8));
		else if (o->sort == RADDLE_VAR_EQUAL)
			then = s->z3.mk_eq(s->ctx, variable_at(s, i), number(s, 0, 1));
		else if (o->sort == RADDLE_VAR_LENGTH && o->offset == v->offset)
			then = s->z3.mk_eq(s->ctx, variable_at(s, i), number(s, v->text_length, 64));
		else
			continue;
		s->z3.solver_assert(s->ctx, s->solver, s->z3.mk_implies(s->ctx, is, then));
	}
}

static void require_domain(struct sym_solver *s, size_t var)
{
	const struct raddle_shadow_var *v = &s->trace->vars[var];
	uint32_t kind = s->trace->inputs[v->input].kind;

	if (v->sort == RADDLE_VAR_BYTE && (kind == RADDLE_INPUT_ARGV || kind == RADDLE_INPUT_ENV))
		s->z3.solver_assert(
			s->ctx, s->solver,
			s->z3.mk_not(s->ctx, s->z3.mk_eq(s->ctx, variable_at(s, var), number(s, 0, 8))));
	if (v->sort == RADDLE_VAR_LENGTH)
		s->z3.solver_assert(s->ctx, s->solver,
				    s->z3.mk_bvule(s->ctx, variable_at(s, var), number(s, LENGTH_MAX, 64)));
	if (v->sort == RADDLE_VAR_EQUAL)
		require_equal(s, var);
}

/* Requires that a number differs from `from` by at most `most`. */
static void require_near(struct sym_solver *s, size_t var, uint64_t from, uint64_t most)
{
	Z3_ast v = variable_at(s, var);

	s->z3.solver_assert(s->ctx, s->solver, s->z3.mk_bvsle(s->ctx, number(s, from - most, 64), v));
	s->z3.solver_assert(s->ctx, s->solver, s->z3.mk_bvsle(s->ctx, v, number(s, from + most, 64)));
}

/* ---- answers ---- */

static bool read_values(struct sym_solver *s, uint64_t *values)
{
	Z3_model model = s->z3.solver_get_model(s->ctx, s->solver);
	bool good = model != NULL;

	if (!good)
		return false;
	s->z3.model_inc_ref(s->ctx, model);
	for (size_t i = 0; i < s->trace->var_count && good; i++) {
		Z3_ast found;

		if (!s->touched[i])
			continue;
		good = s->z3.model_eval(s->ctx, model, variable_at(s, i), false, &found);
		/* A variable without a value in the solution keeps its value. */
		if (good)
			s->z3.get_numeral_uint64(s->ctx, found, &values[i]);
	}
	s->z3.model_dec_ref(s->ctx, model);
	return good;
}

static enum sym_answer check(struct sym_solver *s, uint64_t *values)
{
	switch (s->z3.solver_check(s->ctx, s->solver)) {
	case Z3_L_FALSE: return SYM_NO;
	case Z3_L_TRUE: return read_values(s, values) ? SYM_YES : SYM_UNKNOWN;
	default: return SYM_UNKNOWN;
	}
}

static bool require_numbers(struct sym_solver *s, const uint64_t *values, enum nearness how)
{
	bool any = false;

	for (size_t i = 0; i < s->trace->var_count; i++)
		if (s->touched[i] && s->trace->vars[i].sort == RADDLE_VAR_NUMBER) {
			require_near(s, i, how == NEAR ? values[i] : 0, how == NEAR ? NEAR_BY : SMALL);
			any = true;
		}
	return any;
}

/* Asks the solver.  A number may determine how long the program runs.  So the first attempt allows
 * only a small change, the second only numbers that people would write, and the last one any
 * number. */
static enum sym_answer ask(struct sym_solver *s, uint64_t *values)
{
	for (enum nearness how = NEAR; how <= USUAL; how++) {
		enum sym_answer answer;
		bool any;

		s->z3.solver_push(s->ctx, s->solver);
		any = require_numbers(s, values, how);
		answer = check(s, values);
		s->z3.solver_pop(s->ctx, s->solver, 1);
		if (!any || answer == SYM_YES)
			return answer;
	}
	return check(s, values);
}

/* Returns true if the values satisfy the facts when they are evaluated as in the runtime. */
static bool is_right(struct sym_solver *s, const struct sym_fact *facts, size_t count, const uint64_t *values)
{
	uint64_t *nodes = rd_xcalloc(s->trace->node_count + 1, sizeof *nodes);
	bool right = true;

	sym_evaluate(s->trace, values, nodes);
	for (size_t i = 0; i < count; i++)
		right &= nodes[facts[i].node] == facts[i].holds;
	free(nodes);
	return right;
}

enum sym_answer sym_solve(struct sym_solver *s, const struct sym_fact *facts, size_t count, size_t wanted,
			  uint64_t *values)
{
	RD_ASSERT(wanted <= count);
	bool *in = rd_xcalloc(count + 1, sizeof *in);
	uint64_t work = solver_z3_work(&s->z3, s->ctx, s->solver);
	int64_t start = rd_cpu_ns();
	enum sym_answer answer;

	find_related(s, facts, count, wanted, in);
	s->z3.solver_push(s->ctx, s->solver);
	for (size_t i = 0; i < count; i++)
		if (in[i])
			require(s, &facts[i]);
	for (size_t i = 0; i < s->trace->var_count; i++)
		if (s->touched[i])
			require_domain(s, i);
	answer = ask(s, values);
	if (s->z3.get_error_code(s->ctx) != Z3_OK)
		answer = SYM_UNKNOWN;
	if (answer == SYM_YES && !is_right(s, facts, count, values))
		answer = SYM_UNKNOWN;
	s->z3.solver_pop(s->ctx, s->solver, 1);
	s->cost.work += solver_z3_work(&s->z3, s->ctx, s->solver) - work;
	s->cost.seconds += (double)(rd_cpu_ns() - start) / 1e9;
	free(in);
	return answer;
}
