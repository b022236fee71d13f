/* SPDX-License-Identifier: Apache-2.0 */
/* Computes the states at instructions and the effects of functions (candidates/flow-int.h). */
#include "candidates/flow-int.h"

#include "base/alloc.h"
#include "base/error.h"
#include "facts/role.h"

#include <stdlib.h>
#include <string.h>

/* The number of passes over all functions.  Set by hand, to limit the time if many functions are
 * recursive. */
enum { ROUNDS_MAX = 6 };

/* An entry of struct bound with this value means that the argument is a parameter of the function
 * that makes the call.  Only the callers of that function know which function is passed. */
#define FROM_CALLER (FACTS_NONE - 1)
static const struct bound from_caller = {{FROM_CALLER, FROM_CALLER, FROM_CALLER, FROM_CALLER}};

const struct bound flow_unbound = {{FACTS_NONE, FACTS_NONE, FACTS_NONE, FACTS_NONE}};

/* ------------------------------------------------------------------ threads --- */

static uint64_t bit(uint32_t thread)
{
	RD_ASSERT(thread < THREADS_MAX);
	return UINT64_C(1) << thread;
}

/* Returns the index of the function parameter that an operand refers to.  Returns FACTS_NONE if
 * the operand is not one of the first FLOW_BOUND parameters. */
static uint32_t position_of(const struct facts *f, uint32_t operand)
{
	if (operand == FACTS_NONE || operand & FACTS_CONSTANT || f->values[operand].kind != FACTS_ARGUMENT)
		return FACTS_NONE;
	uint32_t n = operand - f->functions[facts_function_at(f, operand)].values;
	return n < FLOW_BOUND ? n : FACTS_NONE;
}

static uint64_t with_what_it_starts(const struct flow *w, uint32_t thread)
{
	return bit(thread) | w->effects[w->threads->items[thread].function].started;
}

static uint64_t started_as(const struct flow *w, uint32_t create, uint32_t function)
{
	uint32_t thread = thread_number(w->threads, create, function);
	return thread != FACTS_NONE ? with_what_it_starts(w, thread) : 0;
}

uint64_t flow_started(const struct flow *w, uint32_t create, const struct bound *bound)
{
	const struct facts *f = w->p->f;
	uint32_t position = position_of(f, thread_routine(w->p, create));
	if (position != FACTS_NONE && bound->functions[position] != FACTS_NONE)
		return started_as(w, create, bound->functions[position]);
	uint64_t threads = 0;
	struct facts_run calls = facts_calls_of(f, create);
	for (uint32_t i = calls.first; i < calls.end; i++)
		threads |= started_as(w, create, f->calls[i].function);
	return threads;
}

struct bound flow_bind(const struct flow *w, uint32_t call, uint32_t callee, const struct bound *bound)
{
	const struct facts *f = w->p->f;
	struct bound b = flow_unbound;
	for (size_t i = 0; i < w->effects[callee].starter_count; i++) {
		uint32_t n = w->effects[callee].starters[i].parameter, actual = program_argument(f, call, n);
		uint32_t position = position_of(f, actual);
		b.functions[n] = position != FACTS_NONE ? bound->functions[position]
							: program_constant_function(f, actual);
	}
	return b;
}

/* Returns a mask of the threads that the called function starts with a routine from its
 * arguments. */
static uint64_t started_through(const struct flow *w, uint32_t callee, const struct bound *b)
{
	const struct flow_effect *e = &w->effects[callee];
	uint64_t threads = 0;
	for (size_t i = 0; i < e->starter_count; i++)
		if (b->functions[e->starters[i].parameter] != FACTS_NONE)
			threads |=
				started_as(w, e->starters[i].create, b->functions[e->starters[i].parameter]);
		else
			threads |= flow_started(w, e->starters[i].create, &flow_unbound);
	return threads;
}

static bool add_starter(struct flow_effect *e, uint32_t parameter, uint32_t create)
{
	for (size_t i = 0; i < e->starter_count; i++)
		if (e->starters[i].parameter == parameter && e->starters[i].create == create)
			return false;
	RD_GROW(e->starters, e->starter_capacity, e->starter_count + 1);
	e->starters[e->starter_count++] = (struct starter){parameter, create};
	return true;
}

