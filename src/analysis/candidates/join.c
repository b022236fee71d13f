/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Determines which threads have certainly ended after a join (candidates/join-int.h).  A join
 * reads a thread handle.  The analysis matches the join with the calls that may have written that
 * handle.
 *
 * If a single call writes the handle, the thread created by this call has certainly ended.  If the
 * handle is an element of an array, one counting loop must write the elements, and another loop
 * must read them.  If the second loop counts in the same way and exits only at its end, all these
 * threads have ended after it.
 */
#include "candidates/join-int.h"

#include "base/alloc.h"
#include "base/error.h"
#include "facts/role.h"

#include <stdlib.h>

/* The call at which a thread handle is written or read, and the place of the handle. */
struct handle_place {
	uint32_t value, function; /* the call */
	struct path path;
	uint32_t set;
};

static bool is_integer(const struct facts *f, uint32_t operand, int64_t *number)
{
	if (operand == FACTS_NONE || !(operand & FACTS_CONSTANT) ||
	    f->constants[operand & ~FACTS_CONSTANT].kind != FACTS_CONSTANT_INTEGER)
		return false;
	*number = f->constants[operand & ~FACTS_CONSTANT].number;
	return true;
}

/* Returns true if two operands are certainly equal, because they are the same value, equal
 * constants, or reads of the same global variable. */
static bool is_same_value(const struct facts *f, uint32_t a, uint32_t b)
{
	int64_t x, y;
	a = program_strip(f, a);
	b = program_strip(f, b);
	if (a == b)
		return true;
	if (is_integer(f, a, &x) && is_integer(f, b, &y))
		return x == y;
	if (a & FACTS_CONSTANT || b & FACTS_CONSTANT || f->values[a].kind != FACTS_LOAD ||
	    f->values[b].kind != FACTS_LOAD)
		return false;
	struct path p = path_of(f, f->operands[f->values[a].operands].operand),
		    q = path_of(f, f->operands[f->values[b].operands].operand);
	return p.kind == PATH_GLOBAL && path_equal(&p, &q);
}

static bool counts_alike(const struct facts *f, const struct counting *a, const struct counting *b)
{
	return a->step == b->step && a->predicate == b->predicate && is_same_value(f, a->first, b->first) &&
	       is_same_value(f, a->bound, b->bound);
}

/* ------------------------------------------------------------------ loops --- */

static bool ends_program(const struct program *p, uint32_t function, uint32_t block)
{
	struct facts_run values =
		facts_block_values(p->f, function, p->functions[function].first_block + block);
	return p->f->values[values.end - 1].kind == FACTS_UNREACHABLE;
}

/* Returns true if the block runs in each iteration of the loop.  The loop must be left only at its
 * header, unless the program ends. */
static bool runs_whole(const struct program *p, uint32_t function, const struct facts_loop *loop,
		       uint32_t block)
{
	const struct facts_graph *g = &p->functions[function].graph;
	for (uint32_t i = 0; i < loop->size; i++) {
		uint32_t n = loop->body[i];
		for (uint32_t s = g->succ_start[n]; s < g->succ_start[n + 1]; s++) {
			uint32_t to = g->succ[s];
			bool inside = facts_loop_has(loop, to);
			if (!inside && n != loop->header && !ends_program(p, function, to))
				return false;
			if (inside && to == loop->header && !facts_graph_dominates(g, block, n))
				return false;
		}
	}
	return true;
}

static const struct facts_loop *counting_loop(const struct program *p, const struct handle_place *n,
					      struct counting *c)
{
	const struct facts_loop *loop = program_loop(p, n->function, p->block_of[n->value]);
	return loop != NULL && program_counts(p, n->function, loop, c) ? loop : NULL;
}

/* Finds the place of a handle that is reached through a table.  For example, after `t = malloc(..);
 * ts[i] = t; create(&t->name)` the place is ts[i]->name. */
static bool through_table(const struct program *p, const struct handle_place *n, uint32_t variable,
			  struct path *out)
{
	const struct facts *f = p->f;
	const struct facts_loop *loop = program_loop(p, n->function, p->block_of[n->value]);
	for (uint32_t i = 0; i < loop->size; i++) {
		struct facts_run values = facts_block_values(
			f, n->function, p->functions[n->function].first_block + loop->body[i]);
		for (uint32_t v = values.first; v < values.end; v++) {
			if (f->values[v].kind != FACTS_STORE ||
			    f->operands[f->values[v].operands].operand != n->path.root)
				continue;
			struct path slot = path_of(f, f->operands[f->values[v].operands + 1].operand),
				    rest = n->path;
			if (slot.kind == PATH_NONE || slot.index != variable || slot.loads == PATH_LOADS)
				continue;
			slot.offsets[++slot.loads] = 0;
			rest.kind = PATH_VALUE;
			return path_append(&slot, &rest, out);
		}
	}
	return false;
}

