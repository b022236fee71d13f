/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads the solver Z3 only when it is needed.  Loading Z3 takes longer than answering a typical
 * question without Z3.  Moreover, everything that does not need Z3 works on machines that do not
 * have it.
 */
#ifndef SOLVER_Z3_H
#define SOLVER_Z3_H

#include <stdbool.h>
#include <stdint.h>
#include <z3.h>

#define SOLVER_Z3_LIBRARY "libz3.so.4"

/* The functions of Z3 that are used. */
/* clang-format off */
#define SOLVER_Z3_FUNCTIONS(X) \
	X(mk_config) X(del_config) X(mk_context) X(del_context) X(set_error_handler) X(get_error_code) \
	X(mk_solver) X(mk_simple_solver) X(solver_inc_ref) X(solver_dec_ref) X(solver_push) X(solver_pop) \
	X(solver_assert) X(solver_check) X(solver_get_model) X(solver_set_params) \
	X(model_inc_ref) X(model_dec_ref) X(model_eval) \
	X(mk_params) X(params_inc_ref) X(params_dec_ref) X(params_set_uint) X(mk_string_symbol) X(mk_int_symbol) \
	X(mk_const) X(mk_eq) X(mk_not) X(mk_ite) X(mk_or) X(mk_implies) X(mk_and) \
	X(mk_int_sort) X(mk_bool_sort) X(mk_int) X(mk_add) X(mk_lt) X(mk_gt) X(mk_ge) X(get_numeral_int64) \
	X(mk_bv_sort) X(mk_unsigned_int64) X(get_numeral_uint64) \
	X(mk_bvadd) X(mk_bvsub) X(mk_bvmul) X(mk_bvudiv) X(mk_bvsdiv) X(mk_bvurem) X(mk_bvsrem) X(mk_bvand) \
	X(mk_bvor) X(mk_bvxor) X(mk_bvshl) X(mk_bvlshr) X(mk_bvashr) X(mk_bvult) X(mk_bvule) X(mk_bvslt) \
	X(mk_bvsle) X(mk_zero_ext) X(mk_sign_ext) X(mk_extract) X(mk_concat) \
	X(solver_get_statistics) X(stats_inc_ref) X(stats_dec_ref) X(stats_size) X(stats_get_key) X(stats_is_uint) \
	X(stats_get_uint_value)
/* clang-format on */

/* All members are zero if Z3 is not loaded. */
struct solver_z3 {
	void *handle;
#define X(name) __typeof__(Z3_##name) *name;
	SOLVER_Z3_FUNCTIONS(X)
#undef X
};

/* Loads Z3.  Returns false, and loads nothing, if the library is missing or too old. */
bool solver_z3_open(struct solver_z3 *z3);
void solver_z3_close(struct solver_z3 *z3);

/* Makes a context in which an error does not end the process.  Callers must check
 * get_error_code(). */
Z3_context solver_z3_context(const struct solver_z3 *z3);

/* Limits the time that a question may take.  With this limit, whether the solver finds an answer
 * depends on how busy the machine is. */
void solver_z3_limit(const struct solver_z3 *z3, Z3_context context, Z3_solver solver, unsigned timeout_ms);

/* Limits the number of steps that the solver may take for one question (Z3 calls this limit
 * "rlimit").  Unlike a time limit, this limit gives the same result in every run. solver_z3_work()
 * returns the number of steps that all questions of the context have taken so far. */
void solver_z3_limit_work(const struct solver_z3 *z3, Z3_context context, Z3_solver solver, unsigned work);
uint64_t solver_z3_work(const struct solver_z3 *z3, Z3_context context, Z3_solver solver);

#endif
