/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What pointers may point to, without LLVM.  In: a problem of variables, objects and constraints.
 * Out: a set of places for each variable and each place.
 *
 * A place is an object and an offset, or IR_ANYWHERE in the object.  A store through IR_ANYWHERE
 * goes to all places of the object; a load through it reads all of them.
 *
 * 	ADDRESS  to = &object + offset
 * 	COPY     to = from
 * 	STEP     to = from + offset, plus any multiple of the stride; stride IR_ANYWHERE: anywhere
 * 	LOAD     to = *from
 * 	STORE    *to = from
 *
 * A call connects its arguments and result with the functions that its callee points to.
 */
#ifndef IR_POINTS_H
#define IR_POINTS_H

#include "ir/bits.h"

#define IR_ANYWHERE (-1) /* an offset that is not known */
#define IR_NO_VARIABLE UINT32_MAX

/* The representative of n's class.  Each number is its own parent or has another as its parent.
 * Halves the path to the representative. */
static inline uint32_t ir_root(uint32_t *parent, uint32_t n)
{
	while (parent[n] != n) {
		parent[n] = parent[parent[n]];
		n = parent[n];
	}
	return n;
}

/* An array inside an object: its elements are merged, so offsets in it are those in the first
 * element. */
struct ir_range {
	int64_t start, end, element; /* bytes */
};

struct ir_points_object {
	int64_t size;		 /* bytes; -1: unknown */
	struct ir_range *ranges; /* outer ones first; inner ones lie in the first element of outer ones */
	uint32_t range_count;
	uint32_t places;   /* at most; 0: any number; further ones are anywhere */
	uint32_t function; /* the function that this object is; IR_NO_VARIABLE: it is not a function */
};

struct ir_points_function {
	uint32_t parameters, parameter_count; /* consecutive variables */
	uint32_t result;		      /* variable */
	uint64_t signature;		      /* of the parameters; 0: matches every call */
};

enum ir_constraint_kind { IR_ADDRESS, IR_COPY, IR_STEP, IR_LOAD, IR_STORE };

struct ir_constraint {
	enum ir_constraint_kind kind;
	uint32_t to, from; /* variables; of ADDRESS, from is the object */
	int64_t offset, stride;
};

struct ir_points_call {
	uint32_t callee;
	uint32_t arguments, argument_count; /* in `arguments`; IR_NO_VARIABLE: unknown */
	uint32_t result;		    /* IR_NO_VARIABLE: not used */
	uint64_t signature;		    /* 0: matches every function */
};

struct ir_points_problem {
	uint32_t variables;
	struct ir_points_object *objects;
	size_t object_count, object_capacity;
	struct ir_points_function *functions;
	size_t function_count, function_capacity;
	struct ir_constraint *constraints;
	size_t constraint_count, constraint_capacity;
	struct ir_points_call *calls;
	size_t call_count, call_capacity;
	uint32_t *arguments;
	size_t argument_count, argument_capacity;
};
void ir_points_problem_release(struct ir_points_problem *p); /* with the ranges of objects */

/* Replaces repeated steps by steps over any number of elements; to be called before solving. */
void ir_points_repeat(struct ir_points_problem *p);

struct ir_place {
	uint32_t object;
	int64_t offset;
	struct ir_bits contents;
};

struct ir_edge_found {
	uint32_t call, function;
};

struct ir_solution {
	struct ir_place *places;
	size_t place_count, place_capacity;
	struct ir_bits *sets; /* of places, by variable; equal ones may be shared: see owner */
	uint32_t *owner;      /* of a variable: the one that owns its set */
	uint32_t variables;
	struct ir_edge_found *edges; /* calls and functions that they may call */
	size_t edge_count, edge_capacity;
};

/* Inclusion-based.  False if it would take more than `budget` steps (0: no limit); *s is then
 * empty. */
bool ir_points_solve(const struct ir_points_problem *p, uint64_t budget, struct ir_solution *s);

/* Unification-based and without fields: all places are IR_ANYWHERE.  Nearly linear in the
 * constraints. */
void ir_points_unify(const struct ir_points_problem *p, struct ir_solution *s);

void ir_solution_release(struct ir_solution *s);
const struct ir_bits *ir_solution_set(const struct ir_solution *s, uint32_t variable);

/* layout.c: where an offset leads in an object.  False: outside of it. */
bool ir_object_place(const struct ir_points_object *o, int64_t offset, int64_t *place);
bool ir_object_step(const struct ir_points_object *o, int64_t from, const struct ir_constraint *step,
		    int64_t *place);

int64_t ir_common_divisor(int64_t a, int64_t b); /* of strides */

/* Whether the call may go to the function, according to their signatures. */
bool ir_points_fits(const struct ir_points_call *c, const struct ir_points_function *f);

#endif
