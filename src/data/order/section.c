// SPDX-License-Identifier: Apache-2.0
/*
 * Finds critical sections.  It receives acquisitions and releases in the order in which they
 * happened, and makes sections and, for each thread, the list of sections that it is in.  If a
 * holder acquires its lock again, no new section begins, so sections are always outermost ones.
 * Releases need not nest.
 */
#include "order/section.h"

#include "base/alloc.h"
#include "base/error.h"

#include <stdlib.h>

void sections_init(struct sections *s, size_t threads)
{
	*s = (struct sections){0};
	sections_reserve(s, threads);
}

void sections_reserve(struct sections *s, size_t threads)
{
	RD_ASSERT(threads >= s->threads);
	RD_GROW(s->head, s->thread_capacity, threads + 1);
	while (s->threads < threads)
		s->head[s->threads++] = NONE;
}

void sections_release(struct sections *s)
{
	RD_FREE(s->list, s->holds, s->head);
	*s = (struct sections){0};
}

uint32_t sections_find(const struct sections *s, uint32_t head, uint32_t lock)
{
	for (; head != NONE; head = s->holds[head].next)
		if (s->list[s->holds[head].section].lock == lock)
			return s->holds[head].section;
	return NONE;
}

static uint32_t push(struct sections *s, uint32_t section, uint32_t next)
{
	RD_GROW(s->holds, s->hold_capacity, s->hold_count + 1);
	s->holds[s->hold_count] = (struct hold){section, next};
	return (uint32_t)s->hold_count++;
}

/* Returns a list without `section`.  The entries before `section` are copied. */
static uint32_t drop(struct sections *s, uint32_t head, uint32_t section)
{
	uint32_t above = 0, n = head, rest, *stack;

	while (s->holds[n].section != section) {
		above++;
		n = s->holds[n].next;
	}
	rest = s->holds[n].next;
	if (!above)
		return rest;
	stack = rd_xmalloc(above * sizeof *stack);
	n = head;
	for (uint32_t i = 0; i < above; i++, n = s->holds[n].next)
		stack[i] = s->holds[n].section;
	while (above)
		rest = push(s, stack[--above], rest);
	free(stack);
	return rest;
}

uint32_t sections_begin(struct sections *s, uint32_t thread, uint32_t lock, uint32_t acquire, bool shared)
{
	RD_ASSERT(thread < s->threads);
	uint32_t own = sections_find(s, s->head[thread], lock);

	if (own != NONE) {
		s->list[own].depth++;
		return NONE;
	}
	RD_GROW(s->list, s->capacity, s->count + 1);
	s->list[s->count] =
		(struct section){.lock = lock, .acquire = acquire, .release = NONE, .shared = shared};
	s->head[thread] = push(s, (uint32_t)s->count, s->head[thread]);
	return (uint32_t)s->count++;
}

uint32_t sections_end(struct sections *s, uint32_t thread, uint32_t lock, uint32_t release)
{
	RD_ASSERT(thread < s->threads);
	uint32_t own = sections_find(s, s->head[thread], lock);

	if (own == NONE)
		return NONE;
	if (s->list[own].depth) {
		s->list[own].depth--;
		return NONE;
	}
	s->list[own].release = release;
	s->head[thread] = drop(s, s->head[thread], own);
	return own;
}
