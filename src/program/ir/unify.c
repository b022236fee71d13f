/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Computes points-to sets by unification (Steensgaard's algorithm), which is fast enough for huge
 * programs.  Each pointer points to one class of objects, and both sides of a copy point to the
 * same class.  Fields are not distinguished.
 *
 * The nodes are the variables, the objects, and classes that were created before they had members.
 * Invariant: if n is the root of a class, target[n] is the class that its members point to, or
 * IR_NO_VARIABLE if that class has not been created yet.
 */
#include "base/alloc.h"
#include "base/error.h"
#include "ir/points.h"

#include <stdlib.h>
#include <string.h>

struct unifier {
	const struct ir_points_problem *p;
	uint32_t *parent, *target;
	size_t count, parent_capacity, target_capacity;
	bool changed;
};

static uint32_t add_node(struct unifier *u)
{
	RD_GROW(u->parent, u->parent_capacity, u->count + 1);
	RD_GROW(u->target, u->target_capacity, u->count + 1);
	u->parent[u->count] = (uint32_t)u->count;
	u->target[u->count] = IR_NO_VARIABLE;
	return (uint32_t)u->count++;
}

static uint32_t find(struct unifier *u, uint32_t n)
{
	return ir_root(u->parent, n);
}

/* Returns the class that the members of a class point to. */
static uint32_t target_of(struct unifier *u, uint32_t n)
{
	RD_ASSERT(n < u->count);
	n = find(u, n);
	if (u->target[n] == IR_NO_VARIABLE) {
		uint32_t fresh = add_node(u);
		u->target[n] = fresh;
	}
	return find(u, u->target[n]);
}

/* Merges two classes, and the classes that they point to. */
static void join(struct unifier *u, uint32_t a, uint32_t b)
{
	RD_ASSERT(a < u->count && b < u->count);
	for (;;) {
		a = find(u, a);
		b = find(u, b);
		if (a == b)
			return;
		u->changed = true;
		uint32_t x = u->target[a], y = u->target[b];
		u->parent[b] = a;
		if (x == IR_NO_VARIABLE)
			u->target[a] = y;
		if (x == IR_NO_VARIABLE || y == IR_NO_VARIABLE)
			return;
		a = x;
		b = y;
	}
}

static uint32_t object_node(const struct unifier *u, uint32_t object)
{
	RD_ASSERT(object < u->p->object_count);
	return u->p->variables + object;
}

static void apply(struct unifier *u, const struct ir_constraint *c)
{
	switch (c->kind) {
	case IR_ADDRESS: join(u, target_of(u, c->to), object_node(u, c->from)); break;
	case IR_COPY:
	case IR_STEP: join(u, target_of(u, c->to), target_of(u, c->from)); break;
	case IR_LOAD: join(u, target_of(u, c->to), target_of(u, target_of(u, c->from))); break;
	case IR_STORE: join(u, target_of(u, target_of(u, c->to)), target_of(u, c->from)); break;
	}
}

static void connect(struct unifier *u, const struct ir_points_call *c, const struct ir_points_function *f)
{
	for (uint32_t i = 0; i < c->argument_count && i < f->parameter_count; i++)
		if (u->p->arguments[c->arguments + i] != IR_NO_VARIABLE)
			join(u, target_of(u, u->p->arguments[c->arguments + i]),
			     target_of(u, f->parameters + i));
	if (c->result != IR_NO_VARIABLE && f->result != IR_NO_VARIABLE)
		join(u, target_of(u, f->result), target_of(u, c->result));
}

/* Called for each pair of a call and a function that it may call. */
typedef void pair_fn(struct unifier *u, uint32_t call, uint32_t function, void *context);

static void each_pair(struct unifier *u, pair_fn *fn, void *context)
{
	const struct ir_points_problem *p = u->p;
	for (uint32_t o = 0; o < p->object_count; o++) {
		uint32_t function = p->objects[o].function;
		for (uint32_t c = 0; function != IR_NO_VARIABLE && c < p->call_count; c++)
			if (ir_points_fits(&p->calls[c], &p->functions[function]) &&
			    target_of(u, p->calls[c].callee) == find(u, object_node(u, o)))
				fn(u, c, function, context);
	}
}

static void connect_pair(struct unifier *u, uint32_t call, uint32_t function, void *context)
{
	(void)context;
	connect(u, &u->p->calls[call], &u->p->functions[function]);
}

static void keep_pair(struct unifier *u, uint32_t call, uint32_t function, void *context)
{
	struct ir_solution *s = context;
	(void)u;
	RD_GROW(s->edges, s->edge_capacity, s->edge_count + 1);
	s->edges[s->edge_count++] = (struct ir_edge_found){call, function};
}

/* Moves the sets to the solution.  Variables that point to the same class share a set. */
static void move_sets(struct unifier *u, struct ir_solution *s)
{
	const struct ir_points_problem *p = u->p;
	uint32_t n = p->variables;
	for (uint32_t i = 0; i < n + p->object_count; i++)
		target_of(u, i);
	struct ir_bits *members = rd_xcalloc(u->count + 1, sizeof *members);
	uint32_t *first = rd_xmalloc((u->count + 1) * sizeof *first);
	memset(first, 0xff, (u->count + 1) * sizeof *first);
	for (uint32_t o = 0; o < p->object_count; o++)
		ir_bits_add(&members[find(u, object_node(u, o))], o);
	s->places = rd_xcalloc(p->object_count + 1, sizeof *s->places);
	s->place_count = p->object_count;
	for (uint32_t o = 0; o < p->object_count; o++) {
		s->places[o] = (struct ir_place){.object = o, .offset = IR_ANYWHERE};
		ir_bits_copy(&s->places[o].contents, &members[target_of(u, object_node(u, o))]);
	}
	s->variables = n;
	s->owner = rd_xmalloc((n + 1) * sizeof *s->owner);
	s->sets = rd_xcalloc(n + 1, sizeof *s->sets);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t class = target_of(u, i);
		if (first[class] == UINT32_MAX) {
			first[class] = i;
			ir_bits_copy(&s->sets[i], &members[class]);
		}
		s->owner[i] = first[class];
	}
	for (size_t i = 0; i < u->count; i++)
		ir_bits_release(&members[i]);
	free(members);
	free(first);
}

void ir_points_unify(const struct ir_points_problem *p, struct ir_solution *s)
{
	struct unifier u = {.p = p, .changed = true};
	memset(s, 0, sizeof *s);
	for (size_t i = 0; i < p->variables + p->object_count; i++)
		add_node(&u);
	for (size_t i = 0; i < p->constraint_count; i++)
		apply(&u, &p->constraints[i]);
	while (u.changed) {
		u.changed = false;
		each_pair(&u, connect_pair, NULL);
	}
	each_pair(&u, keep_pair, s);
	move_sets(&u, s);
	free(u.parent);
	free(u.target);
}
