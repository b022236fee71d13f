/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns a witness into a plan.
 *
 * The witness is laid out as a line of events (line-int.h).  Then the clashes (clash.c) whose order
 * the program does not enforce by itself are collected.  Naming both operations of each clash would
 * be enough, but fewer will do.  Ordering the first operation of a clash also orders all earlier
 * operations of its thread, and ordering the second one also orders all later ones.  So the first
 * operation may be left out if the next named operation of its thread still comes before the
 * second, and vice versa.  In short plans, each operation is then left out on trial, so that none
 * is superfluous.
 *
 * A thread must be stopped after its part of the witness if its next recorded operations touch
 * anything that the witness uses.
 */
#include "predict/plan-int.h"

#include "base/alloc.h"
#include "base/error.h"
#include "predict/clash-int.h"

#include <stdlib.h>
#include <string.h>

/* The maximum number of steps that try_without() may take to find superfluous operations of a
 * plan.  Set by hand: this many steps take a fraction of a second. */
#define TRIES_MAX 4000000

/* --- choosing few operations to name --- */

struct thinning {
	const struct event_line *l;
	const struct clashes *c;
	uint8_t *listed;
	/* For each operation, the next and the previous listed operation of its thread. */
	uint32_t *next, *previous;
	/* For each operation, the operation that replaced it as the first operation of its
	 * clashes.  If it was not replaced, this is the operation itself. */
	uint32_t *replaced_by;
	/* For each operation, the earliest operation that it must precede because of a clash, or
	 * NO_OP if there is none. */
	uint32_t *nearest;
	/* For each operation, 1 + the latest operation that must precede it because of a clash, or
	 * 0 if there is none. */
	uint32_t *latest;
};

static void link_listed(struct thinning *t)
{
	for (uint32_t thread = 0; thread < t->l->threads; thread++) {
		uint32_t last = NO_OP;
		for (uint32_t i = t->l->first[thread]; i < t->l->first[thread + 1]; i++) {
			uint32_t op = t->l->by_thread[i];
			if (!t->listed[op])
				continue;
			t->previous[op] = last;
			if (last != NO_OP)
				t->next[last] = op;
			last = op;
		}
		if (last != NO_OP)
			t->next[last] = NO_OP;
	}
}

static uint32_t first_of(struct thinning *t, uint32_t op)
{
	RD_ASSERT(op < t->l->op_count);
	while (t->replaced_by[op] != op)
		op = t->replaced_by[op] = t->replaced_by[t->replaced_by[op]];
	return op;
}

/* A clash is a pair of operations whose order the plan must keep.  Replaces the first operation of
 * a clash by the next listed operation of its thread, if that operation still comes before the
 * second one. */
static void pass_firsts_on(struct thinning *t)
{
	for (size_t i = 0; i < t->c->count; i++) {
		const struct clash *c = &t->c->items[i];
		t->nearest[c->from] = c->to < t->nearest[c->from] ? c->to : t->nearest[c->from];
		t->latest[c->to] = 1;
	}
	for (uint32_t op = 0; op < t->l->op_count; op++) {
		uint32_t next = t->listed[op] ? t->next[op] : NO_OP;
		if (next == NO_OP || t->nearest[op] == NO_OP || next >= t->nearest[op])
			continue;
		t->nearest[next] = t->nearest[op] < t->nearest[next] ? t->nearest[op] : t->nearest[next];
		t->nearest[op] = NO_OP;
		t->replaced_by[op] = next;
	}
	for (uint32_t op = 0; op < t->l->op_count; op++)
		if (t->nearest[op] == NO_OP && !t->latest[op] && !t->c->forced[op])
			t->listed[op] = 0;
}

/* Replaces the second operation of a clash by the previous listed operation of its thread, if that
 * operation still comes after the first one. */
static void pass_seconds_back(struct thinning *t)
{
	memset(t->latest, 0, t->l->op_count * sizeof *t->latest);
	for (size_t i = 0; i < t->c->count; i++) {
		uint32_t from = 1 + first_of(t, t->c->items[i].from), *latest = &t->latest[t->c->items[i].to];
		*latest = from > *latest ? from : *latest;
	}
	for (uint32_t op = t->l->op_count; op-- > 0;) {
		uint32_t previous = t->listed[op] ? t->previous[op] : NO_OP;
		if (previous == NO_OP || !t->latest[op] || t->latest[op] > previous)
			continue;
		t->latest[previous] =
			t->latest[op] > t->latest[previous] ? t->latest[op] : t->latest[previous];
		t->latest[op] = 0;
		if (t->nearest[op] == NO_OP && !t->c->forced[op])
			t->listed[op] = 0;
	}
}

