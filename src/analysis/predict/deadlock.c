/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds deadlocks, which are sets of stops (deadlock-int.h) that can be reached together and that
 * nothing can ever end.
 *
 * A set of stops of different threads is a deadlock if each of them is blocked while the threads
 * are stopped before them:
 * - an acquisition finds its lock held by another thread of the set;
 * - a join waits for a thread of the set;
 * - a barrier exit waits for an entry by a thread of the set;
 * - a take waits for a semaphore that is zero, and all further posts depend on the set through
 *   synchronisation (a thread that would merely read another value can continue);
 * - a wake waits for a notification, all further notifications depend on the set, and all earlier
 *   ones were lost (sent before the wait) or consumed by others.
 *
 * Only minimal sets are reported.  By the last two rules, a single thread can be a deadlock, if no
 * other thread can wake it any more.
 *
 * cycle.c proposes sets of nodes.  This file chooses an instance of each node, and decides whether
 * these are a deadlock.  Sets without conditions and semaphores are first tried in recorded order.
 * If the closure of the other stops contains a stop, no thread can be stopped at that instance, so
 * it is replaced by a later one.  It need not be tried again, because closures only grow when other
 * stops are replaced by later instances.  If the recorded order fails, a short search is tried.
 * Sets that the short search does not decide are searched thoroughly after all others, so that a
 * few hard sets do not use up the whole budget.
 */
#include "predict/deadlock-int.h"

#include "base/alloc.h"
#include "base/compare.h"
#include "base/error.h"

#include <stdlib.h>
#include <string.h>

/* The largest number of steps for enumerating sets, which takes some seconds; set by hand. */
#define STEP_LIMIT 20000000
/* The number of failed searches after which a kind of deadlock is given up.  Set by hand. */
#define MAX_FAILURES 1024
#define FOUND UINT64_MAX
/* A short search may use 1/SHORT_WORK of the budget of a question.  Set by hand. */
#define SHORT_WORK 64
/* The largest number of stops in all sets that await a thorough search.  Set by hand, to limit
 * memory. */
#define OPEN_LIMIT 4096

/* Sets of instances that a short search did not decide. */
struct open {
	uint32_t *stops, *pick; /* `count` numbers for each set, one set after another */
	size_t length, stop_capacity, pick_capacity;
	uint32_t *counts;
	size_t sets, set_capacity;
};

struct decider {
	struct predictor *r;
	const struct nodes *g;
	uint32_t *stops; /* the chosen instance of each node */
	uint32_t *pick;
	uint8_t *in;	      /* memory for minimal() */
	struct trait *traits; /* memory for state_of() */
	uint32_t count;
	struct open open;
};

/* A supplier is a notification or post that could end a wait.  Returns true if the supplier `e`
 * cannot happen while the threads of the set are stopped.  If `subset` is true, only the threads
 * of the subset d->in are stopped.
 *
 * For the whole set, true means that no execution that the semantics allow can reach `e`.  For a
 * subset, it does not matter which values threads read.  Sound semantics exclude a thread that
 * reads another value, but such a thread still runs and may make `e` happen. */
static bool depends_on(const struct decider *d, uint32_t e, bool subset)
{
	const struct core *c = &d->r->c;
	const struct rows *rows = subset && c->rf ? &c->firm : &c->need;

	for (uint32_t i = 0; i < d->count; i++) {
		const struct event *v = &c->events[d->stops[i]];
		if ((!subset || d->in[i]) && core_at(c, rows, e, v->thread) > v->index)
			return true;
	}
	return false;
}

/* Returns true if the subset blocks every supplier that the whole set blocks. */
static bool suppliers_stuck(const struct decider *d, uint32_t stop)
{
	const struct core *c = &d->r->c;
	const struct event *v = &c->events[stop];
	const struct slots *s = stop_suppliers(c, v->kind);

	for (uint32_t i = s->first[v->object]; i < s->first[v->object + 1]; i++) {
		uint32_t stuck = s->slot[i].begin;
		RD_BISECT(stuck, s->slot[i].end, at, !depends_on(d, s->item[at], false));
		if (stuck < s->slot[i].end && !depends_on(d, s->item[stuck], true))
			return false;
	}
	return true;
}

static bool waits_for(const struct core *c, uint32_t stop, uint32_t other)
{
	const struct event *v = &c->events[stop], *o = &c->events[other];

	if (v->kind == EXEC_JOIN)
		return v->object == o->thread && o->index < c->lane_to[c->x->events[v->source].object];
	if (v->kind != EXEC_EXIT)
		return predict_stop_held_by(c, stop, other);
	for (uint32_t i = c->must.first[stop]; i < c->must.first[stop + 1]; i++) {
		const struct event *enter = &c->events[c->must.item[i]];
		if (enter->kind == EXEC_ENTER && enter->thread == o->thread && enter->index >= o->index)
			return true;
	}
	return false;
}

