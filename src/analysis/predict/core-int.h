/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reduced execution that prediction searches.
 *
 * A thread is a sequence of events, so a state is a vector of positions, one for each thread.
 * "Position p" means that the first p events of the thread are done.  An *ideal* is a position
 * vector that is closed, which means that it contains, with each event, everything that the event
 * depends on.  Dependences are program order, the must-edges and, with sound semantics, reads-from.
 * The *need* of an event is the smallest ideal that contains it.  Must-edges lead from a fork to
 * the first event of the new thread, and from the last event of a thread to its join.  They lead
 * from a signal to the wake, and from all entries of a barrier to each exit.  They also lead from
 * the end of a once routine to the calls that it lets pass, and from a release write to the
 * acquiring read.
 *
 * Here a "thread" is a lane (lane-int.h): threads that cannot run at the same time share a lane and
 * are treated as one thread.
 *
 * Accesses to variables that cannot race, and operations on locks that only one thread uses,
 * constrain nothing and are left out.
 *
 * Needs are stored as rows with one position for each thread.  Consecutive events of a thread share
 * a row as long as their needs in other threads are equal.  Therefore the position of the thread
 * itself is out of date in a shared row, and core_at() corrects it.
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
	uint32_t index;	 /* index of the event in its thread */
	uint32_t source; /* index of the event in the execution */
	/* The section to which an acquisition or release belongs.  NONE for other events. */
	uint32_t section;
	uint32_t held; /* head of the list of sections that are open after this event */
};

/* Adjacency lists: the items of `i` are item[first[i]] to item[first[i + 1] - 1]. */
struct core_list {
	uint32_t *first, *item;
};

struct core {
	const struct exec *x;
	/* True with sound semantics, where every read returns the value of its recorded write. */
	bool rf;
	/* True if some reads (EXEC_LOOP) return the value of their recorded write even with
	 * speculative semantics. */
	bool loops;
	uint32_t threads; /* number of lanes (lane-int.h); a "thread" below is a lane */
	uint32_t locks, variables, conds, sems, barriers;
	struct event *events;
	uint32_t count;
	/* The events of thread `t` begin at by_thread[thread_first[t]]. */
	uint32_t *thread_first, *by_thread;
	uint16_t *lane_of; /* the lane of each thread of the execution */
	/* For each thread of the execution, the range of positions in its lane that its events
	 * occupy. */
	uint32_t *lane_from, *lane_to;
	struct sections sections;
	/* For each read, the write whose value it returns, or NONE if it returns the initial
	 * value. */
	uint32_t *writer;
	/* For each event, the events that must precede it, apart from program order. */
	struct core_list must;
	struct core_list readers; /* for each write, the reads that return its value */
	/* For each variable, the reads that return its initial value. */
	struct core_list initial_readers;
	/* For each signal or broadcast, the wakes that it causes. */
	struct core_list wakes;
	uint32_t *busy; /* the failed acquisitions (EXEC_BUSY) */
	uint32_t busy_count;
	/* The partner of each event: for a failed acquisition, the critical section that made it
	 * fail; for a wake-up, its wait; for a take of a semaphore, the matching post in trace
	 * order. */
	uint32_t *partner;
	/* All acquisitions of each lock, and the exclusive ones. */
	struct slots acquires, exclusive;
	struct slots writes, accesses; /* the writes to each variable, and all accesses to it */
	struct slots posts, takes;     /* the posts and takes of each semaphore */
	struct slots notes;	       /* the signals and broadcasts of each condition */
	/* The first EXEC_UNSURE event of each thread.  With sound semantics, no order contains this
	 * event. */
	uint32_t *wall;
	/* True if some thread has an EXEC_UNSURE event, or if such an event precedes the
	 * execution. */
	bool unsure;
	bool walls; /* true if the semantics in use cannot pass walls */
	/* For each thread, the number of events that represent the state at the start.  Every
	 * search includes these events. */
	uint32_t *base;
	struct rows need, closed; /* `closed` is the sync-preserving closure of `need` (sp.c) */
	/* The needs with sound semantics, but without the dependences that exist only because reads
	 * must return the recorded values. */
	struct rows firm;
	bool has_sems, has_conds;
};

void core_build(struct core *c, const struct exec *x);
void core_release(struct core *c);

/* Returns true if `e` is the first event of a thread of the execution. */
static inline bool core_begins(const struct core *c, uint32_t e)
{
	const struct event *v = &c->events[e];

	return !v->index || c->lane_from[c->x->events[v->source].thread] == v->index;
}

/* Returns true if the ideal `p` contains no unsure event, or the semantics allow unsure events. */
bool core_sure(const struct core *c, const uint32_t *p);

/* Computes what each event needs: the tables `need` and `closed`.  If `rf` is true, the semantics
 * are sound: every read returns its recorded value.  Then `firm` is also computed, if there are
 * semaphores or condition variables.  Otherwise the semantics are speculative. */
void core_clocks(struct core *c, bool rf);

static inline uint32_t core_event(const struct core *c, uint32_t thread, uint32_t index)
{
	return c->by_thread[c->thread_first[thread] + index];
}

/* Returns true if the read `e` must return the value of the same write as in the recording. */
static inline bool core_keeps(const struct core *c, uint32_t e)
{
	return c->rf || c->events[e].flags & EXEC_LOOP;
}

static inline bool core_in(const struct core *c, const uint32_t *p, uint32_t e)
{
	return c->events[e].index < p[c->events[e].thread];
}

/* Returns the position that `thread` must have reached by the time `e` has happened, according to
 * the table `r`. */
static inline uint32_t core_at(const struct core *c, const struct rows *r, uint32_t e, uint32_t thread)
{
	const struct event *v = &c->events[e];
	return thread == v->thread ? v->index + 1 : rows_of(r, e)[thread];
}

/* Adds `e`, and everything that `e` needs, to the ideal `p`. */
void core_include(const struct core *c, const struct rows *r, uint32_t *p, uint32_t e);

/* Returns the creation of the thread whose first event is `e`, or NONE if the thread existed before
 * the execution began. */
uint32_t core_fork(const struct core *c, uint32_t e);

/* Adds to the set of events `p` (an ideal) all events that must happen before the thread of `e`
 * can be stopped just before `e`. */
void core_include_before(const struct core *c, const struct rows *r, uint32_t *p, uint32_t e);

/* Returns the list of sections that are open when `thread` is at `position`. */
static inline uint32_t core_open(const struct core *c, uint32_t thread, uint32_t position)
{
	return position ? c->events[core_event(c, thread, position - 1)].held : NONE;
}

/* Returns the sections that are open when the thread of `e` is stopped before it. */
static inline uint32_t core_held(const struct core *c, uint32_t e)
{
	return core_open(c, c->events[e].thread, c->events[e].index);
}

/* Returns the acquisitions whose sections exclude section `s`, in a table that is indexed by
 * lock. */
static inline const struct slots *core_rivals(const struct core *c, const struct section *s)
{
	return s->shared ? &c->exclusive : &c->acquires;
}

/* Iterates over the other threads that have begun a critical section that excludes section `s`, if
 * the events in `p` (an ideal) have happened.  Stores the acquisition of the thread's last such
 * section in *last. *i must be 0 at the first call.  Returns false at the end. */
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

/* Returns true if the threads that are stopped before events `a` and `b` hold a common lock, and
 * at least one of them holds it exclusively. */
bool core_common_lock(const struct core *c, uint32_t a, uint32_t b);

/* Closes `p` under the recorded order of critical sections (sp.c).  `p` must be a union of closed
 * ideals. */
void predict_sp_close(const struct core *c, uint32_t *p);

#endif
