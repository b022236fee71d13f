// SPDX-License-Identifier: Apache-2.0
/*
 * Unit tests of expressions.  The store's rewrites must not change any value, and the solver's
 * answers about an expression must agree with evaluating it.  The slow reference of a node is the
 * same operator on the same operands, never rewritten.
 */
#include "rt-shadow.h"

#include "symbolic/solve.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#define BYTES 2	  /* number of variables of eight bits */
#define POOL 24	  /* number of nodes in an expression */
#define MODELS 20 /* number of assignments for each expression */

/* A node, and the operation that made it. */
struct reference {
	uint32_t node;
	struct raddle_expr made; /* operands are positions in the pool */
};

static struct reference pool[POOL];
static size_t pool_count;
static uint64_t seed;

static uint64_t draw(uint64_t below)
{
	return shadow_random(&seed) % below;
}

static uint64_t slow(size_t at, const uint64_t *values)
{
	const struct raddle_expr *m = &pool[at].made;
	struct raddle_expr_values v = {0};
	uint32_t n = raddle_expr_operands(m->op);

	if (m->op == RADDLE_EXPR_VAR)
		return values[m->k];
	if (n > 0)
		v.a = slow(m->a, values), v.a_bits = pool[m->a].made.bits;
	if (n > 1)
		v.b = slow(m->b, values), v.b_bits = pool[m->b].made.bits;
	if (n > 2)
		v.c = slow(m->c, values);
	return raddle_expr_apply(m, &v);
}

static void add(uint32_t node, struct raddle_expr made)
{
	assert_int_not_equal(node, 0);
	assert_int_equal(rt_expr_bits(node), made.bits);
	pool[pool_count++] = (struct reference){node, made};
}

/* Returns the position of a node with so many bits.  Makes a constant if there is none. */
static uint32_t operand_of(uint32_t bits)
{
	uint32_t start = (uint32_t)draw(pool_count);
	uint64_t k = draw(4) ? draw(5) : shadow_random(&seed);

	for (uint32_t i = 0; i < pool_count; i++)
		if (pool[(start + i) % pool_count].made.bits == bits && draw(3))
			return (start + i) % (uint32_t)pool_count;
	add(rt_expr_const(k, bits), (struct raddle_expr){.op = RADDLE_EXPR_CONST,
							 .bits = (uint8_t)bits,
							 .k = k & raddle_expr_mask(bits)});
	return (uint32_t)pool_count - 1;
}

static void add_binary(void)
{
	uint32_t op = RADDLE_EXPR_ADD + (uint32_t)draw(RADDLE_EXPR_SLE - RADDLE_EXPR_ADD + 1);
	uint32_t a = (uint32_t)draw(pool_count), b = operand_of(pool[a].made.bits);
	uint8_t bits = raddle_expr_is_compare(op) ? 1 : pool[a].made.bits;

	add(rt_expr_binary(op, pool[a].node, pool[b].node),
	    (struct raddle_expr){.op = (uint8_t)op, .bits = bits, .a = a, .b = b});
}

static void add_width(void)
{
	static const uint8_t widths[] = {8, 16, 24, 32, 64};
	uint32_t a = (uint32_t)draw(pool_count), have = pool[a].made.bits, to = widths[draw(5)];
	struct raddle_expr m = {.bits = (uint8_t)to, .a = a};

	if (to == have)
		return;
	if (to < have) {
		m.op = RADDLE_EXPR_EXTRACT;
		m.k = draw(have - to + 1);
		add(rt_expr_extract(pool[a].node, (uint32_t)m.k, to), m);
	} else if (draw(2)) {
		m.op = RADDLE_EXPR_ZEXT;
		add(rt_expr_zext(pool[a].node, to), m);
	} else {
		m.op = RADDLE_EXPR_SEXT;
		add(rt_expr_sext(pool[a].node, to), m);
	}
}

static void add_other(void)
{
	uint32_t a = (uint32_t)draw(pool_count), b, c;

	if (draw(2)) {
		b = operand_of(8);
		if (pool[a].made.bits + 8 <= 64)
			add(rt_expr_concat(pool[a].node, pool[b].node),
			    (struct raddle_expr){.op = RADDLE_EXPR_CONCAT,
						 .bits = (uint8_t)(pool[a].made.bits + 8),
						 .a = a,
						 .b = b});
		return;
	}
	b = operand_of(pool[a].made.bits);
	c = operand_of(1);
	add(rt_expr_ite(pool[c].node, pool[a].node, pool[b].node),
	    (struct raddle_expr){.op = RADDLE_EXPR_ITE, .bits = pool[a].made.bits, .a = c, .b = a, .c = b});
}

/* Adds what compilers often produce: two opposite shifts by the same number, or parts that are put
 * together again. */
