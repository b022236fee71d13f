/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds objects that more than one thread can reach.  The search starts with global variables,
 * arguments of new threads, and objects that library functions may keep.  It then adds all objects
 * to which pointers in these objects lead.  A thread-local or local variable is included if such
 * an object contains its address.
 */
#include "base/alloc.h"
#include "base/error.h"
#include "candidates/program.h"
#include "facts/role.h"

#include <stdlib.h>

struct share_reach {
	struct program *p;
	uint32_t *work;
	size_t count, capacity;
	uint32_t *first_place; /* the first place of each object; places are sorted by object */
};

static void reach_object(struct share_reach *r, uint32_t object)
{
	RD_ASSERT(object < r->p->f->object_count);
	if (r->p->shared_object[object])
		return;
	r->p->shared_object[object] = true;
	RD_GROW(r->work, r->capacity, r->count + 1);
	r->work[r->count++] = object;
}

static void reach_set(struct share_reach *r, uint32_t set)
{
	const struct facts *f = r->p->f;
	struct facts_run run = facts_members_of(f, set);
	for (uint32_t i = run.first; i < run.end; i++)
		reach_object(r, f->places[f->members[i].place].object);
}

static void follow(struct share_reach *r)
{
	const struct facts *f = r->p->f;
	bool *done = rd_xcalloc(f->set_count + 1, sizeof *done);
	while (r->count != 0) {
		uint32_t object = r->work[--r->count];
		for (uint32_t i = r->first_place[object]; i < r->first_place[object + 1]; i++)
			if (!done[f->places[i].contents]) {
				done[f->places[i].contents] = true;
				reach_set(r, f->places[i].contents);
			}
	}
	free(done);
}

/* Marks what can be reached from arguments that a call passes to other threads.  Such calls are
 * thread creations and calls of unknown functions. */
static void reach_arguments(struct share_reach *r, uint32_t value, bool unknown)
{
	const struct facts *f = r->p->f;
	struct facts_run run = facts_operands_of(f, value);
	bool starts = false;
	struct facts_run calls = facts_calls_of(f, value);
	for (uint32_t i = calls.first; i < calls.end; i++)
		starts |= f->calls[i].kind == FACTS_EDGE_START;
	for (uint32_t i = run.first; (starts || unknown) && i + 1 < run.end; i++)
		reach_set(r, facts_operand_set(f, f->operands[i].operand));
}

void share_find(struct program *p)
{
	const struct facts *f = p->f;
	struct share_reach r = {.p = p};
	p->shared_object = rd_xcalloc(f->object_count + 1, sizeof *p->shared_object);
	r.first_place = rd_xcalloc(f->object_count + 2, sizeof *r.first_place);
	for (uint32_t i = 0, at = 0; i <= f->object_count; i++) {
		while (at < f->place_count && f->places[at].object < i)
			at++;
		r.first_place[i] = at;
	}
	for (uint32_t i = 0; i < f->object_count; i++) {
		const struct facts_object *o = &f->objects[i];
		if (o->kind == FACTS_OBJECT_LIBRARY ||
		    (o->kind == FACTS_OBJECT_GLOBAL && !(o->flags & FACTS_OBJECT_THREAD_LOCAL)))
			reach_object(&r, i);
	}
	for (uint32_t v = 0; v < f->value_count; v++)
		if (f->values[v].kind == FACTS_CALL) {
			const struct facts_function *called = program_library(p, v);
			reach_arguments(&r, v,
					called != NULL && !(called->flags & (FACTS_FUNCTION_MODELLED |
									     FACTS_FUNCTION_INTRINSIC)));
		}
	follow(&r);
	RD_FREE(r.work, r.first_place);
}