/* Returns true if each iteration of the join's loop reads the handle that the corresponding
 * iteration of the creation's loop wrote. */
static bool joins_all(const struct program *p, const struct handle_place *create,
		      const struct handle_place *join, uint32_t *header)
{
	struct counting made, joined;
	struct path from = create->path, to = join->path;
	const struct facts_loop *loop = counting_loop(p, join, &joined);
	if (counting_loop(p, create, &made) == NULL || loop == NULL || !counts_alike(p->f, &made, &joined) ||
	    to.index != joined.variable || !runs_whole(p, join->function, loop, p->block_of[join->value]))
		return false;
	if (from.index != made.variable &&
	    (from.kind != PATH_VALUE || from.loads != 0 || !through_table(p, create, made.variable, &from)))
		return false;
	if (create->function != join->function && from.kind != PATH_GLOBAL)
		return false;
	from.index = to.index;
	*header = loop->header;
	return path_equal(&from, &to);
}

/* ------------------------------------------------------------------ matches --- */

/* Returns true if two handles are certainly in different places, because they have different
 * offsets from the same root or are in different objects. */
static bool is_elsewhere(const struct program *p, const struct handle_place *a, const struct handle_place *b)
{
	if (a->path.kind == b->path.kind && a->path.root == b->path.root && a->path.loads == 0 &&
	    b->path.loads == 0 && a->path.index == FACTS_NONE && b->path.index == FACTS_NONE)
		return a->path.offsets[0] != b->path.offsets[0];
	return !facts_sets_overlap(p->f, a->set, 8, b->set, 8);
}

static bool reads_what(const struct handle_place *create, const struct handle_place *join)
{
	return create->path.index == FACTS_NONE && path_equal(&create->path, &join->path) &&
	       (create->function == join->function || create->path.kind == PATH_GLOBAL);
}

struct join_search {
	struct threads *t;
	struct handle_place *creates;
	size_t count, capacity;
};

static uint64_t threads_at(const struct threads *t, uint32_t create)
{
	RD_ASSERT(t->count <= THREADS_MAX);
	uint64_t threads = 0;
	for (size_t i = 1; i < t->count; i++)
		if (t->items[i].create == create && !t->items[i].handler)
			threads |= UINT64_C(1) << i;
	return t->overflow ? threads & ~(UINT64_C(1) << (THREADS_MAX - 1)) : threads;
}

static void match(struct join_search *s, const struct handle_place *join)
{
	struct threads *t = s->t;
	const struct handle_place *found = NULL;
	uint32_t header = 0;
	bool all = false;
	for (size_t i = 0; i < s->count; i++) {
		const struct handle_place *create = &s->creates[i];
		uint32_t at;
		if (joins_all(t->p, create, join, &at)) {
			found = create;
			all = true;
			header = at;
		} else if (reads_what(create, join)) {
			found = create;
		}
	}
	/* If several calls may have written the handle, it is not certain which thread a single
	 * join waits for.  A loop of joins waits only for the threads that the matching loop
	 * started. */
	for (size_t i = 0; i < s->count && found != NULL && !all; i++)
		if (&s->creates[i] != found && !is_elsewhere(t->p, &s->creates[i], join))
			return;
	if (found == NULL)
		return;
	RD_GROW(t->joins, t->join_capacity, t->join_count + 1);
	t->joins[t->join_count++] =
		(struct join){join->value, join->function, threads_at(t, found->value), all, header};
}

static bool name_of(const struct program *p, uint32_t value, uint32_t operand, struct handle_place *out)
{
	*out = (struct handle_place){.value = value, .function = facts_function_at(p->f, value)};
	if (operand == FACTS_NONE)
		return false;
	out->path = path_of(p->f, operand);
	out->set = facts_operand_set(p->f, operand);
	return out->path.kind != PATH_NONE;
}

void joins_find(struct threads *t)
{
	struct program *p = t->p;
	const struct facts *f = p->f;
	struct join_search s = {.t = t};
	struct handle_place name;
	for (uint32_t v = 0; v < f->value_count; v++) {
		const struct facts_function *called = program_library(p, v);
		if (called != NULL && called->role == FACTS_ROLE_THREAD_CREATE &&
		    name_of(p, v, program_argument(f, v, called->subject), &name)) {
			RD_GROW(s.creates, s.capacity, s.count + 1);
			s.creates[s.count++] = name;
		}
	}
	for (uint32_t v = 0; v < f->value_count && s.count != 0; v++) {
		const struct facts_function *called = program_library(p, v);
		if (called == NULL || called->role != FACTS_ROLE_THREAD_JOIN)
			continue;
		uint32_t joined = program_argument(f, v, called->subject);
		if (joined != FACTS_NONE && !(joined & FACTS_CONSTANT) &&
		    f->values[joined].kind == FACTS_LOAD &&
		    name_of(p, v, f->operands[f->values[joined].operands].operand, &name))
			match(&s, &name);
	}
	free(s.creates);
}
