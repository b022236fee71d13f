/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the search for races share: race.c asks in recorded order and decides, pair.c chooses
 * which pairs of a variable's accesses are worth a question. */
#ifndef PREDICT_RACE_H
#define PREDICT_RACE_H

#include "predict/internal.h"

/* What is tried for each pair: the first e1 in recorded order; others in recorded order; a
 * short search for a few; all that the options allow. */
enum effort { EFFORT_FIRST, EFFORT_RECORDED, EFFORT_FEW, EFFORT_ALL };

#define RACE_TRIES 64 /* pairs tried for one event, if the options do not say */

/* What all accesses of a slot have in common, or some do. */
struct habit {
	uint32_t locks[4]; /* held, not shared, at each of them */
	uint32_t lock_count;
	bool writes, plain; /* some of them do, are */
};

/* Accesses of one slot, in program order. */
struct group {
	const uint32_t *items;
	uint32_t count;
	uint32_t slot;
	bool mixed; /* the locks that are held differ */
};

/* One variable's accesses. */
struct walk {
	struct predictor *r;
	enum effort effort;
	uint32_t variable;
	uint32_t first, slots; /* the variable's slots, one a thread */
	const struct slot *own;
	uint32_t *cursors; /* SORTS for each slot of the variable */
	size_t cursor_capacity;
	struct habit *habits; /* by slot of the variable */
	size_t habit_capacity;
	uint32_t *free; /* by pair of slots: the first e2 that some e1 is not ordered with; NONE */
	size_t free_capacity;
	struct group *groups;
	size_t group_count, group_capacity;
	uint32_t *order; /* its accesses, group by group */
	size_t order_capacity;
	struct access_key *keys;
	size_t key_capacity;
	uint32_t *held; /* by hold: a number of the set of locks, from 1 */
	struct rd_umap
		failures; /* of a pair of sites: in recorded order, and times FAILED_SEARCH of searches */
	uint8_t *found;	  /* by variable: it has a race */
	uint8_t *dead;	  /* by variable: no pair of its accesses needs a question any more */
	int64_t steps;	  /* pairs and groups of the variable that may still be looked at */
	bool live;	  /* some pair may be worth a question later */
	bool cut;	  /* the budget ended before all pairs of the variable were seen */
};

static inline const struct exec_event *race_raw(const struct core *c, uint32_t e)
{
	return &c->x->events[c->events[e].source];
}

static inline bool race_conflict(const struct core *c, uint32_t a, uint32_t b)
{
	return exec_conflict(race_raw(c, a), race_raw(c, b));
}

/* Written, atomic: which sorts conflict is the same for all of a sort. */
static inline unsigned race_sort(const struct core *c, uint32_t e)
{
	const struct event *v = &c->events[e];
	return (exec_writes(v->kind) ? 2 : 0) | (v->flags & EXEC_ATOMIC ? 1 : 0);
}

/* How much of `thread` must have run before `e` in a table of rows. */
uint32_t predict_race_before(const struct core *c, const struct rows *rows, uint32_t e, uint32_t thread);

/* Whether a pair of these sites needs no further search: it has a race, or nobody asks. */
bool predict_race_known(const struct predictor *r, uint32_t e1, uint32_t e2);

/* Whether more pairs of these sites are tried. */
bool predict_race_wanted(const struct walk *w, uint32_t e1, uint32_t e2);

/* Asks about e2 and accesses of the group from number `from` on; true for a race. */
bool predict_race_ask(struct walk *w, uint32_t e2, const struct group *g, uint32_t from);

/* ---- pair.c ---- */

void predict_pairs_init(struct walk *w);
void predict_pairs_release(struct walk *w);

/* Fills w->free and w->habits; false: no two accesses of the variable can race. */
bool predict_pairs_free(struct walk *w);

/* Asks about the pairs that the effort wants. */
void predict_pairs_walk(struct walk *w);

/* The first e2 of slot number b of the variable that may race with an access of slot a; NONE. */
static inline uint32_t race_free(const struct walk *w, uint32_t a, uint32_t b)
{
	return w->free[(size_t)a * w->slots + b];
}

#endif