/* Returns true if the subset d->in keeps its member `i` blocked. */
static bool stuck(const struct decider *d, uint32_t i)
{
	RD_ASSERT(i < d->count);
	const struct core *c = &d->r->c;

	if (stop_needs_all(c->events[d->stops[i]].kind))
		return suppliers_stuck(d, d->stops[i]);
	for (uint32_t j = 0; j < d->count; j++)
		if (d->in[j] && waits_for(c, d->stops[i], d->stops[j]))
			return true;
	return false;
}

/* Removes members that are not blocked, until every remaining member is blocked.  Returns true if
 * any members remain. */
static bool shrink(struct decider *d)
{
	uint32_t left = 0;
	bool again = true;

	while (again) {
		again = false;
		left = 0;
		for (uint32_t i = 0; i < d->count; i++) {
			if (!d->in[i])
				continue;
			if (stuck(d, i)) {
				left++;
			} else {
				d->in[i] = 0;
				again = true;
			}
		}
	}
	return left;
}

/* Returns true if the set is blocked, and no proper subset of it is. */
static bool minimal(struct decider *d)
{
	memset(d->in, 1, d->count);
	shrink(d);
	if (memchr(d->in, 0, d->count))
		return false;
	for (uint32_t i = 0; i < d->count && d->count > 1; i++) {
		memset(d->in, 1, d->count);
		d->in[i] = 0;
		if (shrink(d))
			return false;
	}
	return true;
}

/* ---- results of earlier sets ---- */

struct trait {
	uint32_t site, object, kind;
};

RD_COMPARISON(compare_traits, struct trait, site, object, kind)

/* Returns a pointer to the state of this set of stops: the number of failed searches, or FOUND if
 * a search found the deadlock.  Sets with the same sites and objects count as one deadlock, even
 * if their threads differ. */
static uint64_t *state_of(const struct decider *d)
{
	RD_ASSERT(d->count > 0);
	struct predictor *r = d->r;
	const uint32_t *numbers = &d->traits->site;
	size_t length = d->count * sizeof *d->traits / sizeof *numbers;

	for (uint32_t i = 0; i < d->count; i++) {
		const struct node *n = &d->g->items[d->pick[i]];
		d->traits[i] = (struct trait){n->site, n->object, n->kind};
	}
	qsort(d->traits, d->count, sizeof *d->traits, compare_traits);
	return rd_umap_put(
		&r->cycles,
		rd_tuples_put(&r->identities, numbers, length, rd_tuple_hash(numbers, length), NULL), NULL);
}

static void record(struct decider *d, enum predict_tier tier)
{
	struct predict_result *out = d->r->out;
	const struct core *c = &d->r->c;

	RD_GROW(out->deadlocks, out->deadlock_capacity, out->deadlock_count + 1);
	struct predict_deadlock *l = &out->deadlocks[out->deadlock_count++];
	*l = (struct predict_deadlock){.count = d->count, .class = d->r->class, .tier = tier};
	l->stops = rd_xmalloc(d->count * sizeof *l->stops);
	for (uint32_t i = 0; i < d->count; i++)
		l->stops[i] = c->events[d->stops[i]].source;
	if (tier == PREDICT_EXACT)
		predict_witness_of_search(&d->r->s, &l->witness);
	else
		predict_witness_of_ideal(c, d->r->p, &l->witness);
	*state_of(d) = FOUND;
}

/* Returns true if the deadlock is known, or if its search failed so often that it was given up. */
static bool settled(const struct decider *d)
{
	uint64_t state = *state_of(d);
	return state == FOUND || (state >= MAX_FAILURES && d->r->o->max_tries != UINT32_MAX);
}

/* ---- deciding ---- */

/* A stop is the operation in which a thread of the deadlock waits.  A node consists of equal stops
 * of a thread, its instances, in program order.  A stop in the ideal (the set of events that have
 * happened) is replaced by the next instance of its node that is not in the ideal.  Returns false
 * if a node has no further instance. */
static bool advance_swallowed(struct decider *d, uint32_t *at)
{
	const struct core *c = &d->r->c;

	for (uint32_t i = 0; i < d->count; i++) {
		const struct node *n = &d->g->items[d->pick[i]];
		while (at[i] < n->count && core_in(c, d->r->p, n->stops[at[i]]))
			at[i]++;
		if (at[i] == n->count)
			return false;
		d->stops[i] = n->stops[at[i]];
	}
	return true;
}

static bool decide_recorded(struct decider *d)
{
	uint32_t *at = rd_xcalloc((size_t)d->count + 1, sizeof *at);
	bool found = false;

	memset(d->r->p, 0, d->r->c.threads * sizeof *d->r->p);
	while (!found && advance_swallowed(d, at)) {
		d->r->s.total -= d->r->s.cost * 16;
		found = predict_sp_reach(d->r, d->stops, d->count);
		if (found ? !minimal(d) : !core_sure(&d->r->c, d->r->p))
			break; /* later instances need more events */
	}
	free(at);
	return found && minimal(d);
}

static bool pairwise_possible(const struct decider *d)
{
	const struct core *c = &d->r->c;

	for (uint32_t i = 0; i < d->count; i++)
		for (uint32_t j = 0; j < d->count; j++) {
			const struct event *v = &c->events[d->stops[j]];
			const struct event *o = &c->events[d->stops[i]];
			if (i != j && o->index &&
			    core_at(c, &c->need, core_event(c, o->thread, o->index - 1), v->thread) >
				    v->index)
				return false;
		}
	return true;
}