static void add_idiom(void)
{
	uint32_t a = (uint32_t)draw(pool_count), bits = pool[a].made.bits, k;
	uint32_t op = draw(2) ? RADDLE_EXPR_ASHR : RADDLE_EXPR_LSHR;

	if (bits < 2 || pool_count + 3 > POOL)
		return;
	k = (uint32_t)pool_count;
	add(rt_expr_const(bits / 2, bits),
	    (struct raddle_expr){.op = RADDLE_EXPR_CONST, .bits = (uint8_t)bits, .k = bits / 2});
	add(rt_expr_binary(RADDLE_EXPR_SHL, pool[a].node, pool[k].node),
	    (struct raddle_expr){.op = RADDLE_EXPR_SHL, .bits = (uint8_t)bits, .a = a, .b = k});
	add(rt_expr_binary(op, pool[k + 1].node, pool[k].node),
	    (struct raddle_expr){.op = (uint8_t)op, .bits = (uint8_t)bits, .a = k + 1, .b = k});
}

static void make_pool(void)
{
	char bytes[BYTES];

	shadow_random(&seed);
	memset(bytes, 'x', sizeof bytes);
	pool_count = 0;
	rt_input_bytes(rt_input(RADDLE_INPUT_STDIN, 0, NULL), 0, bytes, sizeof bytes);
	for (uint32_t i = 0; i < BYTES; i++)
		add(rt_shadow.vars[i].node, (struct raddle_expr){.op = RADDLE_EXPR_VAR, .bits = 8, .k = i});
	while (pool_count < POOL - 4)
		switch (draw(6)) {
		case 0: add_width(); break;
		case 1: add_other(); break;
		case 2: add_idiom(); break;
		default: add_binary();
		}
	rt_memory_clear((uintptr_t)bytes, sizeof bytes);
}

static void assign(uint64_t *values)
{
	for (int i = 0; i < BYTES; i++)
		values[i] = draw(3) ? draw(256) : (uint64_t[]){0, 1, 127, 128, 255}[draw(5)];
}

static size_t rounds(size_t usual)
{
	return getenv("RADDLE_LONG") ? usual * 25 : usual;
}

/* Every node has the same value as its reference. */
static void test_rewrites(void **state)
{
	uint64_t values[BYTES], *nodes = NULL;
	struct sym_trace t;

	(void)state;
	for (size_t round = 0; round < rounds(30); round++) {
		shadow_start();
		seed = round + 1;
		for (int many = 0; many < 40; many++) {
			make_pool();
			assert_int_equal(sym_trace_read(&t, shadow_memory, RADDLE_SHADOW_SIZE), 0);
			nodes = calloc(t.node_count + 1, sizeof *nodes);
			for (int k = 0; k < MODELS; k++) {
				assign(values);
				sym_evaluate(&t, values, nodes);
				for (size_t i = 0; i < pool_count; i++)
					assert_int_equal(nodes[pool[i].node], slow(i, values));
			}
			free(nodes);
			sym_trace_release(&t);
		}
	}
}

/* Whether some assignment makes the condition true (or false), by trying all assignments. */
static bool exists(size_t at, bool holds)
{
	uint64_t values[BYTES];

	for (values[0] = 0; values[0] < 256; values[0]++)
		for (values[1] = 0; values[1] < 256; values[1]++)
			if ((slow(at, values) != 0) == holds)
				return true;
	return false;
}

/* If there are solutions, the solver must find one, and it must be correct.  If the solver finds
 * none, there must be none. */
static void test_solver(void **state)
{
	struct sym_trace t;
	unsigned yes = 0, no = 0;

	(void)state;
	for (size_t round = 0; round < rounds(15); round++) {
		struct sym_solver *s;

		shadow_start();
		seed = 1000 + round;
		make_pool();
		assert_int_equal(sym_trace_read(&t, shadow_memory, RADDLE_SHADOW_SIZE), 0);
		s = sym_solver_new(&t, 20000000);
		assert_non_null(s);
		for (size_t i = 0; i < pool_count; i++) {
			struct sym_fact fact = {pool[i].node, draw(2)};
			uint64_t values[BYTES] = {'x', 'x'};

			if (pool[i].made.bits != 1)
				continue;
			switch (sym_solve(s, &fact, 1, 1, values)) {
			case SYM_YES:
				assert_int_equal(slow(i, values), fact.holds);
				yes++;
				break;
			case SYM_NO:
				assert_false(exists(i, fact.holds));
				no++;
				break;
			default: break; /* the solver may give up because of its time limit */
			}
		}
		sym_solver_free(s);
		sym_trace_release(&t);
	}
	assert_true(yes > 10 && no > 3);
}

/* Damaged expressions are noticed. */
static void test_damage(void **state)
{
	struct sym_trace t;

	(void)state;
	shadow_start();
	seed = 7;
	make_pool();
	rt_shadow.nodes[rt_shadow.shared->node_count - 1].a = rt_shadow.shared->node_count;
	assert_int_not_equal(sym_trace_read(&t, shadow_memory, RADDLE_SHADOW_SIZE), 0);
	sym_trace_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_rewrites), cmocka_unit_test(test_solver),
					   cmocka_unit_test(test_damage)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
