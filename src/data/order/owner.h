/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The owner graph: who waits for whom at one moment, and whether it can ever end (doc/design/order.md). Where
 * the moment comes from, a program that is watched or the end of a trace, is the caller's business.
 */
#ifndef ORDER_OWNER_H
#define ORDER_OWNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OWNER_NONE UINT32_MAX

/* What a thread waits for. */
enum owner_wait {
	OWNER_GOES_ON, /* nothing, or it gives up by itself */
	OWNER_LOCK,    /* a lock, for itself alone */
	OWNER_READ,    /* a lock, to be shared */
	OWNER_JOIN,    /* the end of a thread */
	OWNER_NOTE,    /* something that any thread may give: a notification, a post, an arrival */
};

struct owner_thread {
	enum owner_wait wait;
	uint64_t object;      /* the lock, or the number of the thread that is to end */
	bool alive;	      /* unless it is closed it may give others what they wait for */
	bool ended;	      /* it never lets go of what it holds */
	const uint64_t *held; /* locks, the lowest bit set for a shared hold; 0: none */
	size_t held_count;
};

/* Who gives a lock back.  The primitives let any thread do so, and some programs hand locks over. */
enum owner_hands {
	OWNER_OWN,    /* its holder */
	OWNER_SELF,   /* its holder; but if that waits for the lock itself, anybody */
	OWNER_ANYBODY /* every thread */
};

struct owner_graph {
	const struct owner_thread *threads;
	size_t count;
	bool helped; /* somebody who is none of these threads may give OWNER_NOTE */
	enum owner_hands hands;
};

/* Marks, with a place for each thread, the largest set of threads that can never go on whatever the others
 * do; returns how many they are. */
size_t owner_closed(const struct owner_graph *g, bool *closed);

/* The thread that has what this one waits for; OWNER_NONE: nobody in particular.  Of several it is one that
 * is closed, if there is one, or else one that has ended; `closed` may be NULL. */
uint32_t owner_of(const struct owner_graph *g, const bool *closed, uint32_t thread);

/* Of the closed threads those that are the cause: on a cycle of owners, or waiting for what nobody is left to
 * give. */
void owner_causes(const struct owner_graph *g, const bool *closed, bool *cause);

/* Whether a thread holds the lock. */
bool owner_is_held(const struct owner_graph *g, uint64_t lock);

#endif
