// SPDX-License-Identifier: Apache-2.0
/*
 * Checks and finds orders.  Given a skeleton with its clocks, it looks for an order in which thread
 * u reaches a segment before thread t leaves another one.  The result is such an order, or nothing.
 *
 * The search includes only what thread u needs, in the recorded order.  An operation may be blocked
 * because a section is open, a semaphore is zero or a wait is not notified.  Then the search adds
 * an operation that unblocks it: the end of the section, the next post in the recorded order, or
 * the notification of the recorded run.  If thread t has not left its segment at the end, the
 * result is a witness.  A critical section that is not needed is left out, which lets a later one
 * come first.  Questions that need two sections of one lock in reverse order are left to the solver
 * (solve.c).
 */
#include "reversible/search.h"

#include "base/alloc.h"
#include "base/error.h"

#include <stdlib.h>
#include <string.h>

void rev_witness_release(struct rev_witness *w)
{
	free(w->order);
	*w = (struct rev_witness){0};
}

bool rev_can(const struct rev_run *run, const struct machine *m, uint32_t at)
{
	RD_ASSERT(at < run->op_count);
	const struct rev_op *op = &run->ops[at];

	return rev_done(run, m, op->thread) + 1 == op->n && !machine_may(m, at);
}

bool rev_accepts(const struct rev_run *run, struct machine *m, const uint32_t *order, size_t count)
{
	machine_reset(m, order, count);
	for (size_t i = 0; i < count; i++) {
		if (!rev_can(run, m, order[i]))
			return false;
		machine_do(m, order[i]);
	}
	return true;
}

/* ---- the search ---- */

struct rev_search_state {
	const struct rev_run *run;
	struct machine *m;
	const struct rev_question *q;
	uint32_t *need; /* how many operations of each thread the witness contains */
	uint32_t last;	/* index in rev_run.ops after which no operation is needed */
	bool grown, failed;
};

static void add(struct rev_search_state *s, uint32_t at)
{
	const struct rev_run *run = s->run;
	const struct rev_op *op;

	if (at == REV_NONE) {
		s->failed = true;
		return;
	}
	RD_ASSERT(at < run->op_count);
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

/* Adds the first post, in recorded order, that is not yet included. */
static void add_post(struct rev_search_state *s, uint32_t object)
{
	const struct slots *posts = &s->run->posts;
	uint32_t best = REV_NONE;

	for (uint32_t i = posts->first[object]; i < posts->first[object + 1]; i++) {
		const struct slot *slot = &posts->slot[i];
		uint32_t next = slot->begin + slots_below(posts, slot, s->need[slot->thread]);

		if (next < slot->end && posts->item[next] < best)
			best = posts->item[next];
	}
	add(s, best);
}

static void unblock(struct rev_search_state *s, const struct rev_op *op, uint32_t by)
{
	const struct rev_run *run = s->run;

	if (by != REV_NONE) {
		add(s, run->ops[by].link);
	} else if (op->kind == EXEC_TAKE) {
		add_post(s, op->object);
	} else if (op->kind == EXEC_WAKE && op->cause != REV_NONE) {
		const struct rev_op *cause = &run->ops[op->cause];

		s->failed |= s->need[cause->thread] >= cause->n;
		add(s, op->cause);
	} else {
		s->failed = true;
	}
}

/* Executes the needed operations once, in the recorded order. */
static void pass(struct rev_search_state *s, struct rev_witness *w)
{
	const struct rev_run *run = s->run;
	s->grown = false;
	w->count = 0;
	for (uint32_t i = 0; i <= s->last && i < run->op_count; i++)
		if (run->ops[i].n <= s->need[run->ops[i].thread]) {
			RD_GROW(w->order, w->capacity, w->count + 1);
			w->order[w->count++] = i;
		}
	machine_reset(s->m, w->order, w->count);
	for (size_t i = 0; i < w->count && !s->failed; i++) {
		uint32_t at = w->order[i];

		if (!rev_can(run, s->m, at)) {
			unblock(s, &run->ops[at], machine_blocker(s->m, at));
			s->failed |= !s->grown;
		}
		machine_do(s->m, at);
	}
}

bool rev_search(const struct rev_run *run, struct machine *m, const struct rev_question *q,
		struct rev_witness *w)
{
	struct rev_search_state s = {
		.run = run, .m = m, .q = q, .need = rd_xcalloc(run->thread_count + 1, sizeof *s.need)};

	if (q->r > run->threads[q->u].count || (q->meet && q->s > run->threads[q->t].count))
		s.failed = true;
	if (!s.failed && q->r)
		add(&s, run->threads[q->u].ops[q->r - 1]);
	if (!s.failed && q->meet && q->s)
		add(&s, run->threads[q->t].ops[q->s - 1]);
	do
		if (!s.failed)
			pass(&s, w);
	while (s.grown && !s.failed);
	free(s.need);
	return !s.failed && rev_accepts(run, m, w->order, w->count);
}