/* Finds functions that use an argument as the routine of a thread. */
static void find_starters(struct flow *w)
{
	const struct facts *f = w->p->f;
	for (size_t i = 1; i < w->threads->count; i++) {
		uint32_t create = w->threads->items[i].create,
			 n = position_of(f, thread_routine(w->p, create));
		if (n != FACTS_NONE)
			add_starter(&w->effects[facts_function_at(f, create)], n, create);
	}
	for (bool changed = true; changed;) {
		changed = false;
		for (size_t i = 0; i < w->p->edge_count; i++) {
			const struct call_edge *e = &w->p->edges[i];
			const struct flow_effect *callee = &w->effects[e->callee];
			for (size_t k = 0; k < callee->starter_count && e->kind == FACTS_EDGE_CALL; k++) {
				struct starter s = callee->starters[k];
				uint32_t n = position_of(f, program_argument(f, e->value, s.parameter));
				if (n != FACTS_NONE)
					changed |= add_starter(&w->effects[e->caller], n, s.create);
			}
		}
	}
}

/* --------------------------------------------------------------- semaphores --- */

static void find_semaphores(struct flow *w)
{
	const struct facts *f = w->p->f;
	for (uint32_t v = 0; v < f->value_count; v++) {
		const struct facts_function *called = program_library(w->p, v);
		if (called == NULL || strcmp(facts_string(f, called->linkage), "sem_init") != 0)
			continue;
		uint32_t value = program_argument(f, v, 2);
		bool one = value != FACTS_NONE && value & FACTS_CONSTANT &&
			   f->constants[value & ~FACTS_CONSTANT].kind == FACTS_CONSTANT_INTEGER &&
			   f->constants[value & ~FACTS_CONSTANT].number == 1;
		uint32_t lock = lock_at(w->locks, program_argument(f, v, 0), false);
		RD_GROW(w->semaphores, w->semaphore_capacity, w->semaphore_count + 1);
		w->semaphores[w->semaphore_count++] =
			(struct semaphore){lock, !one || w->locks->items[lock].path.kind != PATH_OBJECT};
	}
}

uint32_t flow_semaphore(const struct flow *w, uint32_t call, size_t *number)
{
	const struct facts_function *called = program_library(w->p, call);
	uint32_t operand = program_argument(w->p->f, call, called->subject);
	uint32_t lock = operand != FACTS_NONE ? lock_at(w->locks, operand, false) : FACTS_NONE,
		 found = FACTS_NONE;
	for (size_t i = 0; i < w->semaphore_count && lock != FACTS_NONE; i++)
		if (path_equal(&w->locks->items[w->semaphores[i].lock].path, &w->locks->items[lock].path)) {
			if (w->semaphores[i].banned)
				return FACTS_NONE;
			*number = i;
			found = lock;
		}
	return found;
}

/* -------------------------------------------------------------------- calls --- */

static void acquire(struct flow *w, struct flow_state *s, uint32_t lock)
{
	s->held = lockset_add(w->locks, s->held, lock);
}

static void release(struct flow *w, struct flow_state *s, uint32_t lock)
{
	if (!lockset_has(w->locks, s->held, lock))
		s->released = lockset_add(w->locks, s->released, lock);
	s->held = lockset_remove(w->locks, s->held, lock);
}

static void join(const struct flow *w, struct flow_state *s, uint64_t threads)
{
	for (uint32_t i = 1; i < w->threads->count; i++) {
		if (!(threads & bit(i)))
			continue;
		const struct flow_effect *e = &w->effects[w->threads->items[i].function];
		uint64_t gone = bit(i) | (e->started & ~e->alive);
		s->alive &= ~gone;
		s->ended |= gone;
	}
}

/* Handles a join of one thread.  Marks the joined thread as ended, unless the thread object may
 * stand for several threads. */
static void join_one(const struct flow *w, struct flow_state *s, uint32_t value)
{
	const struct join *j = thread_join(w->threads, value);
	for (uint32_t i = 1; j != NULL && i < w->threads->count; i++)
		if (j->threads & bit(i) && !w->threads->items[i].many)
			join(w, s, bit(i));
}

static void call_library(struct flow *w, struct flow_state *s, uint32_t value,
			 const struct facts_function *called)
{
	uint32_t subject = program_argument(w->p->f, value, called->subject), lock;
	size_t number;
	switch (called->role) {
	case FACTS_ROLE_LOCK:
	case FACTS_ROLE_READ_LOCK:
		if (subject != FACTS_NONE)
			acquire(w, s, lock_at(w->locks, subject, called->role == FACTS_ROLE_READ_LOCK));
		break;
	case FACTS_ROLE_UNLOCK:
		if (subject != FACTS_NONE)
			release(w, s, lock_at(w->locks, subject, false));
		break;
	case FACTS_ROLE_SEM_WAIT:
		lock = flow_semaphore(w, value, &number);
		if (lock != FACTS_NONE)
			acquire(w, s, lock);
		break;
	case FACTS_ROLE_SEM_POST:
		lock = flow_semaphore(w, value, &number);
		if (lock != FACTS_NONE)
			release(w, s, lock);
		break;
	case FACTS_ROLE_THREAD_JOIN: join_one(w, s, value); break;
	default: break;
	}
}

