/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A witness comes in, a plan goes out.
 *
 * The witness is laid out as a line of events (clash.h) and the clashes that the
 * program does not keep in order by itself are collected.  Naming the two operations
 * of each is enough; fewer do.  An operation stands for all before it in its
 * thread as the first of a clash, and for all behind it as the second.  So the
 * first of a clash may be left out if the next named one of its thread still comes
 * before the second, and the other way round.  Short plans are then tried without
 * each operation in turn, so that none is left that could be spared.
 *
 * A thread must be stopped behind its part of the witness if what it did next in
 * the recording touches anything that the witness does.
 */
#include "predict/plan.h"

#include "base/alloc.h"
#include "predict/clash.h"

#include <stdlib.h>
#include <string.h>

/* Steps that may be spent on trying a plan without one of its operations. */
#define TRIES_MAX 4000000

static void *filled(size_t n)
{
	void *p = rd_xmalloc((n + 1) * sizeof(uint32_t));
	memset(p, 0xff, (n + 1) * sizeof(uint32_t));
	return p;
}

/* ---- the line ---- */

struct liner {
	struct line *l;
	const struct exec *x;
	size_t capacity;
	uint32_t *next; /* by event: the next one of its thread */
	uint32_t *at;	/* by thread: its next event */
};

static void run_to(struct liner *r, uint32_t thread, uint32_t last);

static void run_event(struct liner *r, uint32_t i)
{
	const struct exec_event *e = &r->x->events[i];

	if (e->kind == EXEC_JOIN && i)
		run_to(r, e->object, i - 1); /* what nobody else cares for is not in the witness */
	r->at[e->thread] = r->next[i];
	RD_GROW(r->l->events, r->capacity, r->l->count + 1);
	r->l->events[r->l->count++] = i;
}

/* Runs the thread up to and including event `last`. */
static void run_to(struct liner *r, uint32_t thread, uint32_t last)
{
	while (r->at[thread] != EXEC_NONE && r->at[thread] <= last)
		run_event(r, r->at[thread]);
}

static void lay_out(struct liner *r, const struct predict_witness *w)
{
	const struct exec *x = r->x;

	r->next = filled(x->count);
	r->at = filled(x->threads);
	for (uint32_t i = (uint32_t)x->count; i-- > 0;) {
		r->next[i] = r->at[x->events[i].thread];
		r->at[x->events[i].thread] = i;
	}
	for (size_t i = 0; w->order && i < w->length; i++)
		run_to(r, x->events[w->order[i]].thread, w->order[i]);
	for (uint32_t i = 0; !w->order && i < x->count; i++) {
		uint32_t done = w->done[x->events[i].thread];
		if (done != EXEC_NONE && i <= done && r->at[x->events[i].thread] == i)
			run_event(r, i);
	}
}

/* Operations are the synchronisation events but parts of others and wakes, which are
 * one operation with the acquisition behind them. */
static void number_ops(struct line *l)
{
	const struct exec *x = l->x;
	uint32_t *wake = filled(x->threads), *length = rd_xcalloc((size_t)x->threads + 1, sizeof *length);

	l->thread_of = filled(x->threads);
	l->ops = rd_xmalloc((l->count + 1) * sizeof *l->ops);
	l->index = rd_xmalloc((l->count + 1) * sizeof *l->index);
	l->op_thread = rd_xmalloc((l->count + 1) * sizeof *l->op_thread);
	l->wake = rd_xmalloc((l->count + 1) * sizeof *l->wake);
	for (size_t i = 0; i < l->count; i++) {
		const struct exec_event *e = &x->events[l->events[i]];
		uint32_t *number = &l->thread_of[e->thread];
		*number = *number == NO_OP ? l->threads++ : *number;
		if (e->kind == EXEC_WAKE)
			wake[e->thread] = l->events[i];
		if (exec_is_access(e->kind) || e->kind == EXEC_WAKE || e->flags & EXEC_PART)
			continue;
		l->ops[l->op_count] = l->events[i];
		l->op_thread[l->op_count] = *number;
		l->index[l->op_count] = ++length[*number];
		l->wake[l->op_count++] = wake[e->thread];
		wake[e->thread] = NO_OP;
	}
	l->first = rd_xcalloc((size_t)l->threads + 1, sizeof *l->first);
	for (uint32_t t = 0; t < l->threads; t++)
		l->first[t + 1] = l->first[t] + length[t];
	l->by_thread = rd_xmalloc(((size_t)l->op_count + 1) * sizeof *l->by_thread);
	for (uint32_t i = 0; i < l->op_count; i++)
		l->by_thread[l->first[l->op_thread[i]] + l->index[i] - 1] = i;
	free(wake);
	free(length);
}

