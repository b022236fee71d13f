/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the search for races share.  race.c asks in recorded order and decides.  pair.c
 * chooses which pairs of a variable's accesses are worth a question. */
#ifndef PREDICT_RACE_INT_H
#define PREDICT_RACE_INT_H

#include "predict/internal-int.h"

/* What is tried for each pair: the first e1 in recorded order; others in recorded order; a short
 * search for a few; everything that the options allow. */
enum effort { EFFORT_FIRST, EFFORT_RECORDED, EFFORT_FEW, EFFORT_ALL };

#define RACE_TRIES 64 /* pairs that are tried for one event by default; set by hand */

/* What all accesses of a slot have in common, and what is true of some of them. */
struct slot_summary {
	uint32_t locks[4]; /* held exclusively at each of them */
	uint32_t lock_count;
	bool writes, plain; /* some of them write, are not atomic */
};

/* Accesses of one slot, in program order. */
struct race_group {
	const uint32_t *items;
	uint32_t count;
	uint32_t slot;
	bool mixed; /* the held locks differ */
};

/* The walk over one variable's accesses. */
struct race_walk {
	struct predictor *r;
	enum effort effort;
	uint32_t variable;
	uint32_t first, slots;	 /* the variable's slots, one a thread */
	const struct slot *slot; /* of the current e2 */
	uint32_t *cursors;	 /* KINDS for each slot of the variable */
	size_t cursor_capacity;
	struct slot_summary *summaries; /* by slot of the variable */
	size_t summary_capacity;
	uint32_t *free; /* by pair of slots: the first e2 that is not ordered after all e1; NONE */
	size_t free_capacity;
	struct race_group *groups;
	size_t group_count, group_capacity;
	uint32_t *order; /* its accesses, group by group */
	size_t order_capacity;
	struct access_key *keys;
	size_t key_capacity;
	uint32_t *held;		 /* by hold: a number of the set of locks, from 1 */
	struct rd_umap failures; /* of a pair of sites: in recorded order, plus FAILED_SEARCH for each failed
				    search */
	uint8_t *found;		 /* by variable: it has a race */
	uint8_t *dead;		 /* by variable: no pair of its accesses needs another question */
	int64_t steps;		 /* pairs and groups of the variable that may still be looked at */
	bool live;		 /* some pair may be worth a question later */
	bool cut;		 /* the budget was used up before all pairs of the variable were seen */
};

static inline const struct exec_event *race_raw(const struct core *c, uint32_t e)
{
	return &c->x->events[c->events[e].source];
}

static inline bool race_conflict(const struct core *c, uint32_t a, uint32_t b)
{
	return exec_conflict(race_raw(c, a), race_raw(c, b));
}

/* Whether it writes, and whether it is atomic.  Accesses of one kind conflict with the same
 * kinds. */
static inline unsigned race_kind(const struct core *c, uint32_t e)
{
	const struct event *v = &c->events[e];
	return (exec_writes(v->kind) ? 2 : 0) | (v->flags & EXEC_ATOMIC ? 1 : 0);
}

/* How much of `thread` must have run before `e` in a table of rows. */
uint32_t predict_race_before(const struct core *c, const struct rows *rows, uint32_t e, uint32_t thread);

/* Whether a pair of these sites needs no search: it has a known race, or is not wanted. */
bool predict_race_known(const struct predictor *r, uint32_t e1, uint32_t e2);

/* Whether more pairs of these sites are tried. */
bool predict_race_wanted(const struct race_walk *w, uint32_t e1, uint32_t e2);

/* Asks about e2 and the accesses of the group from number `from` on; true for a race. */
bool predict_race_ask(struct race_walk *w, uint32_t e2, const struct race_group *g, uint32_t from);

/* ---- pair.c ---- */

void predict_pairs_init(struct race_walk *w);
void predict_pairs_release(struct race_walk *w);

/* Fills w->free and w->summaries; false: no two accesses of the variable can race. */
bool predict_pairs_free(struct race_walk *w);

/* Asks about the pairs that the effort covers. */
void predict_pairs_walk(struct race_walk *w);

/* The first e2 of slot number b of the variable that may race with an access of slot a; NONE. */
static inline uint32_t race_free(const struct race_walk *w, uint32_t a, uint32_t b)
{
	return w->free[(size_t)a * w->slots + b];
}

#endif