static void thin_out(struct thinning *t)
{
	size_t n = t->l->op_count;

	t->next = predict_unset(n);
	t->previous = predict_unset(n);
	t->nearest = predict_unset(n);
	t->latest = rd_xcalloc(n + 1, sizeof *t->latest);
	t->replaced_by = rd_xmalloc((n + 1) * sizeof *t->replaced_by);
	for (uint32_t i = 0; i < n; i++)
		t->replaced_by[i] = i;
	link_listed(t);
	pass_firsts_on(t);
	link_listed(t);
	pass_seconds_back(t);
	RD_FREE(t->next, t->previous, t->nearest, t->latest, t->replaced_by);
}

/* Removes operations from the plan whose order follows from the other operations.  Does nothing if
 * the plan is so long that this would take too many steps. */
static void try_without(struct thinning *t)
{
	size_t listed = 0;

	for (uint32_t i = 0; i < t->l->op_count; i++)
		listed += t->listed[i];
	if (listed * (t->l->step_count + 1 + t->l->x->locks / 16) > TRIES_MAX)
		return;
	for (uint32_t i = t->l->op_count; i-- > 0;) {
		if (!t->listed[i] || t->c->forced[i])
			continue;
		t->listed[i] = 0;
		t->listed[i] = !predict_clashes_implied(t->l, t->listed);
	}
}

/* In a deadlock, a thread may wait forever for a semaphore.  Earlier takes of that semaphore must
 * come before this wait.  For each thread that is not part of the deadlock, makes the plan name
 * the last such take. */
static void force_takes(const struct event_line *l, const uint32_t *targets, uint32_t count,
			struct clashes *c)
{
	const struct exec_event *events = l->x->events;
	uint32_t *last = predict_unset(l->x->threads);

	for (uint32_t i = 0; i < count; i++) {
		const struct exec_event *stop = &events[targets[i]];

		memset(last, 0xff, l->x->threads * sizeof *last);
		for (uint32_t op = 0; stop->kind == EXEC_TAKE && op < l->op_count; op++)
			if (events[l->ops[op]].kind == EXEC_TAKE && events[l->ops[op]].object == stop->object)
				last[events[l->ops[op]].thread] = op;
		for (uint32_t k = 0; k < count; k++)
			last[events[targets[k]].thread] = NO_OP;
		for (uint32_t t = 0; t < l->x->threads; t++)
			if (last[t] != NO_OP)
				c->forced[last[t]] = 1;
	}
	free(last);
}

static void list_ops(const struct event_line *l, const uint32_t *targets, uint32_t count,
		     struct predict_plan *plan)
{
	struct clashes c = {0};
	struct thinning t = {.l = l, .c = &c};

	predict_clashes(l, &c);
	force_takes(l, targets, count, &c);
	t.listed = rd_xcalloc((size_t)l->op_count + 1, 1);
	for (size_t i = 0; i < c.count; i++)
		t.listed[c.items[i].from] = t.listed[c.items[i].to] = 1;
	for (uint32_t i = 0; i < l->op_count; i++)
		t.listed[i] |= c.forced[i];
	thin_out(&t);
	try_without(&t);
	plan->events = rd_xmalloc(((size_t)l->op_count + 1) * sizeof *plan->events);
	for (uint32_t i = 0; i < l->op_count; i++)
		if (t.listed[i])
			plan->events[plan->count++] = l->ops[i];
	RD_FREE(t.listed, c.items, c.forced);
}

/* ---- limits ---- */

/* Special values in struct uses: no thread uses the object, or several threads use it.  Any other
 * value is 1 + the number of the only thread that uses the object. */
enum { NO_THREAD = 0, SEVERAL = UINT32_MAX };

struct uses {
	/* For each object, 1 + the thread that uses it, or NO_THREAD or SEVERAL. */
	uint32_t *variables, *locks, *conds, *sems, *barriers, *onces;
};

static uint32_t *use_of(const struct uses *u, const struct exec_event *e)
{
	switch (e->kind) {
	case EXEC_READ:
	case EXEC_WRITE:
	case EXEC_UPDATE: return &u->variables[e->object];
	case EXEC_LOCK:
	case EXEC_RDLOCK:
	case EXEC_WRLOCK:
	case EXEC_UNLOCK:
	case EXEC_BUSY: return &u->locks[e->object];
	case EXEC_WAIT:
	case EXEC_WAKE:
	case EXEC_SIGNAL:
	case EXEC_BROADCAST: return &u->conds[e->object];
	case EXEC_POST:
	case EXEC_TAKE: return &u->sems[e->object];
	case EXEC_ENTER:
	case EXEC_EXIT: return &u->barriers[e->aux < EXEC_MATCH ? e->aux : e->object];
	case EXEC_ONCE_RUN:
	case EXEC_ONCE_PASS: return &u->onces[e->object];
	default: return NULL;
	}
}

