// SPDX-License-Identifier: Apache-2.0
/*
 * Derives the verdict from the pairs of segments that the clocks do not order.  The verdict is
 * "yes" if each pair is proved to have a fixed order, and "no" if an order was found in which a
 * pair is reversed.  It is "open" if some pair could not be decided.
 *
 * An order that reverses a pair may also reverse another pair at an earlier point, and after that
 * the program may behave differently.  So only the first reversed pair is reported, and the order
 * ends there.  Up to that point every event has the same result as in the recorded run.
 */
#include "reversible/decide.h"

#include "base/alloc.h"
#include "base/error.h"

#include <stdlib.h>
#include <string.h>

/* After this many undecided pairs, the remaining pairs are given up.  Set by hand. */
#define UNDECIDED_MAX 10000

struct rev_decider {
	const struct rev_run *run;
	const struct rev_pair *pairs;
	size_t pair_count;
	struct rd_umap begins; /* maps (u, r) to 1 + the first pair with that second segment */
	/* For each pair, 1 + the index of the next pair with the same second segment (u, r), or 0
	 * if there is none. */
	size_t *next;
	bool *reported;
	struct machine machine;
	struct rev_solver *solver;
	struct rev_decision *d;
	size_t limit;
};

static uint64_t key_of(uint32_t u, uint32_t r)
{
	return (uint64_t)u << 32 | r;
}

uint32_t rev_common_lock(const struct rev_run *run, const struct rev_pair *p)
{
	for (uint32_t i = 0; i < run->object_count; i++) {
		const struct rev_op *a, *b;

		if (run->objects[i].class != REV_LOCK)
			continue;
		a = rev_section(run, i, p->t, p->s);
		b = rev_section(run, i, p->u, p->r);
		if (a && b && !(a->flags & b->flags & REV_SHARED))
			return i;
	}
	return REV_NONE;
}

/* Finds a condition wait that uses the lock or waits for the condition, preferably by the given
 * thread.  If there is no such wait, finds a notification. */
static const struct rev_op *find_wait(const struct rev_run *run, uint32_t lock, uint32_t condition,
				      uint32_t thread)
{
	const struct rev_op *wait = NULL, *notification = NULL;

	for (uint32_t i = 0; i < run->op_count; i++) {
		const struct rev_op *op = &run->ops[i];

		if (op->kind == EXEC_WAIT && (op->lock == lock || op->object == condition) &&
		    (!wait || (op->thread == thread && wait->thread != thread)))
			wait = op;
		if (rev_notifies(op) && !notification &&
		    (op->object == condition ||
		     (lock != REV_NONE && rev_section(run, lock, op->thread, op->n))))
			notification = op;
	}
	return wait ? wait : notification;
}

const struct rev_op *rev_decided_wait(const struct rev_run *run, const struct rev_pair *p)
{
	uint32_t object = p->ops ? rev_run_find(run, p->address) : REV_NONE, lock;

	if (object != REV_NONE && run->objects[object].class == REV_COND)
		return find_wait(run, REV_NONE, object, p->u);
	lock = rev_common_lock(run, p);
	return lock != REV_NONE ? find_wait(run, lock, REV_NONE, p->u) : NULL;
}

/* Builds the lists of pairs.  It visits the pairs backwards, so that each list begins with the pair
 * that was found first. */
static void index_pairs(struct rev_decider *d)
{
	d->next = rd_xcalloc(d->pair_count + 1, sizeof *d->next);
	for (size_t i = d->pair_count; i-- > 0;) {
		uint64_t *head = rd_umap_put(&d->begins, key_of(d->pairs[i].u, d->pairs[i].r), NULL);

		d->next[i] = (size_t)*head;
		*head = i + 1;
	}
}

/* Finds the first pair that the order reverses, which may be `pair` itself, and cuts the order
 * there. */
static size_t first_reversed(struct rev_decider *d, struct rev_witness *w, size_t pair)
{
	RD_ASSERT(pair < d->pair_count);
	uint32_t *done = rd_xcalloc(d->run->thread_count + 1, sizeof *done);
	size_t first = pair;
	bool found = false;

	for (size_t i = 0; i < w->count && !found; i++) {
		const struct rev_op *op = &d->run->ops[w->order[i]];
		const uint64_t *head;

		done[op->thread] = op->n;
		head = rd_umap_get(&d->begins, key_of(op->thread, op->n));
		for (size_t k = head ? (size_t)*head : 0; k && !found; k = d->next[k - 1])
			if (done[d->pairs[k - 1].t] <= d->pairs[k - 1].s) {
				w->count = i + 1;
				first = k - 1;
				found = true;
			}
	}
	free(done);
	return first;
}

static void copy_order(struct rev_witness *to, const struct rev_witness *from)
{
	RD_GROW(to->order, to->capacity, from->count + 1);
	if (from->count)
		memcpy(to->order, from->order, from->count * sizeof *from->order);
	to->count = from->count;
}

/* Extends the order that was found: thread t continues alone until it reaches its segment.  Returns
 * true if both threads are then at their accesses. */
static bool extend(struct rev_decider *d, struct rev_found *f)
{
	const struct rev_pair *p = &f->pair;
	struct machine *m = &d->machine;

	copy_order(&f->replay, &f->order);
	if (!rev_accepts(d->run, m, f->replay.order, f->replay.count))
		return false;
	while (rev_done(d->run, m, p->t) < p->s) {
		uint32_t at = d->run->threads[p->t].ops[rev_done(d->run, m, p->t)];

		if (!rev_can(d->run, m, at))
			return false;
		machine_do(m, at);
		RD_GROW(f->replay.order, f->replay.capacity, f->replay.count + 1);
		f->replay.order[f->replay.count++] = at;
	}
	return rev_done(d->run, m, p->u) == p->r;
}

