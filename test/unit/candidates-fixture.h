/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Builds facts (tables about a program's code) by hand, for tests of candidates/.  A test adds
 * functions one at a time: first the arguments, then blocks with their instructions.  The numbers
 * that the made_ functions return serve as operands.
 */
#ifndef CANDIDATES_FIXTURE_H
#define CANDIDATES_FIXTURE_H

#include "candidates/program.h"
#include "facts/role.h"

struct made {
	struct facts *f;
	uint64_t random;
};

static inline uint32_t below(struct made *m, uint32_t n)
{
	m->random = m->random * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(m->random >> 33) % n;
}

static inline void made_begin(struct made *m, uint64_t seed)
{
	*m = (struct made){.f = facts_new(), .random = seed};
	facts_add_program(m->f)->name = facts_add_string(m->f, "program");
	facts_add_set(m->f);
}

static inline uint32_t made_function(struct made *m, const char *name, uint32_t arguments, uint32_t flags)
{
	struct facts_function *function = facts_add_function(m->f);
	function->linkage = function->name = facts_add_string(m->f, name);
	function->flags = flags;
	function->subject = FACTS_NONE;
	function->values = (uint32_t)m->f->value_count;
	function->arguments = arguments;
	function->blocks = (uint32_t)m->f->block_count;
	for (uint32_t i = 0; i < arguments; i++) {
		struct facts_value *v = facts_add_value(m->f);
		v->kind = FACTS_ARGUMENT;
		v->operands = (uint32_t)m->f->operand_count;
	}
	return (uint32_t)m->f->function_count - 1;
}

static inline uint32_t made_block(struct made *m)
{
	struct facts_block *block = facts_add_block(m->f);
	block->values = (uint32_t)m->f->value_count;
	block->successors = (uint32_t)m->f->successor_count;
	return (uint32_t)m->f->block_count - 1;
}

/* Adds an instruction.  Its operands are added afterwards with made_operand(). */
static inline uint32_t made_value(struct made *m, enum facts_kind kind, uint32_t detail)
{
	struct facts_value *v = facts_add_value(m->f);
	v->kind = kind;
	v->detail = detail;
	v->operands = (uint32_t)m->f->operand_count;
	return (uint32_t)m->f->value_count - 1;
}

static inline void made_operand(struct made *m, uint32_t operand, uint32_t with)
{
	struct facts_operand *o = facts_add_operand(m->f);
	o->operand = operand;
	o->with = with;
}

static inline uint32_t made_constant(struct made *m, enum facts_constant_kind kind, uint32_t target,
				     int64_t number)
{
	struct facts_constant *c = facts_add_constant(m->f);
	c->kind = kind;
	c->target = target;
	c->number = number;
	return ((uint32_t)m->f->constant_count - 1) | FACTS_CONSTANT;
}

/* Adds a global variable and an object for it.  Returns the number of the variable. */
static inline uint32_t made_global(struct made *m, const char *name, uint32_t flags)
{
	struct facts_object *object = facts_add_object(m->f);
	struct facts_global *global = facts_add_global(m->f);
	object->kind = FACTS_OBJECT_GLOBAL;
	object->flags = flags;
	object->name = global->name = facts_add_string(m->f, name);
	object->origin = (uint32_t)m->f->global_count - 1;
	object->through = FACTS_NONE;
	object->size = global->size = 64;
	global->flags = flags;
	global->object = (uint32_t)m->f->object_count - 1;
	return (uint32_t)m->f->global_count - 1;
}

/* Adds a place in an object.  The places of one object must be added one after another, with
 * ascending offsets. */
static inline uint32_t made_place(struct made *m, uint32_t object, int64_t offset)
{
	struct facts_place *place = facts_add_place(m->f);
	place->object = object;
	place->offset = offset;
	return (uint32_t)m->f->place_count - 1;
}

/* Adds a set of places.  Bit i of `places` means place i. */
static inline uint32_t made_set(struct made *m, uint64_t places)
{
	facts_add_set(m->f)->members = (uint32_t)m->f->member_count;
	for (uint32_t i = 0; i < 64; i++)
		if (places >> i & 1)
			facts_add_member(m->f)->place = i;
	return (uint32_t)m->f->set_count - 1;
}

static inline void made_call_edge(struct made *m, uint32_t value, uint32_t function,
				  enum facts_edge_kind kind)
{
	struct facts_call *call = facts_add_call(m->f);
	call->value = value;
	call->function = function;
	call->kind = kind;
}

#endif
