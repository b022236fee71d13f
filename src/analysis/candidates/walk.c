/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the contexts of functions and the instances of accesses (candidates/walk-int.h). */
#include "candidates/walk-int.h"

#include "base/alloc.h"
#include "base/compare.h"
#include "base/error.h"
#include "facts/role.h"

#include <stdlib.h>
#include <string.h>

enum {
	/* The largest number of contexts of one function in one thread.  Further ones are merged.
	 * Set by hand. */
	CONTEXTS_MAX = 12,
	ARGUMENTS_MAX = 32, /* number of arguments in a mask; nothing is known about further ones */
	/* The largest number of walks over the program.  Each walk may disprove assumptions of the
	 * previous one, so that another walk is needed.  Set by hand, to limit the time. */
	ROUNDS_MAX = 8,
};

/* A function in a thread, and what is known when it is entered.  `fresh`, `own` and `own_number`
 * are masks with a bit for each argument.  A bit in `fresh` means that no other thread can have the
 * address of the argument's memory yet.  A bit in `own` means that the memory belongs to the
 * thread.  A bit in `own_number` means that the argument is a number that differs from thread to
 * thread. */
struct context {
	uint32_t function, thread;
	uint64_t alive;
	uint32_t held;
	uint32_t fresh, own, own_number;
	struct bound bound;
	/* 1 + the index of the next context of the same function and thread, or 0 if there is
	 * none. */
	uint32_t next;
	bool merged; /* this context represents all further contexts of the function and thread */
	bool waiting;
};

/* A context while its function is analysed. */
struct visit {
	struct access_walk *w;
	const struct context *c;
	uint32_t arguments; /* the value of the first argument */
};

static uint64_t bit(uint32_t thread)
{
	RD_ASSERT(thread < THREADS_MAX);
	return UINT64_C(1) << thread;
}

/* ------------------------------------------------------------------ contexts --- */

static bool is_same(const struct context *a, const struct context *b)
{
	return a->alive == b->alive && a->held == b->held && a->fresh == b->fresh && a->own == b->own &&
	       a->own_number == b->own_number && memcmp(&a->bound, &b->bound, sizeof a->bound) == 0;
}

static void enqueue(struct access_walk *w, uint32_t context)
{
	if (w->contexts[context].waiting)
		return;
	w->contexts[context].waiting = true;
	RD_GROW(w->work, w->work_capacity, w->work_count + 1);
	w->work[w->work_count++] = context;
}

/* Reduces `to` to what is true in both contexts. */
static bool widen(struct access_walk *w, struct context *to, const struct context *from)
{
	struct context old = *to;
	to->alive |= from->alive;
	to->held = lockset_meet(w->locks, to->held, from->held);
	to->fresh &= from->fresh;
	to->own &= from->own;
	to->own_number &= from->own_number;
	for (int i = 0; i < FLOW_BOUND; i++)
		if (to->bound.functions[i] != from->bound.functions[i])
			to->bound.functions[i] = FACTS_NONE;
	return !is_same(&old, to);
}

static void enter(struct access_walk *w, const struct context *wanted)
{
	RD_ASSERT(wanted->thread < w->threads->count);
	uint64_t *list = rd_pmap_put(&w->context_lists, wanted->function, wanted->thread, NULL);
	size_t count = 0;
	for (uint64_t i = *list; i != 0; i = w->contexts[i - 1].next, count++) {
		struct context *c = &w->contexts[i - 1];
		if (!c->merged && is_same(c, wanted))
			return;
		if (c->merged) {
			if (widen(w, c, wanted))
				enqueue(w, (uint32_t)i - 1);
			return;
		}
	}
	RD_GROW(w->contexts, w->context_capacity, w->context_count + 1);
	struct context *c = &w->contexts[w->context_count++];
	*c = *wanted;
	c->next = (uint32_t)*list;
	c->merged = count == CONTEXTS_MAX;
	c->waiting = false;
	*list = w->context_count;
	enqueue(w, (uint32_t)w->context_count - 1);
}

/* ----------------------------------------------------------------- arguments --- */

static uint32_t argument_bit(const struct visit *v, uint32_t value)
{
	uint32_t n = value - v->arguments;
	return value >= v->arguments && n < v->w->p->f->functions[v->c->function].arguments &&
			       n < ARGUMENTS_MAX
		       ? UINT32_C(1) << n
		       : 0;
}

/* Returns true if no other thread can have the address of the memory at this path yet. */
static bool is_unknown(const struct visit *v, const struct path *path, uint32_t at)
{
	if (path->kind != PATH_VALUE || path->loads != 0)
		return false;
	bool fresh = argument_bit(v, path->root) != 0 ? (argument_bit(v, path->root) & v->c->fresh) != 0
						      : fresh_is_made(v->w->p, path->root);
	return fresh && !fresh_is_known(v->w->fresh, path->root, at);
}

