// SPDX-License-Identifier: Apache-2.0
/* Unit tests of loading Z3: it answers, an error does not end the process, and it can be loaded
 * again. */
#include "solver/z3.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static Z3_ast number(const struct solver_z3 *z3, Z3_context c, int value)
{
	return z3->mk_int(c, value, z3->mk_int_sort(c));
}

/* 3 < x < 5 has one solution; with x > 4 in addition, it has none. */
static void test_answers(void **state)
{
	struct solver_z3 z3 = {0};
	Z3_model model;
	Z3_ast value;
	int64_t found = 0;

	(void)state;
	if (!solver_z3_open(&z3))
		skip();
	Z3_context c = solver_z3_context(&z3);
	Z3_solver s = z3.mk_simple_solver(c);
	z3.solver_inc_ref(c, s);
	solver_z3_limit(&z3, c, s, 60000);
	Z3_ast x = z3.mk_const(c, z3.mk_string_symbol(c, "x"), z3.mk_int_sort(c));
	z3.solver_assert(c, s, z3.mk_gt(c, x, number(&z3, c, 3)));
	z3.solver_assert(c, s, z3.mk_lt(c, x, number(&z3, c, 5)));
	assert_int_equal(z3.solver_check(c, s), Z3_L_TRUE);
	model = z3.solver_get_model(c, s);
	z3.model_inc_ref(c, model);
	assert_true(z3.model_eval(c, model, x, true, &value));
	assert_true(z3.get_numeral_int64(c, value, &found));
	assert_int_equal(found, 4);
	z3.model_dec_ref(c, model);
	z3.solver_assert(c, s, z3.mk_gt(c, x, number(&z3, c, 4)));
	assert_int_equal(z3.solver_check(c, s), Z3_L_FALSE);
	z3.solver_dec_ref(c, s);
	z3.del_context(c);
	solver_z3_close(&z3);
	assert_null(z3.handle);
}

/* By default, Z3 exits the process at such an error. */
static void test_errors(void **state)
{
	struct solver_z3 z3 = {0};

	(void)state;
	if (!solver_z3_open(&z3))
		skip();
	for (int i = 0; i < 2; i++) {
		Z3_context c = solver_z3_context(&z3);

		z3.mk_bv_sort(c, 0); /* a number cannot have 0 bits */
		assert_int_not_equal(z3.get_error_code(c), Z3_OK);
		z3.del_context(c);
	}
	solver_z3_close(&z3);
	assert_true(solver_z3_open(&z3));
	solver_z3_close(&z3);
	solver_z3_close(&z3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answers),
		cmocka_unit_test(test_errors),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