/* Applies the effect of a called function to the state. */
static void apply_effect(struct flow *w, struct flow_state *s, uint32_t call, uint32_t callee,
			 const struct bound *bound)
{
	const struct flow_effect *e = &w->effects[callee];
	struct bound b = flow_bind(w, call, callee, bound);
	uint32_t list[LOCKS_MAX], lock;
	size_t count = lockset_copy(w->locks, e->released, list);
	for (size_t i = 0; i < count; i++) {
		lock_leave(w->locks, list[i], call, callee, &lock);
		release(w, s, lock);
	}
	count = lockset_copy(w->locks, e->held, list);
	for (size_t i = 0; i < count; i++)
		if (lock_leave(w->locks, list[i], call, callee, &lock))
			acquire(w, s, lock);
	s->alive = (s->alive & ~e->ended) | e->alive | started_through(w, callee, &b);
	s->ended = (s->ended | e->ended) & ~s->alive;
}

static bool leads_to(const struct facts *f, uint32_t pointer, const struct path *path)
{
	if (path->kind == PATH_VALUE)
		return path->root == pointer;
	struct facts_run run = facts_members_of(f, f->values[pointer].set);
	return path->kind == PATH_OBJECT && run.end - run.first == 1 &&
	       f->places[f->members[run.first].place].object == path->root;
}

/* Returns the locks of `set` that are reached through `pointer`. */
static uint32_t reached_through(struct flow *w, uint32_t set, uint32_t pointer)
{
	uint32_t list[LOCKS_MAX], result = 0;
	size_t count = pointer != FACTS_NONE ? lockset_copy(w->locks, set, list) : 0;
	for (size_t i = 0; i < count; i++) {
		if (leads_to(w->p->f, pointer, &w->locks->items[list[i]].path))
			result = lockset_add(w->locks, result, list[i]);
	}
	return result;
}

/* Merges the states of two paths, so that *to keeps what is true on both.  After `if (m) lock(m)`,
 * the lock counts as held, because no other thread can hold the lock if m is NULL. */
static void meet(struct flow *w, struct flow_state *to, const struct flow_state *s)
{
	if (!to->reached) {
		*to = *s;
		to->reached = true;
		return;
	}
	uint32_t kept = lockset_unite(w->locks, reached_through(w, to->held, s->nothing),
				      reached_through(w, s->held, to->nothing));
	to->alive |= s->alive;
	to->ended &= s->ended;
	to->held = lockset_unite(w->locks, lockset_meet(w->locks, to->held, s->held), kept);
	to->released = lockset_unite(w->locks, to->released, s->released);
	if (to->nothing != s->nothing)
		to->nothing = FACTS_NONE;
}

/* Returns true if an edge of the call graph leads to a function of the program, and that function
 * runs before the call returns. */
static bool is_callee(const struct flow *w, const struct facts_call *edge)
{
	return edge->kind != FACTS_EDGE_START &&
	       !(w->p->f->functions[edge->function].flags & FACTS_FUNCTION_EXTERNAL) &&
	       thread_number(w->threads, edge->value, edge->function) == FACTS_NONE;
}

/* Lists the functions that a call may call, up to FLOW_CALLEES of them. */
static size_t callees_of(const struct flow *w, uint32_t call, uint32_t *callees)
{
	const struct facts *f = w->p->f;
	struct facts_run calls = facts_calls_of(f, call);
	size_t count = 0;
	bool effective = false;
	for (uint32_t i = calls.first; i < calls.end && count < FLOW_CALLEES; i++) {
		uint32_t callee = f->calls[i].function;
		if (!is_callee(w, &f->calls[i]))
			continue;
		callees[count++] = callee;
		effective |= w->effects[callee].held != 0 || w->effects[callee].released != 0;
	}
	/* Removes stubs that replace lock functions, because such stubs are assumed not to be
	 * called. */
	size_t to = 0;
	for (size_t i = 0; i < count; i++)
		if (!effective || !w->effects[callees[i]].stub)
			callees[to++] = callees[i];
	return to;
}

