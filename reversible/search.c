// SPDX-License-Identifier: Apache-2.0
/*
 * Trying out and finding orders.  In: a skeleton with its clocks and a question.  Out: an order that
 * answers it with yes, or none.
 *
 * The search takes what thread u must have before it, and nothing else, in the recorded order.  Where an
 * operation of that cannot be done, because a section is open, a semaphore empty or a wait not notified, what
 * was there in the recorded run is taken too.  If in the end thread t has not gone too far, that is a
 * witness. Critical sections change places simply because the one is left out.  What needs two sections of
 * one lock in another order than recorded is left to the solver (solve.c).
 */
#include "reversible/search.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

void rev_witness_release(struct rev_witness *w)
{
	free(w->order);
	*w = (struct rev_witness){0};
}

/* ---- the machine ---- */

void rev_machine_init(struct rev_machine *m, const struct rev_run *run)
{
	size_t threads = run->thread_count + 1, objects = run->object_count + 1;

	*m = (struct rev_machine){.run = run,
				  .done = rd_xcalloc(threads, sizeof *m->done),
				  .holder = rd_xcalloc(objects, sizeof *m->holder),
				  .readers = rd_xcalloc(objects, sizeof *m->readers),
				  .value = rd_xcalloc(objects, sizeof *m->value),
				  .woken = rd_xcalloc(threads, sizeof *m->woken),
				  .waiting = rd_xcalloc(threads, sizeof *m->waiting),
				  .deadline = rd_xcalloc(threads, sizeof *m->deadline)};
}

void rev_machine_release(struct rev_machine *m)
{
	free(m->done);
	free(m->holder);
	free(m->readers);
	free(m->value);
	free(m->woken);
	free(m->waiting);
	free(m->deadline);
	rd_umap_release(&m->wakes);
}

void rev_machine_reset(struct rev_machine *m, const uint32_t *order, size_t count)
{
	size_t threads = m->run->thread_count, objects = m->run->object_count;

	memset(m->done, 0, threads * sizeof *m->done);
	memset(m->holder, 0, objects * sizeof *m->holder);
	memset(m->readers, 0, objects * sizeof *m->readers);
	memset(m->value, 0, objects * sizeof *m->value);
	memset(m->woken, 0, threads * sizeof *m->woken);
	memset(m->waiting, 0, threads * sizeof *m->waiting);
	rd_umap_release(&m->wakes);
	for (size_t i = 0; i < count; i++)
		if (m->run->ops[order[i]].kind == REV_WAKE && m->run->ops[order[i]].pair != REV_NONE)
			*rd_umap_put(&m->wakes, m->run->ops[order[i]].pair, NULL) = i;
}

static bool is_done(const struct rev_machine *m, uint32_t at)
{
	const struct rev_op *op = &m->run->ops[at];

	return m->done[op->thread] >= op->n;
}

static bool is_full(const struct rev_machine *m, const struct rev_use *use)
{
	for (size_t i = 0; i < use->count; i++)
		if (!is_done(m, use->enters[i]))
			return false;
	return true;
}

/* A section of a thread that reads is found in the list of the lock. */
static uint32_t find_reader(const struct rev_machine *m, uint32_t lock)
{
	const struct rev_object *o = &m->run->objects[lock];

	for (size_t i = 0; i < o->first_count; i++) {
		const struct rev_list *list = &o->first[i];
		size_t k = rev_list_until(m->run, list, m->done[list->thread]);
		const struct rev_op *last = k ? &m->run->ops[list->at[k - 1]] : NULL;

		if (last && last->flags & REV_SHARED && (last->link == REV_NONE || !is_done(m, last->link)))
			return list->at[k - 1];
	}
	return REV_NONE;
}

