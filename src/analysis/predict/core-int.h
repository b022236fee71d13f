/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reduced execution that prediction searches.
 *
 * A thread is a sequence of events, so a state is a vector of positions, one for each thread.
 * "Position p" means that the first p events of the thread are done.  An *ideal* is a position
 * vector that is closed: with each event it contains everything the event depends on.  Dependences
 * are program order, the must-edges and, with sound semantics, reads-from.  The *need* of an event
 * is the smallest ideal that contains it.  Must-edges lead from a fork to the first event of the
 * new thread, from the last event of a thread to its join, from a signal to the wake, from all
 * entries of a barrier to each exit, from the end of a once routine to the calls that it lets pass,
 * and from a release write to the acquiring read.
 *
 * Here a "thread" is a lane (lane-int.h): threads that cannot run at the same time share a lane and
 * are treated as one thread.
 *
 * Accesses to variables that cannot race are left out, and so are operations on locks that only one
 * thread uses.  They constrain nothing.
 *
 * Needs are stored as rows with one position per thread.  Consecutive events of a thread share a
 * row as long as their needs in other threads are equal.  The position of the event's own thread is
 * therefore out of date; core_at() corrects it.
 */
#ifndef PREDICT_CORE_INT_H
#define PREDICT_CORE_INT_H

#include "order/exec.h"
#include "order/rows.h"
#include "order/slots.h"

struct event {
	uint8_t kind, flags;
	uint16_t thread;
	uint32_t object;
	uint32_t index;	  /* in its thread */
	uint32_t source;  /* in the execution */
	uint32_t section; /* of an acquisition or release, else NONE */
	uint32_t held;	  /* list of the sections that are open after this event */
};

struct core_list { /* adjacency: item[first[i]..first[i + 1]) */
	uint32_t *first, *item;
};

struct core {
	const struct exec *x;
	bool rf;	  /* sound semantics: every read keeps its writer */
	bool loops;	  /* some reads keep their writer with speculative semantics too: EXEC_LOOP */
	uint32_t threads; /* lanes: threads that cannot run at the same time are one here (lane-int.h) */
	uint32_t locks, variables, conds, sems, barriers;
	struct event *events;
	uint32_t count;
	uint32_t *thread_first, *by_thread; /* the events of a thread */
	uint16_t *lane_of;		    /* of a thread of the execution: the thread here, */
	uint32_t *lane_from, *lane_to;	    /* and where its events begin and end in that */
	struct sections sections;
	uint32_t *writer;		  /* of a read: the write it reads, NONE: the initial value */
	struct core_list must;		  /* must-predecessors of an event, beside program order */
	struct core_list readers;	  /* of a write */
	struct core_list initial_readers; /* of a variable */
	struct core_list wakes;		  /* of a signal or broadcast */
	uint32_t *busy;			  /* the failed acquisitions */
	uint32_t busy_count;
	uint32_t *partner; /* of EXEC_BUSY: the section that made it fail; of a wake: its wait; of a take: the
			    post that it is matched with in trace order */
	struct slots acquires, exclusive; /* by lock: all acquisitions, those not shared */
	struct slots writes, accesses;	  /* by variable */
	struct slots posts, takes;	  /* by semaphore */
	struct slots notes;		  /* signals and broadcasts by condition */
	uint32_t *wall; /* per thread: its first EXEC_UNSURE, which sound semantics cannot pass */
	bool unsure;	/* some thread has such an event, or one lies before the execution */
	bool walls;	/* whether the semantics respect walls */
	uint32_t *base; /* positions after the events that stand for the state at the start: part of every
			   ideal */
	struct rows need, closed; /* closed: sync-preserving closure of the need */
	struct rows firm;	  /* sound semantics: the need without what only values impose */
	bool has_sems, has_conds;
};

void core_build(struct core *c, const struct exec *x);
void core_release(struct core *c);

/* Whether `e` is the first event of a thread of the execution. */
static inline bool core_begins(const struct core *c, uint32_t e)
{
	const struct event *v = &c->events[e];

	return !v->index || c->lane_from[c->x->events[v->source].thread] == v->index;
}

/* Whether nothing in the ideal `p` is unsure, or the semantics allow it. */
bool core_sure(const struct core *c, const uint32_t *p);

/* Computes the rows for sound (`rf`) or speculative semantics; `firm` only if there are semaphores
 * or conditions. */
void core_clocks(struct core *c, bool rf);

static inline uint32_t core_event(const struct core *c, uint32_t thread, uint32_t index)
{
	return c->by_thread[c->thread_first[thread] + index];
}

/* Whether read `e` must read the write that it read in the recording. */
static inline bool core_keeps(const struct core *c, uint32_t e)
{
	return c->rf || c->events[e].flags & EXEC_LOOP;
}

static inline bool core_in(const struct core *c, const uint32_t *p, uint32_t e)
{
	return c->events[e].index < p[c->events[e].thread];
}

/* How much of `thread` must have run for `e` to have run, in a table of rows. */
static inline uint32_t core_at(const struct core *c, const struct rows *r, uint32_t e, uint32_t thread)
{
	const struct event *v = &c->events[e];
	return thread == v->thread ? v->index + 1 : rows_of(r, e)[thread];
}

/* Grows the ideal `p` by `e` and what it needs. */
void core_include(const struct core *c, const struct rows *r, uint32_t *p, uint32_t e);

/* The creation of the thread whose first event `e` is; NONE: the thread existed before. */
uint32_t core_fork(const struct core *c, uint32_t e);

/* Grows `p` by what must have happened before the thread of `e` can be stopped before it. */
void core_include_before(const struct core *c, const struct rows *r, uint32_t *p, uint32_t e);

/* The list of sections that are open when `thread` is at `position`. */
static inline uint32_t core_open(const struct core *c, uint32_t thread, uint32_t position)
{
	return position ? c->events[core_event(c, thread, position - 1)].held : NONE;
}

/* The sections that are open when the thread of `e` is stopped before it. */
static inline uint32_t core_held(const struct core *c, uint32_t e)
{
	return core_open(c, c->events[e].thread, c->events[e].index);
}

/* The sections of other threads that exclude section `s`. */
static inline const struct slots *core_rivals(const struct core *c, const struct section *s)
{
	return s->shared ? &c->exclusive : &c->acquires;
}

/* Iterates over the other threads that, within the ideal `p`, have begun a section that excludes
 * section `s`.  *last receives the acquisition of the thread's last such section.  Start with *i =
 * 0; returns false at the end. */
static inline bool core_next_rival(const struct core *c, const uint32_t *p, const struct section *s,
				   uint32_t *i, uint32_t *last)
{
	const struct slots *rivals = core_rivals(c, s);
	uint32_t thread = c->events[s->acquire].thread;

	while (rivals->first[s->lock] + *i < rivals->first[s->lock + 1]) {
		const struct slot *slot = &rivals->slot[rivals->first[s->lock] + (*i)++];
		if (slot->thread == thread || p[slot->thread] <= rivals->index[slot->begin])
			continue;
		*last = slots_last(rivals, slot, p[slot->thread]);
		return true;
	}
	return false;
}

/* Whether threads stopped before the two events hold a common lock, not both for reading. */
bool core_common_lock(const struct core *c, uint32_t a, uint32_t b);

/* Tier 1, the sync-preserving closure (sp.c): closes the union of closed ideals. */
void predict_sp_close(const struct core *c, uint32_t *p);

#endif
