/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the kinds of threads of a program, and how their arguments differ
 * (candidates/thread-int.h). */
#include "candidates/thread-int.h"

#include "base/alloc.h"
#include "base/error.h"
#include "candidates/fresh-int.h"
#include "candidates/join-int.h"
#include "facts/role.h"

#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------ different arguments --- */

/* Returns true if control passes through the block between any two executions of the call. */
static bool is_renewed(const struct program *p, uint32_t function, uint32_t call, uint32_t block)
{
	return !program_reaches(p, function, call, call, block);
}

/* Returns true if a loop around the call counts with this variable.  If so, *c describes how it
 * counts. */
static bool counted_by(const struct program *p, uint32_t function, uint32_t call, uint32_t variable,
		       struct counting *c)
{
	const struct facts_loop *loop = program_loop(p, function, p->block_of[call]);
	return loop != NULL && program_counts(p, function, loop, c) && c->variable == variable;
}

static void find_own(const struct program *p, struct thread_kind *t)
{
	const struct facts *f = p->f;
	uint32_t function = facts_function_at(f, t->create), plain;
	struct counting c;
	if (t->argument == FACTS_NONE || t->argument & FACTS_CONSTANT)
		return;
	struct path path = path_of(f, t->argument);
	plain = program_strip(f, t->argument);
	if (path.kind == PATH_VALUE && path.loads == 0 && path.index == FACTS_NONE &&
	    fresh_is_made(p, path.root) && is_renewed(p, function, t->create, p->block_of[path.root])) {
		t->own_pointer = true;
		t->own_size = INT64_MAX;
		t->own_since = p->block_of[path.root];
	} else if (!p->functions[function].once) {
		return; /* another call of the function would count from the start again */
	} else if (path.kind != PATH_NONE && path.index != FACTS_NONE && path.index_at == path.loads &&
		   counted_by(p, function, t->create, path.index, &c)) {
		t->own_pointer = true;
		t->own_size = path.stride * (c.step < 0 ? -c.step : c.step);
		t->own_since = p->block_of[c.variable];
	} else if (!(plain & FACTS_CONSTANT) && counted_by(p, function, t->create, plain, &c)) {
		t->own_number = true;
		t->own_since = p->block_of[c.variable];
	}
}

/* ---------------------------------------------------------------- threads --- */

static bool may_be_function(const struct facts *f, uint32_t operand)
{
	struct facts_run run = facts_members_of(f, facts_operand_set(f, operand));
	for (uint32_t i = run.first; i < run.end; i++)
		if (f->objects[f->places[f->members[i].place].object].kind == FACTS_OBJECT_FUNCTION)
			return true;
	return program_constant_function(f, operand) != FACTS_NONE;
}

/* Returns the index of the routine among the arguments of the call. */
static uint32_t routine_position(const struct program *p, uint32_t create)
{
	for (uint32_t i = 0; program_argument(p->f, create, i) != FACTS_NONE; i++)
		if (may_be_function(p->f, program_argument(p->f, create, i)))
			return i;
	return FACTS_NONE;
}

uint32_t thread_routine(const struct program *p, uint32_t create)
{
	return program_argument(p->f, create, routine_position(p, create));
}

static void add_thread(struct threads *t, uint32_t create, uint32_t function, bool handler)
{
	RD_ASSERT(t->count <= THREADS_MAX);
	struct program *p = t->p;
	if (t->count == THREADS_MAX) {
		t->overflow = true;
		t->items[THREADS_MAX - 1].many = true;
		t->items[THREADS_MAX - 1].own_pointer = t->items[THREADS_MAX - 1].own_number = false;
	} else {
		struct thread_kind *it = &t->items[t->count++];
		*it = (struct thread_kind){.create = create, .function = function, .handler = handler};
		uint32_t position = handler ? FACTS_NONE : routine_position(p, create);
		it->argument =
			position != FACTS_NONE ? program_argument(p->f, create, position + 1) : FACTS_NONE;
		find_own(p, it);
	}
	*rd_pmap_put(&t->number, create, function, NULL) = t->count;
	t->threaded |= !handler;
}

uint32_t thread_number(const struct threads *t, uint32_t create, uint32_t function)
{
	const uint64_t *number = rd_pmap_get(&t->number, create, function);
	return number != NULL ? (uint32_t)*number - 1 : FACTS_NONE;
}

/* The ways in which a registered function may run concurrently with the program (runs_beside()). */
enum beside { BESIDE_NOTHING, BESIDE_HANDLER, BESIDE_THREADS, BESIDE_PLUGIN };

/* Returns how a library runs a registered function concurrently with the program.  A signal handler
 * interrupts any thread at any point.  A destructor of thread-specific data runs in every thread
 * that ends.  A plug-in may have its own threads. */
static enum beside runs_beside(const struct program *p, uint32_t value)
{
	const struct facts_function *called = program_library(p, value);
	const char *name = called != NULL ? facts_string(p->f, called->linkage) : "";
	if (strcmp(name, "pthread_key_create") == 0 || strcmp(name, "tss_create") == 0)
		return BESIDE_THREADS;
	if (strcmp(name, "dlsym") == 0 || strcmp(name, "dlvsym") == 0)
		return BESIDE_PLUGIN;
	return called != NULL && called->role == FACTS_ROLE_HANDLER && strstr(name, "sig") != NULL
		       ? BESIDE_HANDLER
		       : BESIDE_NOTHING;
}

void threads_init(struct threads *t, struct program *p)
{
	const struct facts *f = p->f;
	*t = (struct threads){.p = p};
	t->items[t->count++] = (struct thread_kind){
		.create = FACTS_NONE, .function = facts_find_function(f, "main"), .argument = FACTS_NONE};
	t->items[0].many = t->items[0].function == FACTS_NONE;
	for (size_t i = 0; i < f->call_count; i++) {
		const struct facts_call *c = &f->calls[i];
		if (!p->functions[facts_function_at(f, c->value)].reached ||
		    f->functions[c->function].flags & FACTS_FUNCTION_EXTERNAL)
			continue;
		enum beside beside = c->kind == FACTS_EDGE_LATER ? runs_beside(p, c->value) : BESIDE_NOTHING;
		if (c->kind == FACTS_EDGE_START)
			add_thread(t, c->value, c->function, false);
		else if (beside != BESIDE_NOTHING)
			add_thread(t, c->value, c->function, beside != BESIDE_PLUGIN);
		t->items[t->count - 1].many |= beside > BESIDE_HANDLER;
	}
	joins_find(t);
}

void threads_release(struct threads *t)
{
	rd_pmap_release(&t->number);
	free(t->joins);
}

const struct join *thread_join(const struct threads *t, uint32_t value)
{
	for (size_t i = 0; i < t->join_count; i++)
		if (t->joins[i].value == value && !t->joins[i].all)
			return &t->joins[i];
	return NULL;
}

uint64_t thread_joined_by(const struct threads *t, uint32_t function, uint32_t header)
{
	uint64_t threads = 0;
	for (size_t i = 0; i < t->join_count; i++)
		if (t->joins[i].all && t->joins[i].function == function && t->joins[i].header == header)
			threads |= t->joins[i].threads;
	return threads;
}
