/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds critical sections.  A section begins with the outermost acquisition of a lock and ends
 * with its outermost release.  Pass the events in the order in which they happened.  A list of the
 * sections that are open at some point of a thread stays valid when later events are added.
 */
#ifndef ORDER_SECTION_H
#define ORDER_SECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NONE UINT32_MAX

struct section {
	uint32_t lock;
	uint32_t acquire, release; /* events; `release` is NONE if the section never ends */
	uint32_t depth;		   /* while it is open: number of nested acquisitions */
	bool shared;
};

/* A list of the sections that a thread is in, innermost first.  Lists share their tails. */
struct hold {
	uint32_t section, next;
};

struct sections {
	struct section *list;
	size_t count, capacity;
	struct hold *holds;
	size_t hold_count, hold_capacity;
	/* The list of sections that each thread is in now, or NONE if it is not in a section. */
	uint32_t *head;
	size_t threads, thread_capacity;
};

void sections_init(struct sections *s, size_t threads);
/* Makes room for more threads; `threads` is their total number. */
void sections_reserve(struct sections *s, size_t threads);
void sections_release(struct sections *s);

/* Returns the open section of `lock` in a list, or NONE if there is none. */
uint32_t sections_find(const struct sections *s, uint32_t head, uint32_t lock);

/* Handles the acquisition of a lock.  Returns the critical section that begins with it, or NONE if
 * the thread is already in a section of that lock. */
uint32_t sections_begin(struct sections *s, uint32_t thread, uint32_t lock, uint32_t acquire, bool shared);

/* Handles the release of a lock.  Returns the critical section that ends with it.  Returns NONE if
 * the release ends only a nested acquisition, or if the lock is not held. */
uint32_t sections_end(struct sections *s, uint32_t thread, uint32_t lock, uint32_t release);

/* Returns true if two sections of a lock exclude one another. */
static inline bool sections_exclude(const struct section *a, const struct section *b)
{
	return a->lock == b->lock && !(a->shared && b->shared);
}

#endif