static void use(const struct uses *u, const struct exec_event *e)
{
	uint32_t *by = use_of(u, e), own = 1u + e->thread;

	if (by)
		*by = *by == NO_THREAD || *by == own ? own : SEVERAL;
	if (e->kind == EXEC_WAIT)
		u->locks[e->aux] = u->locks[e->aux] == NO_THREAD || u->locks[e->aux] == own ? own : SEVERAL;
}

static bool used_by_others(const struct uses *u, const struct exec_event *e)
{
	const uint32_t *by = use_of(u, e);
	uint32_t own = 1u + e->thread;

	if (e->kind == EXEC_WAIT && u->locks[e->aux] != NO_THREAD && u->locks[e->aux] != own)
		return true;
	return by && *by != NO_THREAD && *by != own;
}

static void uses_init(struct uses *u, const struct exec *x)
{
	u->variables = rd_xcalloc((size_t)x->variables + 1, sizeof *u->variables);
	u->locks = rd_xcalloc((size_t)x->locks + 1, sizeof *u->locks);
	u->conds = rd_xcalloc((size_t)x->conds + 1, sizeof *u->conds);
	u->sems = rd_xcalloc((size_t)x->sems + 1, sizeof *u->sems);
	u->barriers = rd_xcalloc((size_t)x->barriers + 1, sizeof *u->barriers);
	u->onces = rd_xcalloc((size_t)x->onces + 1, sizeof *u->onces);
}

static void uses_release(struct uses *u)
{
	RD_FREE(u->variables, u->locks, u->conds, u->sems, u->barriers, u->onces);
}

/* Limits each thread that continues after its part of the witness and would then touch an object
 * of the witness.  The limit is the last operation that the thread may do.  The initial thread
 * gets a limit even if it touches no such object, because it may end the program.  A thread that
 * cannot begin because its creator is stopped needs no limit. */
static void limit_threads(const struct event_line *l, const struct uses *u, const uint8_t *stopped,
			  struct predict_plan *plan)
{
	const struct lines *s = l->of;

	plan->limited[0] = !stopped[0] && l->at[0] != NO_OP;
	for (uint32_t t = 0; t < l->x->threads; t++)
		for (uint32_t i = l->at[t]; i != NO_OP && !stopped[t] && !plan->limited[t]; i = s->next[i])
			plan->limited[t] = used_by_others(u, &l->x->events[s->kept[i]]);
}

static void spare_unborn(const struct event_line *l, const uint8_t *stopped, struct predict_plan *plan)
{
	const struct lines *s = l->of;
	uint8_t *stuck = rd_xcalloc((size_t)l->x->threads + 1, 1);

	for (size_t i = 0; i < s->fork_count; i++) {
		const struct exec_event *e = &l->x->events[s->forks[i]];
		if (l->at[e->thread] == NO_OP || s->forks[i] < s->kept[l->at[e->thread]])
			continue;
		if (stopped[e->thread] || plan->limited[e->thread] || stuck[e->thread]) {
			stuck[e->object] = 1;
			plan->limited[e->object] = 0;
		}
	}
	free(stuck);
}

static void set_limits(const struct event_line *l, const uint32_t *targets, uint32_t count,
		       struct predict_plan *plan)
{
	const struct exec *x = l->x;
	uint8_t *stopped = rd_xcalloc((size_t)x->threads + 1, 1);
	struct uses u;

	uses_init(&u, x);
	for (size_t i = 0; i < l->count; i++)
		use(&u, &x->events[l->events[i]]);
	for (uint32_t i = 0; i < count; i++) {
		use(&u, &x->events[targets[i]]);
		stopped[x->events[targets[i]].thread] = 1;
	}
	limit_threads(l, &u, stopped, plan);
	spare_unborn(l, stopped, plan);
	free(stopped);
	uses_release(&u);
}

void predict_plan_make(struct lines *of, const struct predict_witness *w, const uint32_t *targets,
		       uint32_t count, struct predict_plan *plan)
{
	RD_ASSERT(count > 0);
	struct event_line l;

	*plan = (struct predict_plan){0};
	plan->limited = rd_xcalloc((size_t)of->x->threads + 1, 1);
	predict_line_make(&l, of, w, targets, count);
	plan->operations = l.op_count;
	list_ops(&l, targets, count, plan);
	set_limits(&l, targets, count, plan);
	predict_line_release(&l);
}

void predict_plan_release(struct predict_plan *plan)
{
	free(plan->events);
	free(plan->limited);
	*plan = (struct predict_plan){0};
}