static void keep_open(struct decider *d)
{
	struct open *o = &d->open;

	if (o->length + d->count > OPEN_LIMIT) {
		d->r->out->stats[d->r->class].unknown++;
		return;
	}
	RD_GROW(o->stops, o->stop_capacity, o->length + d->count);
	RD_GROW(o->pick, o->pick_capacity, o->length + d->count);
	RD_GROW(o->counts, o->set_capacity, o->sets + 1);
	memcpy(o->stops + o->length, d->stops, d->count * sizeof *o->stops);
	memcpy(o->pick + o->length, d->pick, d->count * sizeof *o->pick);
	o->length += d->count;
	o->counts[o->sets++] = d->count;
}

static enum answer search_shortly(struct decider *d)
{
	struct predict_search *s = &d->r->s;
	int64_t limit = s->work_limit;
	enum answer a;

	s->work_limit /= SHORT_WORK;
	a = search_run(s, d->stops, d->count);
	s->work_limit = limit;
	if (a == ANSWER_UNKNOWN)
		keep_open(d);
	return a;
}

/* Tries all combinations of instances, like counting with one digit for each node. */
static bool decide_exact(struct decider *d)
{
	uint32_t *at = rd_xcalloc((size_t)d->count + 1, sizeof *at), i;
	uint32_t tries = d->r->o->max_tries ? d->r->o->max_tries : 64;
	enum answer a = ANSWER_NO;

	while (a != ANSWER_YES && tries--) {
		for (i = 0; i < d->count; i++)
			d->stops[i] = d->g->items[d->pick[i]].stops[at[i]];
		if (pairwise_possible(d) && minimal(d))
			a = search_shortly(d);
		for (i = 0; i < d->count && ++at[i] == d->g->items[d->pick[i]].count; i++)
			at[i] = 0;
		if (i == d->count)
			break;
	}
	free(at);
	return a == ANSWER_YES;
}

static bool recorded_order_applies(const struct decider *d)
{
	for (uint32_t i = 0; i < d->count; i++)
		if (stop_needs_all(d->g->items[d->pick[i]].kind))
			return false;
	return true;
}

static void decide(void *context, const uint32_t *nodes, uint32_t count)
{
	RD_ASSERT(count > 0);
	struct decider *d = context;

	d->count = count;
	memcpy(d->pick, nodes, count * sizeof *nodes);
	if (settled(d))
		return;
	if (search_late(&d->r->s)) {
		d->r->out->stats[d->r->class].unknown++;
		return;
	}
	if (recorded_order_applies(d) && decide_recorded(d))
		record(d, PREDICT_RECORDED_ORDER);
	else if (!d->r->o->recorded_order_only && decide_exact(d))
		record(d, PREDICT_EXACT);
	else
		++*state_of(d);
}

/* Sets the limit of the thorough searches.  Together they may take as many steps as all short
 * searches took, or as many as one search may take (work_limit) if that is more. */
static void limit_thorough(struct predict_search *s, int64_t before)
{
	int64_t spent = before - s->total;
	int64_t most = spent > s->work_limit ? spent : s->work_limit;

	s->total = s->total < most ? s->total : most;
}

static void decide_open(struct decider *d)
{
	struct open *o = &d->open;
	size_t at = 0;

	for (size_t i = 0; i < o->sets; at += o->counts[i++]) {
		d->count = o->counts[i];
		memcpy(d->stops, o->stops + at, d->count * sizeof *d->stops);
		memcpy(d->pick, o->pick + at, d->count * sizeof *d->pick);
		if (settled(d))
			continue;
		enum answer a = search_run(&d->r->s, d->stops, d->count);
		d->r->out->stats[d->r->class].unknown += a == ANSWER_UNKNOWN;
		if (a == ANSWER_YES)
			record(d, PREDICT_EXACT);
	}
	RD_FREE(o->stops, o->pick, o->counts);
}

void predict_deadlocks(struct predictor *r)
{
	struct nodes g;
	struct decider d = {.r = r, .g = &g};
	size_t n = (size_t)r->c.threads + 1;

	predict_nodes_build(&g, &r->c);
	d.stops = rd_xcalloc(n, sizeof *d.stops);
	d.pick = rd_xcalloc(n, sizeof *d.pick);
	d.in = rd_xcalloc(n, 1);
	d.traits = rd_xcalloc(n, sizeof *d.traits);
	int64_t before = r->s.total;
	struct cycle_limit limit = {r->s.total < STEP_LIMIT ? (uint64_t)r->s.total : STEP_LIMIT,
				    &r->s.deadline_ns};
	if (!predict_cycles(&g, r->o->max_cycle, &limit, decide, &d))
		r->out->stats[r->class].unknown++;
	if (r->o->max_tries != UINT32_MAX)
		limit_thorough(&r->s, before);
	decide_open(&d);
	RD_FREE(d.stops, d.pick, d.in, d.traits);
	predict_nodes_release(&g);
}