static bool can_acquire(const struct rev_machine *m, const struct rev_op *op, uint32_t *by)
{
	if (op->lock == REV_NONE)
		return true;
	if (m->holder[op->lock]) {
		*by = m->holder[op->lock] - 1;
		return false;
	}
	if (m->readers[op->lock] && !(op->flags & REV_SHARED)) {
		*by = find_reader(m, op->lock);
		return false;
	}
	return true;
}

bool rev_machine_can(const struct rev_machine *m, const struct rev_op *op, uint32_t *by)
{
	const struct rev_run *run = m->run;

	*by = REV_NONE;
	if (m->done[op->thread] + 1 != op->n)
		return false;
	switch (op->kind) {
	case REV_START:
	case REV_JOIN:
	case REV_ONCE_PASS:
	case REV_ONCE_RUN:
		return op->pair == REV_NONE || is_done(m, op->pair);
	case REV_EXIT:
		return is_full(m, &run->uses[op->link]);
	case REV_TAKE:
		return (int64_t)(m->value[op->object] + run->objects[op->object].value) > 0;
	case REV_ACQUIRE:
		return can_acquire(m, op, by);
	case REV_WAKE:
		return can_acquire(m, op, by) && (op->flags & REV_ALONE || m->woken[op->thread]);
	default:
		return true;
	}
}

static void acquire(struct rev_machine *m, const struct rev_op *op)
{
	if (op->lock == REV_NONE)
		return;
	if (op->flags & REV_SHARED)
		m->readers[op->lock]++;
	else
		m->holder[op->lock] = (uint32_t)(op - m->run->ops) + 1;
}

static void release(struct rev_machine *m, const struct rev_op *op)
{
	if (op->lock == REV_NONE)
		return;
	if (m->run->ops[op->link].flags & REV_SHARED)
		m->readers[op->lock]--;
	else
		m->holder[op->lock] = 0;
}

static void wait(struct rev_machine *m, const struct rev_op *op)
{
	uint32_t at = (uint32_t)(op - m->run->ops);
	const uint64_t *wake = rd_umap_get(&m->wakes, at);

	release(m, op);
	m->waiting[op->thread] = at + 1;
	m->woken[op->thread] = 0;
	m->deadline[op->thread] = wake ? *wake : UINT64_MAX;
	/* Who wakes for lack of time is not woken. */
	if (wake && m->run->threads[op->thread].count > op->n &&
	    rev_run_op(m->run, op->thread, op->n + 1)->flags & REV_ALONE)
		m->deadline[op->thread] = UINT64_MAX;
}

/* A signal wakes the thread that is going to wake first. */
static void notify(struct rev_machine *m, const struct rev_op *op)
{
	uint32_t best = REV_NONE;

	for (uint32_t t = 0; t < m->run->thread_count; t++) {
		if (!m->waiting[t] || m->woken[t] || m->run->ops[m->waiting[t] - 1].object != op->object)
			continue;
		if (op->flags & REV_ALL)
			m->woken[t] = 1;
		else if (best == REV_NONE || m->deadline[t] < m->deadline[best])
			best = t;
	}
	if (best != REV_NONE)
		m->woken[best] = 1;
}

void rev_machine_do(struct rev_machine *m, const struct rev_op *op)
{
	switch (op->kind) {
	case REV_ACQUIRE:
		acquire(m, op);
		break;
	case REV_RELEASE:
		release(m, op);
		break;
	case REV_WAIT:
		wait(m, op);
		break;
	case REV_WAKE:
		m->waiting[op->thread] = 0;
		acquire(m, op);
		break;
	case REV_NOTIFY:
		notify(m, op);
		break;
	case REV_POST:
		m->value[op->object]++;
		break;
	case REV_TAKE:
		m->value[op->object]--;
		break;
	default:
		break;
	}
	m->done[op->thread] = op->n;
}