/* Sets what a callee may assume about its arguments. */
static void pass_arguments(const struct visit *v, uint32_t call, struct context *to)
{
	const struct facts *f = v->w->p->f;
	const struct thread_kind *t = &v->w->threads->items[v->c->thread];
	uint32_t count = f->functions[to->function].arguments;
	to->fresh = to->own = to->own_number = 0;
	for (uint32_t i = 0; i < count && i < ARGUMENTS_MAX; i++) {
		uint32_t actual = program_argument(f, call, i);
		if (actual == FACTS_NONE)
			break;
		if (actual & FACTS_CONSTANT)
			continue;
		struct path path = path_of(f, actual);
		uint32_t plain = program_strip(f, actual), mask = UINT32_C(1) << i;
		if (is_unknown(v, &path, call))
			to->fresh |= mask;
		if (path.kind == PATH_VALUE && path.loads == 0 && argument_bit(v, path.root) & v->c->own &&
		    path.index == FACTS_NONE && (path.offsets[0] == 0 || t->own_size == INT64_MAX))
			to->own |= mask;
		if (argument_bit(v, plain) & v->c->own_number)
			to->own_number |= mask;
	}
}

/* ----------------------------------------------------------------- accesses --- */

static bool is_own(const struct visit *v, const struct path *path, int64_t size)
{
	const struct thread_kind *t = &v->w->threads->items[v->c->thread];
	if (path->index != FACTS_NONE && !(path->index & FACTS_CONSTANT) &&
	    argument_bit(v, path->index) & v->c->own_number && path->index_at == path->loads)
		return size != 0 && size <= path->stride;
	if (path->kind != PATH_VALUE || path->loads != 0 || !(argument_bit(v, path->root) & v->c->own))
		return false;
	if (t->own_size == INT64_MAX)
		return true;
	return path->index == FACTS_NONE && size != 0 && path->offsets[0] >= 0 &&
	       path->offsets[0] + size <= t->own_size;
}

/* Returns true if the accessed memory belongs to a thread of this kind, and the access comes before
 * that thread starts. */
static bool is_before_start(const struct program *p, const struct thread_kind *t, const struct path *path,
			    uint32_t value)
{
	uint32_t function = facts_function_at(p->f, value);
	if (!t->own_pointer || facts_function_at(p->f, t->create) != function)
		return false;
	struct path argument = path_of(p->f, t->argument), rest;
	return path_rebase(path, &argument, PATH_VALUE, 0, &rest) && rest.loads == 0 &&
	       !program_reaches(p, function, t->create, value, t->own_since);
}

/* Returns true if the accessed memory belonged to a thread that a loop has just joined, as in
 * `join(ts[i]->name); free(ts[i])`. */
static bool is_after_join(const struct program *p, const struct threads *ts, uint32_t thread,
			  const struct path *path, uint32_t value)
{
	const struct thread_kind *t = &ts->items[thread];
	uint32_t function = facts_function_at(p->f, value);
	for (size_t i = 0; i < ts->join_count; i++) {
		const struct join *j = &ts->joins[i];
		if (!j->all || j->function != function || !(j->threads & bit(thread)) || !t->own_pointer)
			continue;
		uint32_t name = program_argument(p->f, t->create, 0),
			 read = program_argument(p->f, j->value, 0);
		struct path made = path_of(p->f, name), argument = path_of(p->f, t->argument), rest,
			    joined = path_of(p->f, p->f->operands[p->f->values[read].operands].operand);
		/* The handle lies in the memory that belongs to the thread. */
		if (!path_rebase(&made, &argument, PATH_VALUE, 0, &rest) || rest.loads != 0 ||
		    joined.loads == 0)
			continue;
		joined.offsets[joined.loads] -= rest.offsets[0];
		bool later = p->block_of[value] == p->block_of[j->value]
				     ? value > j->value
				     : facts_graph_dominates(&p->functions[function].graph,
							     p->block_of[j->value], p->block_of[value]);
		if (later && path_rebase(path, &joined, PATH_VALUE, 0, &rest) && rest.loads == 0 &&
		    program_loop(p, function, p->block_of[value]) ==
			    program_loop(p, function, p->block_of[j->value]))
			return true;
	}
	return false;
}

