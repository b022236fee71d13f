// SPDX-License-Identifier: Apache-2.0
/*
 * Exhaustive search by choices (replay/search.h).  In: the choices of a run.  Out: the plan of the
 * next run.  Each plan in the queue has its own copy of the choices that lead to it.  This costs
 * little memory, because a search that can ever end has few such choices.
 */
#include "replay/search.h"

#include "base/alloc.h"
#include "base/error.h"
#include "replay/replay.h"

#include <stdlib.h>
#include <string.h>

struct replay_search_plan {
	struct replay_search_plan *next;
	size_t count;
	struct raddle_choice choices[];
};

void replay_search_add(struct replay_search *s, const struct raddle_choice *c)
{
	RD_ASSERT(s->count <= s->capacity);
	RD_GROW(s->choices, s->capacity, s->count + 1);
	s->choices[s->count++] = *c;
}

void replay_search_took(struct replay_search *s, const struct replay_memory *m)
{
	s->count = 0;
	for (size_t i = 0; i < m->made_count; i++)
		replay_search_add(s, &m->made[i]);
}

/* Adds a run that equals this one up to choice `at`, where it takes alternative `taken`. */
static void enqueue(struct replay_search *s, size_t at, uint32_t taken)
{
	unsigned cost = s->cost + 1 < REPLAY_SEARCH_COSTS ? s->cost + 1 : s->cost;

	RD_ASSERT(at < s->count && taken < s->choices[at].from && cost < REPLAY_SEARCH_COSTS);
	struct replay_search_plan *p = rd_xcalloc(1, sizeof *p + (at + 1) * sizeof *p->choices);

	p->count = at + 1;
	memcpy(p->choices, s->choices, p->count * sizeof *p->choices);
	p->choices[at].taken = taken;
	if (s->queues[cost].last)
		s->queues[cost].last->next = p;
	else
		s->queues[cost].first = p;
	s->queues[cost].last = p;
}

static struct replay_search_plan *dequeue(struct replay_search *s)
{
	for (unsigned cost = 0; cost < REPLAY_SEARCH_COSTS; cost++) {
		struct replay_search_plan *p = s->queues[cost].first;

		if (!p)
			continue;
		s->queues[cost].first = p->next;
		if (!p->next)
			s->queues[cost].last = NULL;
		s->cost = cost;
		return p;
	}
	return NULL;
}

/* Adds runs for the alternatives of each choice that this run made after its plan had ended, where
 * it took the defaults. */
static void branch(struct replay_search *s)
{
	bool fresh = true;

	for (size_t i = s->planned; i < s->count && fresh; i++) {
		rd_umap_put(&s->states, s->choices[i].state, &fresh);
		for (uint32_t k = 0; fresh && k < s->choices[i].from; k++)
			if (k != s->choices[i].taken)
				enqueue(s, i, k);
	}
}

bool replay_search_next(struct replay_search *s)
{
	struct replay_search_plan *p;

	s->runs++;
	branch(s);
	p = dequeue(s);
	if (!p)
		return false;
	s->count = 0;
	for (size_t i = 0; i < p->count; i++)
		replay_search_add(s, &p->choices[i]);
	s->planned = p->count;
	free(p);
	return true;
}

void replay_search_release(struct replay_search *s)
{
	for (struct replay_search_plan *p; (p = dequeue(s)) != NULL;)
		free(p);
	free(s->choices);
	rd_umap_release(&s->states);
	*s = (struct replay_search){0};
}
