// SPDX-License-Identifier: Apache-2.0
/*
 * The memory of the detector.  Every change to the lists is a single store.  So the lists stay
 * intact even if a signal handler interrupts this code and leaves it by longjmp; at most a piece of
 * memory is lost.
 */
#include "rt/detect/arena.h"

#include "rt/common/bug.h"

/* Bytes of a mapping, chosen to make few system calls and waste little in a small program. */
#define MAPPING (1u << 20)
#define SMALLEST 6 /* log2 of the smallest size: a cache line */

static uint32_t class_of(size_t size)
{
	return size <= 1u << SMALLEST ? SMALLEST : 64 - (uint32_t)__builtin_clzll(size - 1);
}

/* Takes memory from the current mapping, or from a new one.  Called with the lock held. */
static void *carve(struct rt_arena *a, size_t size)
{
	char *p;

	RT_ASSERT(a->at <= a->end);
	if ((size_t)(a->end - a->at) < size) {
		size_t mapping = size > MAPPING / 4 ? size : MAPPING;
		if (mapping > a->left)
			return NULL;
		a->left -= mapping;
		p = rt_map(mapping);
		if (!p || mapping == size)
			return p;
		a->end = a->at = p; /* the mapping appears to be empty until both are set */
		a->end = p + mapping;
	}
	p = a->at;
	a->at = p + size;
	return p;
}

void *rt_arena_get(struct rt_arena *a, size_t size)
{
	uint32_t class = class_of(size);
	void *p;

	if (size > 1ull << (RT_ARENA_CLASSES - 1) || !rt_spin(&a->lock))
		return NULL;
	p = a->idle[class];
	if (p)
		a->idle[class] = *(void **)p;
	else
		p = carve(a, (size_t)1 << class);
	rt_spin_leave(&a->lock);
	if (p)
		*(void **)p = NULL;
	return p;
}

void rt_arena_put(struct rt_arena *a, void *p, size_t size)
{
	uint32_t class = class_of(size);

	if (!p)
		return;
	RT_ASSERT(class < RT_ARENA_CLASSES);
	__builtin_memset(p, 0, size);
	if (!rt_spin(&a->lock))
		return;
	*(void **)p = a->idle[class];
	a->idle[class] = p;
	rt_spin_leave(&a->lock);
}

void *rt_arena_keep(struct rt_arena *a, size_t size)
{
	void *p;

	if (!rt_spin(&a->lock))
		return NULL;
	p = carve(a, (size + 63) & ~(size_t)63);
	rt_spin_leave(&a->lock);
	return p;
}
