// SPDX-License-Identifier: Apache-2.0
/* Loads the library Z3, makes contexts and sets time limits (solver/z3.h). */
#include "solver/z3.h"

#include "base/error.h"
#include "base/library.h"

#include <string.h>

bool solver_z3_open(struct solver_z3 *z3)
{
	const struct rd_library_function functions[] = {
#define X(name) {"Z3_" #name, &z3->name},
		SOLVER_Z3_FUNCTIONS(X)
#undef X
	};

	RD_ASSERT(!z3->handle);
	z3->handle = rd_library_open(SOLVER_Z3_LIBRARY, functions, sizeof functions / sizeof *functions);
	return z3->handle != NULL;
}

void solver_z3_close(struct solver_z3 *z3)
{
	rd_library_close(z3->handle);
	*z3 = (struct solver_z3){0};
}

/* Ignores errors, because Z3's default handler ends the process. */
static void ignore_error(Z3_context c, Z3_error_code e)
{
	(void)c;
	(void)e;
}

Z3_context solver_z3_context(const struct solver_z3 *z3)
{
	Z3_config config = z3->mk_config();
	Z3_context context = z3->mk_context(config);

	z3->del_config(config);
	z3->set_error_handler(context, ignore_error);
	return context;
}

static void set_number(const struct solver_z3 *z3, Z3_context context, Z3_solver solver, const char *name,
		       unsigned value)
{
	Z3_params params = z3->mk_params(context);

	z3->params_inc_ref(context, params);
	z3->params_set_uint(context, params, z3->mk_string_symbol(context, name), value);
	z3->solver_set_params(context, solver, params);
	z3->params_dec_ref(context, params);
}

void solver_z3_limit(const struct solver_z3 *z3, Z3_context context, Z3_solver solver, unsigned timeout_ms)
{
	set_number(z3, context, solver, "timeout", timeout_ms);
}

void solver_z3_limit_work(const struct solver_z3 *z3, Z3_context context, Z3_solver solver, unsigned work)
{
	set_number(z3, context, solver, "rlimit", work);
}

uint64_t solver_z3_work(const struct solver_z3 *z3, Z3_context context, Z3_solver solver)
{
	Z3_stats stats = z3->solver_get_statistics(context, solver);
	uint64_t work = 0;

	z3->stats_inc_ref(context, stats);
	for (unsigned i = 0; i < z3->stats_size(context, stats); i++)
		if (!strcmp(z3->stats_get_key(context, stats, i), "rlimit count") &&
		    z3->stats_is_uint(context, stats, i))
			work = z3->stats_get_uint_value(context, stats, i);
	z3->stats_dec_ref(context, stats);
	return work;
}
