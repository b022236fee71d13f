/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations that the parts of the search for races share. pair.c chooses the pairs of a
 * variable's accesses for which a search is worthwhile. race.c decides whether such a pair races.
 * It first tries the recorded order, and then searches. */
#ifndef PREDICT_RACE_INT_H
#define PREDICT_RACE_INT_H

#include "predict/internal-int.h"

/* How much work is spent on each pair of sites.  In a pair of accesses, e1 was recorded before e2.
 * EFFORT_FIRST tries only the first e1, and only in recorded order.  EFFORT_RECORDED also tries
 * other accesses as e1, in recorded order.  EFFORT_FEW does a short search for a few pairs of
 * accesses.  EFFORT_ALL tries everything that the options allow. */
enum effort { EFFORT_FIRST, EFFORT_RECORDED, EFFORT_FEW, EFFORT_ALL };

#define RACE_TRIES 64 /* number of pairs that are tried for one event by default; set by hand */

/* Properties of the accesses in one slot. */
struct slot_summary {
	uint32_t locks[4]; /* the locks that are held exclusively at every access */
	uint32_t lock_count;
	bool writes, plain; /* `writes`: some access writes; `plain`: some access is not atomic */
};

/* A group of accesses of one slot, in program order. */
struct race_group {
	const uint32_t *items;
	uint32_t count;
	uint32_t slot;
	bool mixed; /* true if the accesses hold different locks */
};

/* The state of the walk over one variable's accesses. */
struct race_walk {
	struct predictor *r;
	enum effort effort;
	uint32_t variable;
	uint32_t first, slots;	 /* the slots of the variable, one for each thread */
	const struct slot *slot; /* the slot of the current e2 */
	uint32_t *cursors;	 /* KINDS cursors for each slot of the variable */
	size_t cursor_capacity;
	struct slot_summary *summaries; /* one for each slot of the variable */
	size_t summary_capacity;
	/* Each slot contains one thread's accesses to the variable.  For each pair of slots, the
	 * first access of the second slot (e2) that is not ordered after all accesses of the first
	 * slot (e1), or NONE. */
	uint32_t *free;
	size_t free_capacity;
	struct race_group *groups;
	size_t group_count, group_capacity;
	uint32_t *order; /* the accesses of the variable, group by group */
	size_t order_capacity;
	struct access_key *keys;
	size_t key_capacity;
	/* For each list of held sections, the number of its set of locks, counted from 1. */
	uint32_t *held;
	/* Maps a pair of sites to a sum: 1 for each failed attempt in recorded order, and
	 * FAILED_SEARCH for each failed search. */
	struct rd_umap failures;
	uint8_t *found; /* for each variable, true if it has a race */
	/* For each variable, true if no pair of its accesses needs another question. */
	uint8_t *dead;
	/* How many pairs and groups of the variable may still be examined. */
	int64_t steps;
	bool live; /* true if some pair may be worth a question later */
	/* True if the budget ran out before all pairs of the variable were examined. */
	bool cut;
};

static inline const struct exec_event *race_raw(const struct core *c, uint32_t e)
{
	return &c->x->events[c->events[e].source];
}

static inline bool race_conflict(const struct core *c, uint32_t a, uint32_t b)
{
	return exec_conflict(race_raw(c, a), race_raw(c, b));
}

/* Returns the kind of an access, which shows whether it writes and whether it is atomic.  All
 * accesses of one kind conflict with the same kinds of accesses. */
static inline unsigned race_kind(const struct core *c, uint32_t e)
{
	const struct event *v = &c->events[e];
	return (exec_writes(v->kind) ? 2 : 0) | (v->flags & EXEC_ATOMIC ? 1 : 0);
}

/* Returns the position that `thread` must have reached before `e` can be next, according to a table
 * of rows. */
uint32_t predict_race_before(const struct core *c, const struct rows *rows, uint32_t e, uint32_t thread);

/* Returns true if a pair of these sites needs no search, because it has a known race or is not
 * wanted. */
bool predict_race_known(const struct predictor *r, uint32_t e1, uint32_t e2);

/* Returns true if further pairs of accesses of these sites are to be tried. */
bool predict_race_wanted(const struct race_walk *w, uint32_t e1, uint32_t e2);

/* Returns true if access e2 races with an access of the group, beginning with number `from`. */
bool predict_race_ask(struct race_walk *w, uint32_t e2, const struct race_group *g, uint32_t from);

/* ---- pair.c ---- */

void predict_pairs_init(struct race_walk *w);
void predict_pairs_release(struct race_walk *w);

/* Fills w->free and w->summaries.  Returns false if no two accesses of the variable can race. */
bool predict_pairs_free(struct race_walk *w);

/* Asks about the pairs that the current effort covers. */
void predict_pairs_walk(struct race_walk *w);

/* A slot contains one thread's accesses to the variable.  Returns the first access in slot b that
 * may race with an access in slot a, or NONE if there is none. */
static inline uint32_t race_free(const struct race_walk *w, uint32_t a, uint32_t b)
{
	return w->free[(size_t)a * w->slots + b];
}

#endif