static void line_release(struct line *l)
{
	RD_FREE(l->events, l->ops, l->index, l->op_thread, l->wake, l->thread_of, l->first, l->by_thread);
}

/* ---- naming few operations ---- */

struct thinning {
	const struct line *l;
	const struct clashes *c;
	uint8_t *listed;
	uint32_t *next, *previous; /* by operation: the listed ones of its thread */
	uint32_t *stands_for;	   /* the operation that took over as the first of clashes; itself */
	uint32_t *nearest;	   /* by first operation: the earliest second one, NO_OP: none */
	uint32_t *latest;	   /* by second operation, 1 + the latest first one; 0: none */
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
	while (t->stands_for[op] != op)
		op = t->stands_for[op] = t->stands_for[t->stands_for[op]];
	return op;
}

/* Lets the next listed operation of the thread be the first of clashes where it
 * still comes in time. */
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
		t->stands_for[op] = next;
	}
	for (uint32_t op = 0; op < t->l->op_count; op++)
		if (t->nearest[op] == NO_OP && !t->latest[op] && !t->c->forced[op])
			t->listed[op] = 0;
}

/* Lets the listed operation before be the second of clashes where it still comes
 * late enough. */
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

	t->next = filled(n);
	t->previous = filled(n);
	t->nearest = filled(n);
	t->latest = rd_xcalloc(n + 1, sizeof *t->latest);
	t->stands_for = rd_xmalloc((n + 1) * sizeof *t->stands_for);
	for (uint32_t i = 0; i < n; i++)
		t->stands_for[i] = i;
	link_listed(t);
	pass_firsts_on(t);
	link_listed(t);
	pass_seconds_back(t);
	RD_FREE(t->next, t->previous, t->nearest, t->latest, t->stands_for);
}

/* Leaves out what the others imply; for plans that are short enough. */
static void try_without(struct thinning *t)
{
	size_t listed = 0;

	for (uint32_t i = 0; i < t->l->op_count; i++)
		listed += t->listed[i];
	if (listed * (t->l->count + 1) > TRIES_MAX)
		return;
	for (uint32_t i = t->l->op_count; i-- > 0;) {
		if (!t->listed[i] || t->c->forced[i])
			continue;
		t->listed[i] = 0;
		t->listed[i] = !predict_clashes_implied(t->l, t->listed);
	}
}