static uint64_t apart_from(const struct access_walk *w, const struct path *path, uint32_t value)
{
	uint64_t apart = 0;
	for (uint32_t i = 1; i < w->threads->count; i++)
		if (is_before_start(w->p, &w->threads->items[i], path, value) ||
		    is_after_join(w->p, w->threads, i, path, value))
			apart |= bit(i);
	return apart;
}

static bool may_be_shared(const struct program *p, uint32_t set)
{
	struct facts_run run = facts_members_of(p->f, set);
	for (uint32_t i = run.first; i < run.end; i++) {
		uint32_t object = p->f->places[p->f->members[i].place].object;
		if (p->shared_object[object] && !(p->f->objects[object].flags & FACTS_OBJECT_CONSTANT) &&
		    p->f->objects[object].kind != FACTS_OBJECT_FUNCTION)
			return true;
	}
	return false;
}

static void note_access(const struct visit *v, uint32_t number, const struct flow_state *s)
{
	struct access_walk *w = v->w;
	const struct access *a = &w->p->accesses[number];
	struct path path = path_of(w->p->f, a->operand);
	bool is_new;
	if (!may_be_shared(w->p, a->set) || is_unknown(v, &path, a->value))
		return;
	struct instance it = {
		.access = number,
		.thread = v->c->thread,
		.alive = s->alive,
		.apart = apart_from(w, &path, a->value),
		.guards = guards_of(w->locks, s->held, &path),
		.held = s->held,
		.own = is_own(v, &path, a->size),
		.direct = path.kind == PATH_VALUE && path.loads == 0 &&
			  w->p->f->values[path.root].kind == FACTS_VARIABLE,
	};
	uint32_t key[] = {number,
			  it.thread,
			  (uint32_t)it.alive,
			  (uint32_t)(it.alive >> 32),
			  (uint32_t)it.apart,
			  (uint32_t)(it.apart >> 32),
			  it.guards,
			  it.own};
	size_t n = sizeof key / sizeof *key;
	rd_tuples_put(&w->seen, key, n, rd_tuple_hash(key, n), &is_new);
	if (!is_new)
		return;
	RD_GROW(w->instances, w->capacity, w->count + 1);
	w->instances[w->count++] = it;
}

static void note_accesses(const struct visit *v, uint32_t value, const struct flow_state *s)
{
	const struct program *p = v->w->p;
	uint32_t first = p->accesses_of[v->c->function], end = p->accesses_of[v->c->function + 1];
	/* There is no race if there is only one thread. */
	if (!v->w->threads->threaded && !v->w->threads->items[0].many)
		return;
	if (s->alive == 0 && !v->w->threads->items[v->c->thread].many)
		return;
	RD_BISECT(first, end, i, p->accesses[i].value < value);
	for (; first < end && p->accesses[first].value == value; first++)
		note_access(v, first, s);
}

/* -------------------------------------------------------------------- calls --- */

static void start_thread(const struct visit *v, uint32_t thread, const struct flow_state *s)
{
	struct thread_kind *t = &v->w->threads->items[thread];
	if (s->alive & bit(thread) && !t->many) {
		t->many = true;
		v->w->changed = true;
	}
	struct context c = {
		.function = t->function,
		.thread = thread,
		.alive = s->alive | bit(v->c->thread) | (t->many ? bit(thread) : 0),
		.own = t->own_pointer ? 1 : 0,
		.own_number = t->own_number ? 1 : 0,
		.bound = flow_unbound,
	};
	enter(v->w, &c);
}

static void start_threads(const struct visit *v, uint32_t value, const struct flow_state *s)
{
	struct access_walk *w = v->w;
	uint64_t started = flow_started(&w->flow, value, &v->c->bound);
	for (uint32_t i = 1; i < w->threads->count && started != 0; i++)
		if (started & bit(i) &&
		    (w->threads->items[i].create == value || (w->threads->overflow && i == THREADS_MAX - 1)))
			start_thread(v, i, s);
}

static void call_function(const struct visit *v, uint32_t value, uint32_t callee, const struct flow_state *s)
{
	struct context c = {.function = callee, .thread = v->c->thread, .alive = s->alive};
	uint32_t held = s->held;
	const struct facts_function *called = program_library(v->w->p, value);
	if (called != NULL && called->role == FACTS_ROLE_ONCE &&
	    program_argument(v->w->p->f, value, 0) != FACTS_NONE)
		held = lockset_add(v->w->locks, held,
				   lock_at(v->w->locks, program_argument(v->w->p->f, value, 0), false));
	c.held = lockset_enter(v->w->locks, held, value, callee);
	c.bound = flow_bind(&v->w->flow, value, callee, &v->c->bound);
	if (called == NULL)
		pass_arguments(v, value, &c);
	enter(v->w, &c);
}

