/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The owner graph shows which threads wait for each other at one moment, and whether the waiting
 * can ever end (doc/design/order.md).  The caller provides the state of a running program, or
 * the state at the end of a trace.
 */
#ifndef ORDER_OWNER_H
#define ORDER_OWNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OWNER_NONE UINT32_MAX

/* What a thread waits for. */
enum owner_wait {
	OWNER_RUNNING, /* nothing, or something with a time limit */
	OWNER_LOCK,    /* a lock, for writing */
	OWNER_READ,    /* a lock, for reading */
	OWNER_JOIN,    /* the end of a thread */
	OWNER_NOTE,    /* something that any thread may do: a notification, a post, an arrival */
};

struct owner_thread {
	enum owner_wait wait;
	uint64_t object; /* the lock that it waits for, or the number of the thread that it joins */
	bool alive;	 /* the thread may release what others wait for, unless it is closed */
	bool ended;	 /* the thread has ended, so it never releases the locks that it holds */
	/* The locks that the thread holds.  The lowest bit is set for a shared lock, and 0 marks an
	 * unused entry. */
	const uint64_t *held;
	size_t held_count;
};

/* Which threads may release a lock.  The primitives allow any thread to do so, and some programs
 * rely on that. */
enum owner_hands {
	OWNER_HOLDER, /* only its holder */
	/* Only its holder or, if the holder itself waits for the lock, any thread. */
	OWNER_HOLDER_UNLESS_STUCK,
	OWNER_ANY_THREAD /* any thread */
};

struct owner_graph {
	const struct owner_thread *threads;
	size_t count;
	bool helped; /* a thread or process outside the graph may end waits of kind OWNER_NOTE */
	enum owner_hands hands;
};

/* Marks the largest set of threads that can never continue, whatever the other threads do.  Returns
 * the size of the set. */
size_t owner_closed(const struct owner_graph *g, bool *closed);

/* Returns the thread that holds the lock for which this thread waits, or the thread that it joins.
 * Returns OWNER_NONE if that thread is unknown, or if this thread waits for something else.  If
 * the lock has several holders, prefers one that can never continue (`closed`), then one that has
 * ended.  `closed` may be NULL. */
uint32_t owner_of(const struct owner_graph *g, const bool *closed, uint32_t thread);

/* A closed thread can never continue.  Marks the closed threads that cause the deadlock: those on
 * a cycle of owners, and those that wait for something that no remaining thread can do. */
void owner_causes(const struct owner_graph *g, const bool *closed, bool *cause);

bool owner_is_held(const struct owner_graph *g, uint64_t lock);

#endif