/* Counts the calls that may call more functions than callees_of() has room for. */
static void find_cut_calls(struct flow *w)
{
	const struct facts *f = w->p->f;
	for (size_t i = 0, end; i < f->call_count; i = end) {
		uint32_t call = f->calls[i].value;
		size_t count = 0;
		for (end = i; end < f->call_count && f->calls[end].value == call; end++)
			count += is_callee(w, &f->calls[end]);
		if (count > FLOW_CALLEES && w->p->functions[facts_function_at(f, call)].reached &&
		    w->cut_calls++ == 0)
			w->cut_call = call;
	}
}

/* Returns true if the call may return before the functions that it was given have run, because it
 * only registers them or passes them to a library. */
static bool is_optional(const struct flow *w, uint32_t call)
{
	struct facts_run calls = facts_calls_of(w->p->f, call);
	for (uint32_t i = calls.first; i < calls.end; i++)
		if (w->p->f->calls[i].kind == FACTS_EDGE_LATER ||
		    w->p->f->calls[i].kind == FACTS_EDGE_CALLBACK)
			return true;
	return false;
}

static void transfer(struct flow *w, struct flow_state *s, uint32_t value, const struct bound *bound)
{
	const struct facts *f = w->p->f;
	if (f->values[value].kind != FACTS_CALL)
		return;
	const struct facts_function *called = program_library(w->p, value);
	if (called != NULL && called->role != FACTS_ROLE_NONE)
		call_library(w, s, value, called);
	uint32_t callees[FLOW_CALLEES];
	size_t count = callees_of(w, value, callees);
	s->alive |= flow_started(w, value, bound);
	s->ended &= ~s->alive;
	if (count == 0)
		return;
	struct flow_state before = *s, after = {0};
	if (is_optional(w, value))
		meet(w, &after, &before);
	for (size_t i = 0; i < count; i++) {
		struct flow_state one = before;
		apply_effect(w, &one, value, callees[i], bound);
		meet(w, &after, &one);
	}
	*s = after;
}

/* --------------------------------------------------------------------- flow --- */

static bool is_zero(const struct facts_constant *c)
{
	return c->kind == FACTS_CONSTANT_NULL || (c->kind == FACTS_CONSTANT_INTEGER && c->number == 0);
}

/* Returns the value that the branch at the end of a block compares with 0.  Stores the successor
 * for the value 0 in *zero. */
static uint32_t tested_for_zero(const struct facts *f, uint32_t end, uint32_t *zero)
{
	if (f->values[end].kind != FACTS_BRANCH)
		return FACTS_NONE;
	uint32_t condition = f->operands[f->values[end].operands].operand;
	if (condition & FACTS_CONSTANT || f->values[condition].kind != FACTS_COMPARE)
		return FACTS_NONE;
	uint32_t predicate = f->values[condition].detail,
		 value = f->operands[f->values[condition].operands].operand,
		 against = f->operands[f->values[condition].operands + 1].operand;
	if ((predicate != IS_EQUAL && predicate != IS_NOT_EQUAL) || value & FACTS_CONSTANT ||
	    !(against & FACTS_CONSTANT) || !is_zero(&f->constants[against & ~FACTS_CONSTANT]))
		return FACTS_NONE;
	*zero = predicate == IS_EQUAL ? 0 : 1;
	return value;
}

/* Returns the lock that a trylock call tries to acquire. */
static uint32_t tried_lock(struct flow *w, uint32_t call)
{
	const struct facts_function *called = call != FACTS_NONE ? program_library(w->p, call) : NULL;
	if (called == NULL ||
	    (called->role != FACTS_ROLE_TRY_LOCK && called->role != FACTS_ROLE_TRY_READ_LOCK))
		return FACTS_NONE;
	uint32_t subject = program_argument(w->p->f, call, called->subject);
	return subject != FACTS_NONE ? lock_at(w->locks, subject, called->role == FACTS_ROLE_TRY_READ_LOCK)
				     : FACTS_NONE;
}

static bool is_same_state(const struct flow_state *a, const struct flow_state *b)
{
	return a->reached == b->reached && a->alive == b->alive && a->ended == b->ended &&
	       a->nothing == b->nothing && a->held == b->held && a->released == b->released;
}

struct flow_run_state {
	struct flow *w;
	uint32_t function;
	const struct function_info *info;
	const struct bound *bound;
	struct flow_state *in;
	bool *waiting;
};

