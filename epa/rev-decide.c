// SPDX-License-Identifier: Apache-2.0
/*
 * The verdict.  In: the pairs of segments that the clocks leave open.  Out: yes, if each of them is proved to
 * be in order; no, with orders in which one is reversed; open, if neither could be found out.
 *
 * An order that reverses a pair may have reversed another one before.  From there on the program may do
 * something else than it did, so the first pair that is reversed is the one that counts, and the order ends
 * with it: up to there every event finds what it found in the run.
 */
#include "epa/rev-decide.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

struct decider {
	const struct rev_run *run;
	const struct rev_pair *pairs;
	size_t pair_count;
	struct rd_umap begins; /* (u, r) -> the first pair + 1 */
	size_t *next;	       /* the next pair with the same u and r, + 1 */
	bool *reported;
	struct rev_machine machine;
	struct rev_solver *solver;
	struct rev_decision *d;
	size_t limit;
};

static uint64_t key_of(uint32_t u, uint32_t r)
{
	return (uint64_t)u << 32 | r;
}

/* Later pairs first, so that the first one found is at the head. */
static void index_pairs(struct decider *d)
{
	d->next = rd_xcalloc(d->pair_count + 1, sizeof *d->next);
	for (size_t i = d->pair_count; i-- > 0;) {
		uint64_t *head = rd_umap_put(&d->begins, key_of(d->pairs[i].u, d->pairs[i].r), NULL);

		d->next[i] = (size_t)*head;
		*head = i + 1;
	}
}

/* The first pair that is reversed in the order, which is cut there; `pair` if it is that one. */
static size_t first_reversed(struct decider *d, struct rev_witness *w, size_t pair)
{
	uint32_t *done = d->machine.done;

	rev_machine_reset(&d->machine, w->order, w->count);
	for (size_t i = 0; i < w->count; i++) {
		const struct rev_op *op = &d->run->ops[w->order[i]];
		const uint64_t *head;

		done[op->thread] = op->n;
		head = rd_umap_get(&d->begins, key_of(op->thread, op->n));
		for (size_t k = head ? (size_t)*head : 0; k; k = d->next[k - 1])
			if (done[d->pairs[k - 1].t] <= d->pairs[k - 1].s) {
				w->count = i + 1;
				return k - 1;
			}
	}
	return pair;
}

static bool is_plain(const struct rev_pair *p)
{
	return !p->ops && p->first <= REV_WRITE && p->second <= REV_WRITE;
}

/* What a replay can lead to: both threads at their accesses, or, since it leads operations only, the
 * operation behind the second access while the first thread is kept before its segment. */
static void find_replay(struct decider *d, struct rev_found *f)
{
	const struct rev_pair *p = &f->pair;
	struct rev_question meet = {p->t, p->s, p->u, p->r, true};
	struct rev_question past = {p->t, p->s - 1, p->u, p->r + 1, false};

	f->meet = is_plain(p) && rev_search(&d->machine, &meet, &f->replay);
	if (f->meet)
		return;
	if (p->ops & 2 && !(p->ops & 4))
		past.r = p->r; /* the operation itself */
	if (p->s && past.r <= d->run->threads[p->u].count &&
	    (rev_search(&d->machine, &past, &f->replay) ||
	     rev_solve(d->solver, &d->machine, &past, &f->replay) == REV_FOUND))
		return;
	f->replay.count = 0;
}

static void report(struct decider *d, size_t pair, struct rev_witness *w, bool by_solver)
{
	size_t first = first_reversed(d, w, pair);
	struct rev_found *f;

	if (d->reported[first])
		return;
	d->reported[first] = true;
	RD_GROW(d->d->found, d->d->found_capacity, d->d->found_count + 1);
	f = &d->d->found[d->d->found_count++];
	*f = (struct rev_found){.pair = d->pairs[first], .by_solver = by_solver};
	RD_GROW(f->order.order, f->order.capacity, w->count + 1);
	if (w->count)
		memcpy(f->order.order, w->order, w->count * sizeof *w->order);
	f->order.count = w->count;
	find_replay(d, f);
}

static void decide_pair(struct decider *d, size_t i, struct rev_witness *w)
{
	const struct rev_pair *p = &d->pairs[i];
	struct rev_question q = {p->t, p->s, p->u, p->r, false};
	struct rev_counts *c = &d->d->counts;

	if (rev_search(&d->machine, &q, w)) {
		c->searched++;
		report(d, i, w, false);
		return;
	}
	switch (rev_solve(d->solver, &d->machine, &q, w)) {
	case REV_FOUND:
		c->solver_found++;
		report(d, i, w, true);
		break;
	case REV_NEVER:
		c->solver_never++;
		break;
	default:
		c->unknown++;
		d->d->reason = rev_solver_reason(d->solver);
	}
}

void rev_decide(struct rev_decision *decision, const struct rev_run *run, const struct rev_shadow *shadow,
		unsigned solver_ms, size_t limit)
{
	struct decider d = {.run = run, .d = decision, .limit = limit ? limit : 1};
	struct rev_counts *c = &decision->counts;
	struct rev_witness w = {0};
	bool overflow;

	*decision = (struct rev_decision){0};
	d.pairs = rev_shadow_pairs(shadow, &d.pair_count);
	rev_shadow_counts(shadow, &c->conflicts, &c->ordered, &overflow);
	c->pairs = d.pair_count;
	d.reported = rd_xcalloc(d.pair_count + 1, sizeof *d.reported);
	d.solver = rev_solver_new(run, solver_ms);
	rev_machine_init(&d.machine, run);
	index_pairs(&d);
	for (size_t i = 0; i < d.pair_count; i++) {
		if (decision->found_count >= d.limit)
			c->left++;
		else if (!d.reported[i])
			decide_pair(&d, i, &w);
	}
	if (overflow && !decision->found_count)
		decision->reason = "there are too many pairs to look at";
	decision->verdict = decision->found_count ? REV_NO : decision->reason ? REV_OPEN : REV_YES;
	rev_witness_release(&w);
	rev_machine_release(&d.machine);
	rev_solver_free(d.solver);
	rd_umap_release(&d.begins);
	free(d.next);
	free(d.reported);
}

void rev_decision_release(struct rev_decision *d)
{
	for (size_t i = 0; i < d->found_count; i++) {
		rev_witness_release(&d->found[i].order);
		rev_witness_release(&d->found[i].replay);
	}
	free(d->found);
	*d = (struct rev_decision){0};
}