bool rev_machine_accepts(struct rev_machine *m, const uint32_t *order, size_t count)
{
	uint32_t by;

	rev_machine_reset(m, order, count);
	for (size_t i = 0; i < count; i++) {
		const struct rev_op *op = &m->run->ops[order[i]];

		if (!rev_machine_can(m, op, &by))
			return false;
		rev_machine_do(m, op);
	}
	return true;
}

/* ---- the search ---- */

struct search {
	struct rev_machine *m;
	const struct rev_question *q;
	uint32_t *need; /* by thread: operations that the witness has */
	uint32_t last;	/* no operation behind this position is needed */
	bool grown, failed;
};

static void add(struct search *s, uint32_t at)
{
	const struct rev_run *run = s->m->run;
	const struct rev_op *op;

	if (at == REV_NONE) {
		s->failed = true;
		return;
	}
	op = &run->ops[at];
	for (uint32_t t = 0; t < run->thread_count; t++) {
		uint32_t n = rev_order_get(run, op, t);

		if (n <= s->need[t])
			continue;
		s->need[t] = n;
		s->grown = true;
		if (run->threads[t].ops[n - 1] > s->last)
			s->last = run->threads[t].ops[n - 1];
	}
	s->failed |= s->need[s->q->t] > s->q->s || (s->q->meet && s->need[s->q->u] > s->q->r);
}

/* The first post of the recorded order that is not in yet. */
static void add_post(struct search *s, uint32_t object)
{
	const struct rev_object *o = &s->m->run->objects[object];
	uint32_t best = REV_NONE;

	for (size_t i = 0; i < o->first_count; i++) {
		const struct rev_list *list = &o->first[i];
		size_t k = rev_list_until(s->m->run, list, s->need[list->thread]);

		if (k < list->count && list->at[k] < best)
			best = list->at[k];
	}
	add(s, best);
}

static void unblock(struct search *s, const struct rev_op *op, uint32_t by)
{
	const struct rev_run *run = s->m->run;

	if (by != REV_NONE) {
		add(s, run->ops[by].link);
	} else if (op->kind == REV_TAKE) {
		add_post(s, op->object);
	} else if (op->kind == REV_WAKE && op->cause != REV_NONE) {
		const struct rev_op *cause = &run->ops[op->cause];

		s->failed |= s->need[cause->thread] >= cause->n;
		add(s, op->cause);
	} else {
		s->failed = true;
	}
}

/* Once through what is needed, in the recorded order. */
static void pass(struct search *s, struct rev_witness *w)
{
	const struct rev_run *run = s->m->run;
	uint32_t by;

	s->grown = false;
	w->count = 0;
	for (uint32_t i = 0; i <= s->last && i < run->op_count; i++)
		if (run->ops[i].n <= s->need[run->ops[i].thread]) {
			RD_GROW(w->order, w->capacity, w->count + 1);
			w->order[w->count++] = i;
		}
	rev_machine_reset(s->m, w->order, w->count);
	for (size_t i = 0; i < w->count && !s->failed; i++) {
		const struct rev_op *op = &run->ops[w->order[i]];

		if (!rev_machine_can(s->m, op, &by)) {
			unblock(s, op, by);
			s->failed |= !s->grown;
		}
		rev_machine_do(s->m, op);
	}
}

bool rev_search(struct rev_machine *m, const struct rev_question *q, struct rev_witness *w)
{
	struct search s = {.m = m, .q = q, .need = rd_xcalloc(m->run->thread_count + 1, sizeof *s.need)};

	if (q->r > m->run->threads[q->u].count || (q->meet && q->s > m->run->threads[q->t].count))
		s.failed = true;
	if (!s.failed && q->r)
		add(&s, m->run->threads[q->u].ops[q->r - 1]);
	if (!s.failed && q->meet && q->s)
		add(&s, m->run->threads[q->t].ops[q->s - 1]);
	do
		if (!s.failed)
			pass(&s, w);
	while (s.grown && !s.failed);
	free(s.need);
	return !s.failed && rev_machine_accepts(m, w->order, w->count);
}