/* Checks that a semaphore is used like a lock.  If a thread posts the semaphore without having
 * waited for it, the semaphore is not treated as a lock. */
static void check_semaphore(const struct visit *v, uint32_t value, const struct flow_state *s)
{
	size_t number;
	uint32_t lock = flow_semaphore(&v->w->flow, value, &number);
	if (lock == FACTS_NONE || lockset_has(v->w->locks, s->held, lock))
		return;
	v->w->flow.semaphores[number].banned = true;
	v->w->changed = true;
}

static void note_call(const struct visit *v, uint32_t value, const struct flow_state *s)
{
	const struct facts *f = v->w->p->f;
	const struct facts_function *called = program_library(v->w->p, value);
	struct facts_run calls = facts_calls_of(f, value);
	if (called != NULL && called->role == FACTS_ROLE_SEM_POST)
		check_semaphore(v, value, s);
	start_threads(v, value, s);
	for (uint32_t i = calls.first; i < calls.end; i++)
		if (f->calls[i].kind != FACTS_EDGE_START &&
		    !(f->functions[f->calls[i].function].flags & FACTS_FUNCTION_EXTERNAL) &&
		    thread_number(v->w->threads, value, f->calls[i].function) == FACTS_NONE)
			call_function(v, value, f->calls[i].function, s);
}

static void note(void *data, uint32_t value, const struct flow_state *s)
{
	const struct visit *v = data;
	note_accesses(v, value, s);
	if (v->w->p->f->values[value].kind == FACTS_CALL)
		note_call(v, value, s);
}

/* ------------------------------------------------------------------- rounds --- */

static void walk_context(struct access_walk *w, uint32_t number)
{
	RD_ASSERT(number < w->context_count);
	struct context c = w->contexts[number];
	struct visit v = {w, &c, w->p->f->functions[c.function].values};
	struct flow_state entry = {.reached = true, .alive = c.alive, .nothing = FACTS_NONE, .held = c.held};
	w->contexts[number].waiting = false;
	flow_run(&w->flow, c.function, &entry, &c.bound, note, &v);
}

static void forget(struct access_walk *w)
{
	rd_tuples_clear(&w->seen);
	rd_pmap_release(&w->context_lists);
	w->context_lists = (struct rd_pmap){0};
	w->count = w->context_count = w->work_count = 0;
}

/* Returns a mask of the threads that may already exist when a root function runs.  A constructor
 * runs before main(), but an exported function of a library may run at any time and in any
 * thread. */
static uint64_t started_before(const struct access_walk *w)
{
	const struct facts *f = w->p->f;
	uint64_t alive = w->threads->items[0].many ? bit(0) : 0;
	for (uint32_t i = 0; i < f->function_count; i++)
		if (f->functions[i].flags & FACTS_FUNCTION_ROOT && i != w->threads->items[0].function)
			alive |= w->flow.effects[i].alive;
	return alive;
}

static void walk_round(struct access_walk *w)
{
	const struct facts *f = w->p->f;
	forget(w);
	w->changed = false;
	flow_effects(&w->flow);
	uint64_t before = started_before(w);
	for (uint32_t i = 0; i < f->function_count; i++)
		if (f->functions[i].flags & FACTS_FUNCTION_ROOT && w->p->functions[i].has_graph) {
			struct context c = {.function = i, .alive = before, .bound = flow_unbound};
			enter(w, &c);
		}
	while (w->work_count != 0)
		walk_context(w, w->work[--w->work_count]);
}

/* After the last round, drops all assumptions that were not confirmed. */
static void distrust_unconfirmed(struct access_walk *w)
{
	for (uint32_t i = 1; i < w->threads->count; i++)
		w->threads->items[i].many = true;
	for (size_t i = 0; i < w->flow.semaphore_count; i++)
		w->flow.semaphores[i].banned = true;
}

void walk_program(struct access_walk *w, struct program *p, struct threads *threads, struct locks *locks)
{
	*w = (struct access_walk){.p = p, .threads = threads, .locks = locks, .changed = true};
	w->fresh = fresh_new(p);
	flow_init(&w->flow, p, threads, locks);
	for (int round = 0; w->changed && round < ROUNDS_MAX; round++)
		walk_round(w);
	if (w->changed) {
		distrust_unconfirmed(w);
		walk_round(w);
	}
	p->out->contexts = (uint32_t)w->context_count;
}

void walk_release(struct access_walk *w)
{
	flow_release(&w->flow);
	fresh_free(w->fresh);
	rd_tuples_release(&w->seen);
	rd_pmap_release(&w->context_lists);
	RD_FREE(w->instances, w->contexts, w->work);
}