static struct flow_state through_block(const struct flow_run_state *r, uint32_t block, flow_fn *fn,
				       void *data)
{
	struct facts_run values = facts_block_values(r->w->p->f, r->function, r->info->first_block + block);
	struct flow_state s = r->in[block];
	for (uint32_t v = values.first; v < values.end; v++) {
		if (fn != NULL)
			fn(data, v, &s);
		transfer(r->w, &s, v, r->bound);
	}
	return s;
}

/* Handles an edge that leaves a loop.  If the loop joins threads, all of them have ended. */
static void leave_loop(const struct flow_run_state *r, uint32_t from, uint32_t to, struct flow_state *s)
{
	uint64_t joined = thread_joined_by(r->w->threads, r->function, from);
	if (joined == 0)
		return;
	const struct facts_loops *l = &r->info->loops;
	for (size_t i = 0; i < l->count; i++)
		if (l->items[i].header == from && !facts_loop_has(&l->items[i], to))
			join(r->w, s, joined);
}

static void propagate(struct flow_run_state *r, uint32_t block, const struct flow_state *out)
{
	const struct facts_graph *g = &r->info->graph;
	struct facts_run values = facts_block_values(r->w->p->f, r->function, r->info->first_block + block);
	uint32_t zero = 0, value = tested_for_zero(r->w->p->f, values.end - 1, &zero);
	uint32_t lock = tried_lock(r->w, value);
	for (uint32_t s = g->succ_start[block]; s < g->succ_start[block + 1]; s++) {
		struct flow_state next = *out, merged = r->in[g->succ[s]];
		bool is_null = value != FACTS_NONE && s - g->succ_start[block] == zero;
		if (is_null && lock != FACTS_NONE)
			acquire(r->w, &next, lock);
		if (is_null && r->w->p->f->values[value].flags & FACTS_VALUE_POINTER)
			next.nothing = value;
		leave_loop(r, block, g->succ[s], &next);
		meet(r->w, &merged, &next);
		if (is_same_state(&merged, &r->in[g->succ[s]]))
			continue;
		r->in[g->succ[s]] = merged;
		r->waiting[g->succ[s]] = true;
	}
}

static void iterate(struct flow_run_state *r)
{
	const struct facts_graph *g = &r->info->graph;
	for (bool changed = true; changed;) {
		changed = false;
		for (uint32_t i = 0; i < g->reached; i++) {
			uint32_t block = g->order[i];
			if (!r->waiting[block])
				continue;
			r->waiting[block] = false;
			changed = true;
			struct flow_state out = through_block(r, block, NULL, NULL);
			propagate(r, block, &out);
		}
	}
}

/* Calls `fn` for all instructions.  Then returns the combined state at the exits of the
 * function. */
static struct flow_state run(struct flow *w, uint32_t function, const struct flow_state *entry,
			     const struct bound *bound, flow_fn *fn, void *data)
{
	struct flow_run_state r = {
		.w = w, .function = function, .info = &w->p->functions[function], .bound = bound};
	struct flow_state end = {0};
	const struct facts_graph *g = &r.info->graph;
	if (!r.info->has_graph)
		return *entry;
	r.in = rd_xcalloc((size_t)g->nodes + 1, sizeof *r.in);
	r.waiting = rd_xcalloc((size_t)g->nodes + 1, sizeof *r.waiting);
	r.in[0] = *entry;
	r.in[0].reached = r.waiting[0] = true;
	iterate(&r);
	for (uint32_t i = 0; i < g->reached; i++) {
		uint32_t block = g->order[i];
		struct flow_state out = through_block(&r, block, fn, data);
		if (g->succ_start[block] == g->succ_start[block + 1] &&
		    w->p->f->values[facts_block_values(w->p->f, function, r.info->first_block + block).end -
				    1]
				    .kind == FACTS_RETURN)
			meet(w, &end, &out);
	}
	RD_FREE(r.in, r.waiting);
	return end;
}

void flow_run(struct flow *w, uint32_t function, const struct flow_state *entry, const struct bound *bound,
	      flow_fn *fn, void *data)
{
	RD_ASSERT(function < w->p->f->function_count);
	run(w, function, entry, bound, fn, data);
}

/* ------------------------------------------------------------------ effects --- */

/* Returns the locks of `set` that a caller of the function can also name, because they are global
 * or are reached through its arguments. */