static bool find_meeting(struct rev_decider *d, struct rev_found *f)
{
	const struct rev_pair *p = &f->pair;
	struct rev_question meet = {p->t, p->s, p->u, p->r, true};

	return p->ops == 0 && p->first <= REV_WRITE && p->second <= REV_WRITE &&
	       (rev_search(d->run, &d->machine, &meet, &f->replay) || extend(d, f));
}

/* Returns true if thread u, in its segment r, holds a lock that thread t needs for its segment s.
 * Then it is enough to lead u to its segment. */
static bool is_locked_out(const struct rev_decider *d, const struct rev_pair *p)
{
	return rev_common_lock(d->run, p) != REV_NONE;
}

static bool ask(struct rev_decider *d, const struct rev_question *q, struct rev_witness *w)
{
	return q->r <= d->run->threads[q->u].count && (rev_search(d->run, &d->machine, q, w) ||
						       rev_solve(d->solver, &d->machine, q, w) == REV_FOUND);
}

/* Finds a state that a replay can reach.  The best state is one in which both threads are at their
 * accesses.  If there is none, the function looks for a state in which thread u has passed its
 * event while t is stopped before its own event.  A replay controls only operations, so operations
 * must separate the two events. */
static void find_replay(struct rev_decider *d, struct rev_found *f)
{
	const struct rev_pair *p = &f->pair;
	bool attempt = p->ops & 4, operation = p->ops & 2;
	struct rev_question past = {p->t, p->s, p->u, p->r + (operation ? 0 : 1), false};

	f->meet = find_meeting(d, f);
	if (f->meet)
		return;
	if (!operation && is_locked_out(d, p)) {
		copy_order(&f->replay, &f->order);
		return;
	}
	/* If the event is an operation, the replay can delay it directly.  It can delay an access
	 * only by delaying the operation before it. */
	if (!(p->ops & 1) && !past.s--) {
		f->replay.count = 0;
		return;
	}
	if (!ask(d, &past, &f->replay))
		f->replay.count = 0;
	/* An attempt (such as a trylock) counts as done, whatever its result. */
	else if (attempt && p->r < d->run->threads[p->u].count) {
		RD_GROW(f->replay.order, f->replay.capacity, f->replay.count + 1);
		f->replay.order[f->replay.count++] = d->run->threads[p->u].ops[p->r];
	}
}

static void report(struct rev_decider *d, size_t pair, struct rev_witness *w, bool by_solver)
{
	size_t first = first_reversed(d, w, pair);
	struct rev_found *f;

	if (d->reported[first])
		return;
	d->reported[first] = true;
	RD_GROW(d->d->found, d->d->found_capacity, d->d->found_count + 1);
	f = &d->d->found[d->d->found_count++];
	*f = (struct rev_found){.pair = d->pairs[first], .by_solver = by_solver};
	copy_order(&f->order, w);
	find_replay(d, f);
}

static void decide_pair(struct rev_decider *d, size_t i, struct rev_witness *w)
{
	RD_ASSERT(i < d->pair_count);
	const struct rev_pair *p = &d->pairs[i];
	struct rev_question q = {p->t, p->s, p->u, p->r, false};
	struct rev_counts *c = &d->d->counts;

	if (rev_search(d->run, &d->machine, &q, w)) {
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
		RD_GROW(d->d->proved, d->d->proved_capacity, c->solver_never + 1);
		d->d->proved[c->solver_never++] = *p;
		break;
	default: c->unknown++; d->d->reason = rev_solver_reason(d->solver);
	}
}

/* Returns true if many pairs are undecided and the solver has no time left. */
static bool is_given_up(const struct rev_decider *d)
{
	return d->d->counts.unknown >= UNDECIDED_MAX && rev_solver_is_spent(d->solver);
}

void rev_decide(struct rev_decision *decision, const struct rev_run *run, const struct rev_shadow *shadow,
		unsigned solver_ms, size_t limit)
{
	struct rev_decider d = {.run = run, .d = decision, .limit = limit ? limit : 1};
	struct rev_counts *c = &decision->counts;
	struct rev_witness w = {0};
	bool overflow;

	*decision = (struct rev_decision){0};
	d.pairs = rev_shadow_pairs(shadow, &d.pair_count);
	rev_shadow_counts(shadow, &c->conflicts, &c->ordered, &overflow);
	c->pairs = d.pair_count;
	d.reported = rd_xcalloc(d.pair_count + 1, sizeof *d.reported);
	d.solver = rev_solver_new(run, solver_ms);
	machine_init(&d.machine, &run->x);
	index_pairs(&d);
	for (size_t i = 0; i < d.pair_count; i++) {
		if (decision->found_count >= d.limit || is_given_up(&d))
			c->left++;
		else if (!d.reported[i])
			decide_pair(&d, i, &w);
	}
	if (c->left && !decision->found_count)
		decision->reason = "there are too many pairs that neither search nor solver decide";
	if (overflow && !decision->found_count)
		decision->reason = "there are too many pairs to decide";
	decision->verdict = decision->found_count ? REV_NO : decision->reason ? REV_OPEN : REV_YES;
	rev_witness_release(&w);
	machine_release(&d.machine);
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
	free(d->proved);
	*d = (struct rev_decision){0};
}
