/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Computes inclusion-based points-to sets (Andersen), by waves (Pereira and Berlin, "Wave
 * propagation and deep propagation for pointer analysis").  In each wave, cycles of copies are
 * collapsed into one node.  New places are then propagated through the acyclic graph in
 * topological order.  After that, loads, stores, steps and calls are processed, each with the
 * places that are new to it.  They add edges for the next wave.
 *
 * Each variable is a node.  So is each place that occurs; its node represents the contents of the
 * place.  A place "anywhere in an object" has two nodes: a store to it flows to every place of the
 * object, and the contents of every place flow to loads from it.
 *
 * Invariants: parent[] is a forest whose roots own sets and edges; done[n] is a subset of sets[n]
 * that has been passed to all successors and constraints of n; between waves nothing else is
 * pending.
 */
#include "ir/points.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/map.h"

#include <stdlib.h>
#include <string.h>

/* An offset of this many bytes or more counts as anywhere in the object.  Set by hand, to limit
 * memory. */
enum { MAX_OFFSET = 1 << 16 };

/* Indices of constraints or calls at a node. */
struct index_list {
	uint32_t *items;
	size_t count, capacity;
};

struct points_node {
	struct ir_bits set, done, successors;
	struct index_list uses;	 /* numbers of constraints: LOAD and STEP from this node, STORE to it */
	struct index_list calls; /* numbers of calls whose callee is this node */
};

struct solver_object {
	struct index_list places;
	/* For each offset, 1 + its place; 0 if the place is not created yet. */
	struct index_list by_offset;
	/* The place that stands for anywhere in the object, or IR_NO_VARIABLE. */
	uint32_t anywhere;
};

struct solver {
	const struct ir_points_problem *p;
	struct ir_solution *s;
	struct points_node *nodes;
	uint32_t *parent;
	size_t node_count, node_capacity, parent_capacity;
	uint32_t *load_node, *store_node; /* the nodes of each place */
	size_t load_capacity, store_capacity;
	struct solver_object *objects;
	struct rd_umap edges; /* the calls found, as call << 32 | function */
	uint64_t work, budget;
	bool changed;
	/* Used by the search for cycles. */
	uint32_t *number, *low, *stack, *order;
	size_t stack_depth, order_count, scratch_capacity;
	uint32_t next_number;
};

static uint32_t find(struct solver *v, uint32_t n)
{
	return ir_root(v->parent, n);
}

static void list_add(struct index_list *l, uint32_t item)
{
	RD_GROW(l->items, l->capacity, l->count + 1);
	l->items[l->count++] = item;
}

static uint32_t add_node(struct solver *v)
{
	RD_GROW(v->nodes, v->node_capacity, v->node_count + 1);
	RD_GROW(v->parent, v->parent_capacity, v->node_count + 1);
	v->nodes[v->node_count] = (struct points_node){0};
	v->parent[v->node_count] = (uint32_t)v->node_count;
	return (uint32_t)v->node_count++;
}

static void unite(struct solver *v, uint32_t to, const struct ir_bits *from)
{
	v->work += v->nodes[to].set.count + from->count;
	v->changed |= ir_bits_unite(&v->nodes[to].set, from);
}

static void add_edge(struct solver *v, uint32_t from, uint32_t to)
{
	RD_ASSERT(from < v->node_count && to < v->node_count);
	from = find(v, from);
	to = find(v, to);
	if (from == to || !ir_bits_add(&v->nodes[from].successors, to))
		return;
	/* Places that `from` gets later reach all its successors anyway. */
	unite(v, to, &v->nodes[from].set);
	v->changed = true;
}

/* ---------------------------------------------------------------- places --- */

/* Connects a place with the place that stands for anywhere in the same object. */
static void connect(struct solver *v, uint32_t place, uint32_t anywhere)
{
	if (place == anywhere)
		return;
	add_edge(v, v->store_node[anywhere], v->store_node[place]);
	add_edge(v, v->load_node[place], v->load_node[anywhere]);
}

static uint32_t add_place(struct solver *v, uint32_t object, int64_t offset)
{
	uint32_t place = (uint32_t)v->s->place_count++;
	RD_GROW(v->s->places, v->s->place_capacity, place + 1);
	RD_GROW(v->load_node, v->load_capacity, place + 1);
	RD_GROW(v->store_node, v->store_capacity, place + 1);
	v->s->places[place] = (struct ir_place){.object = object, .offset = offset};
	v->load_node[place] = add_node(v);
	v->store_node[place] = offset == IR_ANYWHERE ? add_node(v) : v->load_node[place];
	struct solver_object *o = &v->objects[object];
	list_add(&o->places, place);
	if (offset == IR_ANYWHERE) {
		o->anywhere = place;
		for (size_t i = 0; i < o->places.count; i++)
			connect(v, o->places.items[i], place);
		add_edge(v, v->store_node[place], v->load_node[place]);
	} else if (o->anywhere != IR_NO_VARIABLE) {
		connect(v, place, o->anywhere);
	}
	return place;
}

/* Returns the place at an offset, creating it if necessary.  If a limit is exceeded, returns the
 * place that stands for anywhere in the object. */
static uint32_t place_of(struct solver *v, uint32_t object, int64_t offset)
{
	RD_ASSERT(object < v->p->object_count);
	struct solver_object *o = &v->objects[object];
	uint32_t limit = v->p->objects[object].places;
	if (offset >= MAX_OFFSET)
		offset = IR_ANYWHERE;
	if (offset != IR_ANYWHERE && (size_t)offset < o->by_offset.count && o->by_offset.items[offset] != 0)
		return o->by_offset.items[offset] - 1;
	if (limit != 0 && o->places.count >= limit)
		offset = IR_ANYWHERE;
	if (offset == IR_ANYWHERE)
		return o->anywhere != IR_NO_VARIABLE ? o->anywhere : add_place(v, object, offset);
	uint32_t place = add_place(v, object, offset);
	while (o->by_offset.count <= (size_t)offset)
		list_add(&o->by_offset, 0);
	o->by_offset.items[offset] = place + 1;
	return place;
}

/* ---------------------------------------------------------------- cycles --- */

/* Merges node b into node a. */
static void merge(struct solver *v, uint32_t a, uint32_t b)
{
	RD_ASSERT(a != b);
	struct points_node *x = &v->nodes[a], *y = &v->nodes[b];
	v->work += x->set.count + y->set.count;
	ir_bits_unite(&x->set, &y->set);
	/* Keep only the places that both nodes have passed on.  Only these have reached the
	 * successors of both. */
	ir_bits_intersect(&x->done, &y->done);
	ir_bits_unite(&x->successors, &y->successors);
	for (size_t i = 0; i < y->uses.count; i++)
		list_add(&x->uses, y->uses.items[i]);
	for (size_t i = 0; i < y->calls.count; i++)
		list_add(&x->calls, y->calls.items[i]);
	ir_bits_release(&y->set);
	ir_bits_release(&y->done);
	ir_bits_release(&y->successors);
	free(y->uses.items);
	free(y->calls.items);
	y->uses = y->calls = (struct index_list){0};
	v->parent[b] = a;
}

/* An entry of the stack of the depth-first search. */
struct points_visit {
	uint32_t node;
	struct ir_bits_iterator next;
};

static void finish_component(struct solver *v, uint32_t root)
{
	RD_ASSERT(root < v->node_count);
	uint32_t n;
	do {
		n = v->stack[--v->stack_depth];
		v->low[n] = UINT32_MAX; /* the node is no longer on the stack */
		if (n != root)
			merge(v, root, n);
	} while (n != root);
	v->order[v->order_count++] = root;
}

static void enter(struct solver *v, uint32_t n)
{
	RD_ASSERT(n < v->node_count);
	v->number[n] = v->low[n] = ++v->next_number;
	v->stack[v->stack_depth++] = n;
}

/* Tarjan's search for strongly connected components, without recursion.  Each component is merged
 * when it is complete.  Its successors are not visited again after that, so the set of successors
 * may change. */
static void search_from(struct solver *v, uint32_t start, struct points_visit *visits)
{
	size_t depth = 0;
	visits[depth++] = (struct points_visit){.node = start};
	enter(v, start);
	while (depth != 0) {
		struct points_visit *top = &visits[depth - 1];
		uint32_t n = top->node, to;
		if (ir_bits_next(&v->nodes[n].successors, &top->next, &to)) {
			to = find(v, to);
			if (v->number[to] == 0) {
				enter(v, to);
				visits[depth++] = (struct points_visit){.node = to};
			} else if (v->low[to] != UINT32_MAX && v->number[to] < v->low[n]) {
				v->low[n] = v->number[to];
			}
			continue;
		}
		depth--;
		if (depth != 0 && v->low[n] < v->low[visits[depth - 1].node])
			v->low[visits[depth - 1].node] = v->low[n];
		if (v->low[n] == v->number[n])
			finish_component(v, n);
	}
}

/* Fills v->order with the roots of all nodes, successors before predecessors. */
static void collapse_cycles(struct solver *v)
{
	size_t n = v->node_count;
	struct points_visit *visits = rd_xmalloc((n + 1) * sizeof *visits);
	v->number = rd_xrealloc(v->number, (n + 1) * sizeof *v->number);
	v->low = rd_xrealloc(v->low, (n + 1) * sizeof *v->low);
	v->stack = rd_xrealloc(v->stack, (n + 1) * sizeof *v->stack);
	v->order = rd_xrealloc(v->order, (n + 1) * sizeof *v->order);
	memset(v->number, 0, n * sizeof *v->number);
	v->next_number = 0;
	v->stack_depth = v->order_count = 0;
	for (uint32_t i = 0; i < n; i++)
		if (v->parent[i] == i && v->number[i] == 0)
			search_from(v, i, visits);
	free(visits);
	v->work += n;
}

/* ----------------------------------------------------------------- waves --- */

static void apply_step(struct solver *v, const struct ir_constraint *c, const struct ir_bits *fresh)
{
	struct ir_bits reached = {0};
	struct ir_bits_iterator i = {0};
	for (uint32_t place; ir_bits_next(fresh, &i, &place);) {
		struct ir_place from = v->s->places[place];
		int64_t offset;
		if (ir_object_step(&v->p->objects[from.object], from.offset, c, &offset))
			ir_bits_add(&reached, place_of(v, from.object, offset));
	}
	unite(v, find(v, c->to), &reached);
	ir_bits_release(&reached);
}

static void apply_constraint(struct solver *v, const struct ir_constraint *c, const struct ir_bits *fresh)
{
	RD_ASSERT(c->kind <= IR_STORE);
	struct ir_bits_iterator i = {0};
	if (c->kind == IR_STEP) {
		apply_step(v, c, fresh);
		return;
	}
	for (uint32_t place; ir_bits_next(fresh, &i, &place);)
		if (c->kind == IR_LOAD)
			add_edge(v, v->load_node[place], c->to);
		else
			add_edge(v, c->from, v->store_node[place]);
}

static void connect_call(struct solver *v, uint32_t number, uint32_t function)
{
	RD_ASSERT(number < v->p->call_count);
	const struct ir_points_call *c = &v->p->calls[number];
	const struct ir_points_function *f = &v->p->functions[function];
	bool is_new;
	if (!ir_points_fits(c, f))
		return;
	rd_umap_put(&v->edges, (uint64_t)number << 32 | function, &is_new);
	if (!is_new)
		return;
	RD_GROW(v->s->edges, v->s->edge_capacity, v->s->edge_count + 1);
	v->s->edges[v->s->edge_count++] = (struct ir_edge_found){number, function};
	for (uint32_t i = 0; i < c->argument_count && i < f->parameter_count; i++)
		if (v->p->arguments[c->arguments + i] != IR_NO_VARIABLE)
			add_edge(v, v->p->arguments[c->arguments + i], f->parameters + i);
	if (c->result != IR_NO_VARIABLE && f->result != IR_NO_VARIABLE)
		add_edge(v, f->result, c->result);
}

static void apply_calls(struct solver *v, uint32_t call, const struct ir_bits *fresh)
{
	struct ir_bits_iterator i = {0};
	for (uint32_t place; ir_bits_next(fresh, &i, &place);) {
		uint32_t function = v->p->objects[v->s->places[place].object].function;
		if (function != IR_NO_VARIABLE)
			connect_call(v, call, function);
	}
}

/* Passes new places to the constraints of a node.  Nodes may be added in the process, so no
 * pointer to a node is kept. */
static void apply_uses(struct solver *v, uint32_t n, const struct ir_bits *fresh)
{
	for (size_t i = 0; i < v->nodes[n].uses.count; i++)
		apply_constraint(v, &v->p->constraints[v->nodes[n].uses.items[i]], fresh);
	for (size_t i = 0; i < v->nodes[n].calls.count; i++)
		apply_calls(v, v->nodes[n].calls.items[i], fresh);
}

/* Propagates new places through the graph.  Stores in fresh[n] the set of places that the
 * constraints of node n must process. */
static void propagate(struct solver *v, struct ir_bits *fresh)
{
	for (size_t i = v->order_count; i-- > 0;) {
		uint32_t n = v->order[i], to;
		struct ir_bits_iterator next = {0};
		struct points_node *node = &v->nodes[n];
		ir_bits_subtract(&fresh[n], &node->set, &node->done);
		if (fresh[n].count == 0)
			continue;
		ir_bits_copy(&node->done, &node->set);
		while (ir_bits_next(&node->successors, &next, &to))
			if (find(v, to) != n)
				unite(v, find(v, to), &fresh[n]);
		if (node->uses.count == 0 && node->calls.count == 0)
			ir_bits_release(&fresh[n]);
	}
}

static bool within_budget(const struct solver *v)
{
	return v->budget == 0 || v->work < v->budget;
}

static void wave(struct solver *v)
{
	collapse_cycles(v);
	size_t count = v->node_count;
	struct ir_bits *fresh = rd_xcalloc(count + 1, sizeof *fresh);
	propagate(v, fresh);
	v->changed = false;
	for (size_t i = v->order_count; i-- > 0;) {
		uint32_t n = v->order[i];
		if (fresh[n].count != 0 && within_budget(v))
			apply_uses(v, n, &fresh[n]);
		ir_bits_release(&fresh[n]);
	}
	free(fresh);
	/* If the budget is exceeded, the wave is incomplete, so another one would be needed. */
	v->changed |= !within_budget(v);
}

/* ---------------------------------------------------------- the solution --- */

static void add_constraint(struct solver *v, uint32_t number)
{
	const struct ir_constraint *c = &v->p->constraints[number];
	int64_t offset;
	switch (c->kind) {
	case IR_ADDRESS:
		if (ir_object_place(&v->p->objects[c->from], c->offset, &offset)) {
			uint32_t place = place_of(v, c->from, offset);
			ir_bits_add(&v->nodes[c->to].set, place);
		}
		break;
	case IR_COPY:
		if (c->from != c->to)
			ir_bits_add(&v->nodes[c->from].successors, c->to);
		break;
	case IR_STORE: list_add(&v->nodes[c->to].uses, number); break;
	default: list_add(&v->nodes[c->from].uses, number);
	}
}

static void start(struct solver *v)
{
	const struct ir_points_problem *p = v->p;
	v->objects = rd_xcalloc(p->object_count + 1, sizeof *v->objects);
	for (size_t i = 0; i < p->object_count; i++)
		v->objects[i].anywhere = IR_NO_VARIABLE;
	for (uint32_t i = 0; i < p->variables; i++)
		add_node(v);
	for (uint32_t i = 0; i < p->constraint_count; i++)
		add_constraint(v, i);
	for (uint32_t i = 0; i < p->call_count; i++)
		list_add(&v->nodes[p->calls[i].callee].calls, i);
}

/* Moves the sets from the nodes to the solution. */
static void move_sets(struct solver *v)
{
	struct ir_solution *s = v->s;
	s->variables = v->p->variables;
	s->owner = rd_xmalloc((s->variables + 1) * sizeof *s->owner);
	s->sets = rd_xcalloc(s->variables + 1, sizeof *s->sets);
	for (size_t i = 0; i < s->place_count; i++)
		ir_bits_copy(&s->places[i].contents, &v->nodes[find(v, v->load_node[i])].set);
	/* The first variable of a cycle owns the set of the cycle.  The root of the cycle cannot
	 * own the set, because it may be a place. */
	uint32_t *first = rd_xmalloc((v->node_count + 1) * sizeof *first);
	memset(first, 0xff, (v->node_count + 1) * sizeof *first);
	for (uint32_t i = 0; i < s->variables; i++) {
		uint32_t root = find(v, i);
		if (first[root] == UINT32_MAX) {
			first[root] = i;
			s->sets[i] = v->nodes[root].set;
			v->nodes[root].set = (struct ir_bits){0};
		}
		s->owner[i] = first[root];
	}
	free(first);
}

static void finish(struct solver *v)
{
	for (size_t i = 0; i < v->node_count; i++) {
		ir_bits_release(&v->nodes[i].set);
		ir_bits_release(&v->nodes[i].done);
		ir_bits_release(&v->nodes[i].successors);
		free(v->nodes[i].uses.items);
		free(v->nodes[i].calls.items);
	}
	for (size_t i = 0; i < v->p->object_count; i++)
		RD_FREE(v->objects[i].places.items, v->objects[i].by_offset.items);
	RD_FREE(v->nodes, v->parent, v->load_node, v->store_node, v->objects, v->number, v->low, v->stack,
		v->order);
	rd_umap_release(&v->edges);
}

bool ir_points_solve(const struct ir_points_problem *p, uint64_t budget, struct ir_solution *s)
{
	struct solver v = {.p = p, .s = s, .budget = budget, .changed = true};
	memset(s, 0, sizeof *s);
	start(&v);
	while (v.changed && within_budget(&v))
		wave(&v);
	bool done = !v.changed;
	if (done)
		move_sets(&v);
	finish(&v);
	if (!done)
		ir_solution_release(s);
	return done;
}

const struct ir_bits *ir_solution_set(const struct ir_solution *s, uint32_t variable)
{
	RD_ASSERT(variable < s->variables);
	return &s->sets[s->owner[variable]];
}

void ir_solution_release(struct ir_solution *s)
{
	for (size_t i = 0; i < s->place_count; i++)
		ir_bits_release(&s->places[i].contents);
	for (uint32_t i = 0; i < s->variables; i++)
		ir_bits_release(&s->sets[i]);
	RD_FREE(s->places, s->sets, s->owner, s->edges);
	memset(s, 0, sizeof *s);
}

void ir_points_problem_release(struct ir_points_problem *p)
{
	RD_FREE_EACH(p->objects, p->object_count, .ranges);
	RD_FREE(p->objects, p->functions, p->constraints, p->calls, p->arguments);
	memset(p, 0, sizeof *p);
}