static uint32_t outside(struct flow *w, uint32_t function, uint32_t set)
{
	const struct facts_function *row = &w->p->f->functions[function];
	uint32_t result = 0, list[LOCKS_MAX];
	size_t count = lockset_copy(w->locks, set, list);
	for (size_t i = 0; i < count; i++) {
		const struct path *path = &w->locks->items[list[i]].path;
		if (path->kind == PATH_VALUE && path->root - row->values >= row->arguments)
			continue;
		result = lockset_add(w->locks, result, list[i]);
	}
	return result;
}

static bool is_stub(const struct program *p, uint32_t function)
{
	struct facts_run values = facts_values_of(p->f, function);
	for (uint32_t v = values.first; v < values.end; v++) {
		uint32_t kind = p->f->values[v].kind;
		const struct facts_function *called = program_library(p, v);
		bool quiet = called != NULL && called->flags & FACTS_FUNCTION_INTRINSIC;
		if (kind == FACTS_STORE || kind == FACTS_LOAD || (kind == FACTS_CALL && !quiet))
			return false;
	}
	return p->functions[function].has_graph;
}

static void note_start(void *data, uint32_t value, const struct flow_state *s)
{
	uint64_t *started = data;
	(void)value;
	*started |= s->alive;
}

static bool find_effect(struct flow *w, uint32_t function)
{
	struct flow_effect *e = &w->effects[function], old = *e;
	struct flow_state entry = {.reached = true, .nothing = FACTS_NONE};
	uint64_t started = 0;
	struct flow_state end = run(w, function, &entry, &from_caller, note_start, &started);
	e->alive = end.alive;
	e->started |= started | end.alive;
	e->ended = end.reached ? end.ended : 0;
	e->held = end.reached ? outside(w, function, end.held) : 0;
	e->released = end.reached ? end.released : 0;
	return e->alive != old.alive || e->started != old.started || e->ended != old.ended ||
	       e->held != old.held || e->released != old.released;
}

/* Returns the functions in an order in which callees come before callers, where the call graph
 * allows that. */
static uint32_t *bottom_up(const struct program *p, size_t *count)
{
	const struct facts *f = p->f;
	struct visit {
		uint32_t function, row, end;
	} *path = rd_xcalloc(f->function_count + 1, sizeof *path);
	uint32_t *order = rd_xcalloc(f->function_count + 1, sizeof *order);
	bool *seen = rd_xcalloc(f->function_count + 1, sizeof *seen);
	*count = 0;
	for (uint32_t root = 0; root < f->function_count; root++) {
		size_t depth = 0;
		uint32_t next = root;
		for (;;) {
			if (next != FACTS_NONE && !seen[next] && p->functions[next].reached) {
				struct facts_run values = facts_values_of(f, next);
				seen[next] = true;
				path[depth++] = (struct visit){next, facts_calls_of(f, values.first).first,
							       values.end};
			}
			if (depth == 0)
				break;
			struct visit *top = &path[depth - 1];
			if (top->row < f->call_count && f->calls[top->row].value < top->end) {
				next = f->calls[top->row++].function;
			} else {
				order[(*count)++] = top->function;
				depth--;
				next = FACTS_NONE;
			}
		}
	}
	RD_FREE(path, seen);
	return order;
}

void flow_effects(struct flow *w)
{
	size_t count;
	uint32_t *order = bottom_up(w->p, &count);
	bool changed = true;
	for (uint32_t i = 0; i < w->p->f->function_count; i++) {
		struct flow_effect *e = &w->effects[i];
		e->alive = e->ended = e->started = 0;
		e->held = e->released = 0;
	}
	for (int round = 0; round < ROUNDS_MAX && changed; round++) {
		changed = false;
		for (size_t i = 0; i < count; i++)
			if (w->p->functions[order[i]].has_graph)
				changed |= find_effect(w, order[i]);
	}
	w->unfinished = changed;
	free(order);
}

void flow_init(struct flow *w, struct program *p, struct threads *threads, struct locks *locks)
{
	*w = (struct flow){.p = p, .threads = threads, .locks = locks};
	w->effects = rd_xcalloc(p->f->function_count + 1, sizeof *w->effects);
	for (uint32_t i = 0; i < p->f->function_count; i++)
		w->effects[i].stub = is_stub(p, i);
	find_starters(w);
	find_semaphores(w);
	find_cut_calls(w);
}

void flow_release(struct flow *w)
{
	RD_FREE_EACH(w->effects, w->p->f->function_count, .starters);
	RD_FREE(w->effects, w->semaphores);
}
