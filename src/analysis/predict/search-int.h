/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tier 2: exact co-reachability.  Given target events of different threads, is there an ideal
 * (core-int.h) whose events can be executed so that each of these threads is then right before its
 * target?  The order of the events must be one that synchronisation and, with sound semantics,
 * reads-from allow.  If the targets are two conflicting accesses, the answer "yes" shows a race.
 * If they are acquisitions that wait for one another's locks, it shows a deadlock.
 *
 * If a target is a wake or a semaphore take, nothing may ever be able to end its wait.  So the
 * ideal must contain every notification (or post) that other threads could still send without
 * passing a target.  Each notification must either come before the wait begins or be consumed by
 * another wake in the ideal.  A semaphore must be zero.
 */
#ifndef PREDICT_SEARCH_INT_H
#define PREDICT_SEARCH_INT_H

#include "base/tuple.h"
#include "predict/core-int.h"

enum answer { ANSWER_NO, ANSWER_YES, ANSWER_UNKNOWN };

/* The orders between events that every schedule of an ideal must keep (saturate.c). */
struct order {
	uint32_t *row_of; /* the row in `rows` of each event, or NONE if it has only its need row */
	uint32_t *rows;
	size_t row_count, row_capacity;
	uint32_t *changed; /* events with a separate row */
	size_t changed_count, changed_capacity;
	/* Events whose row changed and whose consequences are still to be computed. */
	uint32_t *heap;
	size_t heap_count, heap_capacity;
	uint8_t *queued;
	uint32_t *extra; /* the head of each event's list of added successors */
	struct {
		uint32_t to, next;
	} * edges;
	size_t edge_count, edge_capacity;
	uint32_t *sources; /* the events that have added successors */
	size_t source_count, source_capacity;
	struct base_edge *base; /* inferences from needs alone, in trace order */
	size_t base_count, base_capacity;
	bool base_known;
	bool shallow; /* the latest ideal was refuted by order_seed() alone */
	/* If true, only some open sections count: those that no witness can close, and the section
	 * `also`. */
	bool firm;
	uint32_t also; /* a further section that counts as open; NONE if there is none */
	/* If there is no schedule because an event is missing from the ideal (the set of events to
	 * be ordered), that event.  NONE if the reason is a cycle. */
	uint32_t outside;
};

/* The order of two events, which follows from the needs alone.  It applies in every ideal that
 * contains `trigger`. */
struct base_edge {
	uint32_t from, to, trigger;
};

struct step { /* a step of the schedule under construction */
	uint32_t event;
	uint32_t pending; /* `pending` of its variable before the step */
};

/* The state of the scheduler (schedule.c). */
struct sched {
	uint32_t *at; /* position of each thread */
	/* For each lock, the number of threads that share it, or UINT32_MAX if it is held
	 * exclusively. */
	uint32_t *readers;
	int64_t *stock; /* the value of each semaphore */
	/* For each variable, the number of reads that return its current value and have not run
	 * yet.  Only reads in the ideal (the set of events to be ordered) count. */
	uint32_t *pending;
	uint8_t *known; /* for each variable, true if `pending` is valid */
	uint32_t *touched;
	size_t touched_count, touched_capacity;
	struct step *steps;
	size_t step_count, step_capacity;
	struct frame *frames;
	size_t frame_count, frame_capacity;
	uint32_t *choices; /* the candidates of all frames, one frame after another */
	size_t choice_count, choice_capacity;
	struct rd_tuples seen; /* position vectors that were left without success */
	uint64_t hash;	       /* hash of `at` */
};

struct predict_search {
	const struct core *c;
	struct core_list must_next; /* for each event, the events that it must precede */
	const uint32_t *targets;
	uint32_t target_count;
	int64_t work; /* the remaining budget of the question */
	int64_t work_limit;
	uint32_t refuted; /* number of ideals of this question that have no schedule */
	/* The cost of a step.  It grows with the number of threads, because rows do. */
	int64_t cost;
	int64_t total;	     /* the remaining budget of all questions together */
	int64_t deadline_ns; /* when to stop (base/clock.h); 0 for never */
	bool late;	     /* the deadline has passed */
	uint32_t ticks;
	struct rd_tuples seen; /* ideals that were tried */
	struct order order;
	struct sched sched;
	uint32_t *ideal;    /* the answer: an ideal, as positions */
	uint32_t *schedule; /* the answer: an order of all events of the ideal */
	size_t schedule_length;
};

void search_init(struct predict_search *s, const struct core *c, int64_t work_limit);
void search_release(struct predict_search *s);

/* Answers the question for `count` targets.  After ANSWER_YES, `ideal` and `schedule` lead to
 * them. */
enum answer search_run(struct predict_search *s, const uint32_t *targets, uint32_t count);

/* Returns true if the deadline has passed.  If so, the budget is set to zero. */
bool search_late(struct predict_search *s);

/* Computes the least ideal that every witness for the targets contains.  Returns false if it
 * contains a target. */
bool search_least(const struct core *c, const struct rows *r, const uint32_t *targets, uint32_t count,
		  uint32_t *p);

/* ---- functions that only the files of tier 2 call ---- */

void order_init(struct predict_search *s);
void order_release(struct predict_search *s);
void order_reset(struct predict_search *s);

/* Adds the orders that follow from the ideal alone.  Returns false if the ideal has no schedule. */
bool order_seed(struct predict_search *s, const uint32_t *p);

/* Adds the inferences from needs.  Returns false if the ideal has no schedule. */
bool order_saturate(struct predict_search *s, const uint32_t *p);

/* Returns true if no witness can close the section, because its end needs a target or was not
 * recorded. */
bool search_stays_open(const struct predict_search *s, uint32_t section);

/* Returns a row with the position that each thread must reach before `e`. */
static inline const uint32_t *order_row(const struct predict_search *s, uint32_t e)
{
	const struct core *c = s->c;
	uint32_t own = s->order.row_of[e];
	return own != NONE ? s->order.rows + (size_t)own * c->threads : rows_of(&c->need, e);
}

void sched_init(struct predict_search *s);
void sched_release(struct predict_search *s);

/* Looks for a possible order of the events of `p`, an ideal (the set of events to be ordered).
 * The result is in s->sched.steps until sched_reset() is called.  If `greedy` is true, the search
 * gives up instead of backtracking. */
enum answer sched_run(struct predict_search *s, const uint32_t *p, bool greedy);
void sched_reset(struct predict_search *s);

/* Returns true if the section begins in the ideal but does not end in it. */
static inline bool section_open(const struct core *c, const uint32_t *p, uint32_t section)
{
	uint32_t release = c->sections.list[section].release;
	return release == NONE || !core_in(c, p, release);
}

#endif
