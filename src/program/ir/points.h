/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Computes what pointers may point to, without LLVM.  A problem consists of variables, objects and
 * constraints.  The solution is a set of places for each variable and each place.
 *
 * A place is an object and an offset, or IR_ANYWHERE in the object.  A store through IR_ANYWHERE
 * goes to all places of the object, and a load through it reads all of them.
 *
 * 	ADDRESS  to = &object + offset
 * 	COPY     to = from
 * 	STEP     to = from + offset, plus any multiple of the stride; with stride IR_ANYWHERE, any offset
 * 	LOAD     to = *from
 * 	STORE    *to = from
 *
 * A call connects its arguments and result with the functions that its callee points to.
 */
#ifndef IR_POINTS_H
#define IR_POINTS_H

#include "ir/bits.h"

#define IR_ANYWHERE (-1) /* an unknown offset */
#define IR_NO_VARIABLE UINT32_MAX

/* Returns the representative of the class of n in a union-find forest, and halves the path to it.
 * A representative is its own parent. */
static inline uint32_t ir_root(uint32_t *parent, uint32_t n)
{
	while (parent[n] != n) {
		parent[n] = parent[parent[n]];
		n = parent[n];
	}
	return n;
}

/* An array inside an object.  Its elements are merged, so an offset in the array is treated as an
 * offset in the first element. */
struct ir_range {
	/* Offsets of start and end, and the size of an element, in bytes. */
	int64_t start, end, element;
};

struct ir_points_object {
	int64_t size; /* the size in bytes; -1 if unknown */
	/* The arrays, outer ones first.  Inner arrays are in the first element of outer ones. */
	struct ir_range *ranges;
	uint32_t range_count;
	/* The largest number of places in the object.  Further places are treated as IR_ANYWHERE.
	 * 0 means no limit. */
	uint32_t places;
	/* If this object is a function, its number.  Otherwise IR_NO_VARIABLE. */
	uint32_t function;
};

struct ir_points_function {
	/* The variable of the first parameter, and the number of parameters.  The variables of the
	 * other parameters follow the first one. */
	uint32_t parameters, parameter_count;
	uint32_t result;    /* the variable of the result */
	uint64_t signature; /* a hash of the parameters' types; 0 matches every call */
};

enum ir_constraint_kind { IR_ADDRESS, IR_COPY, IR_STEP, IR_LOAD, IR_STORE };

struct ir_constraint {
	enum ir_constraint_kind kind;
	uint32_t to, from; /* variables; in an ADDRESS constraint, `from` is an object */
	int64_t offset, stride;
};

struct ir_points_call {
	uint32_t callee;
	/* The index of the first argument in the problem's `arguments`, and the number of
	 * arguments.  IR_NO_VARIABLE marks an unknown argument. */
	uint32_t arguments, argument_count;
	uint32_t result;    /* the variable of the result; IR_NO_VARIABLE if it is not used */
	uint64_t signature; /* a hash of the arguments' types; 0 matches every function */
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
void ir_points_problem_release(struct ir_points_problem *p); /* also frees the ranges of objects */

/* Replaces repeated steps by steps over any number of elements.  Call this before solving. */
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
	struct ir_bits *sets; /* the set of places of each variable that owns a set */
	/* For each variable, the variable that owns its set.  Variables with equal sets may share
	 * one. */
	uint32_t *owner;
	uint32_t variables;
	struct ir_edge_found *edges; /* pairs of a call and a function that it may call */
	size_t edge_count, edge_capacity;
};

/* Solves the problem by inclusion (Andersen's method).  If that takes more than `budget` steps,
 * returns false and empties *s.  A budget of 0 means no limit. */
bool ir_points_solve(const struct ir_points_problem *p, uint64_t budget, struct ir_solution *s);

/* Solves the problem by unification (Steensgaard's method).  Fields are not distinguished, so all
 * places are IR_ANYWHERE.  The time is nearly linear in the number of constraints. */
void ir_points_unify(const struct ir_points_problem *p, struct ir_solution *s);

void ir_solution_release(struct ir_solution *s);
const struct ir_bits *ir_solution_set(const struct ir_solution *s, uint32_t variable);

/* In layout.c.  Finds the place at an offset in an object.  Returns false if it is outside the
 * object. */
bool ir_object_place(const struct ir_points_object *o, int64_t offset, int64_t *place);
bool ir_object_step(const struct ir_points_object *o, int64_t from, const struct ir_constraint *step,
		    int64_t *place);

int64_t ir_common_divisor(int64_t a, int64_t b); /* used for strides */

/* Returns true if the call may call the function, according to their signatures. */
bool ir_points_fits(const struct ir_points_call *c, const struct ir_points_function *f);

#endif