static void list_ops(const struct line *l, struct predict_plan *plan)
{
	struct clashes c = {0};
	struct thinning t = {.l = l, .c = &c};

	predict_clashes(l, &c);
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

/* Who uses what: the only thread, or several. */
enum { NOBODY = 0, SEVERAL = UINT32_MAX };

struct uses {
	uint32_t *variables, *locks, *conds, *sems, *barriers, *onces; /* 1 + the thread */
};

static uint32_t *use_of(const struct uses *u, const struct exec_event *e)
{
	switch (e->kind) {
	case EXEC_READ:
	case EXEC_WRITE:
	case EXEC_UPDATE:
		return &u->variables[e->object];
	case EXEC_LOCK:
	case EXEC_RDLOCK:
	case EXEC_WRLOCK:
	case EXEC_UNLOCK:
	case EXEC_BUSY:
		return &u->locks[e->object];
	case EXEC_WAIT:
	case EXEC_WAKE:
	case EXEC_SIGNAL:
	case EXEC_BROADCAST:
		return &u->conds[e->object];
	case EXEC_POST:
	case EXEC_TAKE:
		return &u->sems[e->object];
	case EXEC_ENTER:
	case EXEC_EXIT:
		return &u->barriers[e->aux < EXEC_MATCH ? e->aux : e->object];
	case EXEC_ONCE_RUN:
	case EXEC_ONCE_PASS:
		return &u->onces[e->object];
	default:
		return NULL;
	}
}

static void use(const struct uses *u, const struct exec_event *e)
{
	uint32_t *by = use_of(u, e), own = 1u + e->thread;

	if (by)
		*by = *by == NOBODY || *by == own ? own : SEVERAL;
	if (e->kind == EXEC_WAIT)
		u->locks[e->aux] = u->locks[e->aux] == NOBODY || u->locks[e->aux] == own ? own : SEVERAL;
}

static bool used_by_others(const struct uses *u, const struct exec_event *e)
{
	const uint32_t *by = use_of(u, e);
	uint32_t own = 1u + e->thread;

	if (e->kind == EXEC_WAIT && u->locks[e->aux] != NOBODY && u->locks[e->aux] != own)
		return true;
	return by && *by != NOBODY && *by != own;
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

/* Threads that have more to do than the witness says, and touch what it touches.
 * A thread is not stopped that cannot begin because its creator is.  The initial
 * thread is: it may end the program. */
static void set_limits(const struct liner *r, const uint32_t *targets, uint32_t count,
		       struct predict_plan *plan)
{
	const struct exec *x = r->x;
	uint8_t *stands = rd_xcalloc((size_t)x->threads + 1, 1),
		*held = rd_xcalloc((size_t)x->threads + 1, 1);
	struct uses u;

	uses_init(&u, x);
	for (size_t i = 0; i < r->l->count; i++)
		use(&u, &x->events[r->l->events[i]]);
	for (uint32_t i = 0; i < count; i++) {
		use(&u, &x->events[targets[i]]);
		stands[x->events[targets[i]].thread] = 1;
	}
	plan->limited[0] = !stands[0] && r->at[0] != EXEC_NONE;
	for (uint32_t i = 0; i < x->count; i++) {
		const struct exec_event *e = &x->events[i];
		bool left = r->at[e->thread] != EXEC_NONE && i >= r->at[e->thread];
		if (left && !stands[e->thread])
			plan->limited[e->thread] |= used_by_others(&u, e);
	}
	for (uint32_t i = 0; i < x->count; i++) {
		const struct exec_event *e = &x->events[i];
		bool left = r->at[e->thread] != EXEC_NONE && i >= r->at[e->thread];
		if (!left || e->kind != EXEC_FORK)
			continue;
		if (stands[e->thread] || plan->limited[e->thread] || held[e->thread]) {
			held[e->object] = 1;
			plan->limited[e->object] = 0;
		}
	}
	free(stands);
	free(held);
	uses_release(&u);
}

void predict_plan_make(const struct exec *x, const struct predict_witness *w, const uint32_t *targets,
		       uint32_t count, struct predict_plan *plan)
{
	struct line l = {.x = x};
	struct liner r = {.l = &l, .x = x};

	*plan = (struct predict_plan){0};
	plan->limited = rd_xcalloc((size_t)x->threads + 1, 1);
	lay_out(&r, w);
	for (uint32_t i = 0; i < count; i++)
		if (targets[i])
			run_to(&r, x->events[targets[i]].thread, targets[i] - 1);
	number_ops(&l);
	plan->operations = l.op_count;
	list_ops(&l, plan);
	set_limits(&r, targets, count, plan);
	free(r.next);
	free(r.at);
	line_release(&l);
}

void predict_plan_release(struct predict_plan *plan)
{
	free(plan->events);
	free(plan->limited);
	*plan = (struct predict_plan){0};
}
