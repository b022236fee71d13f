// SPDX-License-Identifier: Apache-2.0
/*
 * The clocks of a run's operations.  In: a skeleton.  Out: its order.
 *
 * Sweeps over the operations, in the order in which they happened, until nothing changes.  A thread's clock
 * grows where an operation needs one of another thread:
 *
 *   a thread's first operation needs its creation, a join the last operation of the thread, the exit of a
 *   barrier all entries of this use, the pass of a once the end of the routine;
 *   a successful semaphore wait needs k posts, where k - 1 is what the waits that must come before it took
 *   beyond the initial value.  Which ones is open, so its clock is only as late as the k-th latest of all
 *   posts that may come before it, thread by thread;
 *   a wake needs one notification, with k = 1 the same;
 *   whatever a thread does in a section of a lock needs the end of other sections of the lock that must have
 *   begun by then: the two cannot change places.
 *
 * Which posts may come before a wait depends on clocks of later operations, which earlier sweeps have made.
 * Clocks only grow, and what they say is so at any time, so it does no harm to stop early.
 */
#include "reversible/order.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

#define SWEEPS_MAX 64

/* The acquisitions of locks that a thread has now. */
struct held {
	uint32_t *at;
	size_t count, capacity;
};

struct sweep {
	struct rev_run *run;
	struct rev_order *order;
	uint32_t *clock;    /* of the operation at hand */
	struct held *held;  /* by thread */
	uint32_t *last;	    /* row of the last operation of each thread */
	enum rev_rule rule; /* at hand */
	bool changed;
};

const char *rev_rule_name(enum rev_rule rule)
{
	static const char *const names[REV_RULES] = {
		[REV_BY_CREATE] = "create", [REV_BY_JOIN] = "join",	[REV_BY_BARRIER] = "barrier",
		[REV_BY_ONCE] = "once",	    [REV_BY_SEM] = "semaphore", [REV_BY_COND] = "condition",
		[REV_BY_LOCK] = "lock",
	};

	return names[rule];
}

static uint32_t *row_at(const struct rev_order *o, uint32_t row)
{
	return o->rows + row * o->width;
}

/* The operation at hand needs that; it is a step of the proof unless it was known before. */
static void note(struct sweep *s, const struct rev_op *self, uint32_t thread, uint32_t n)
{
	struct rev_order *o = s->order;
	uint32_t at = (uint32_t)(self - s->run->ops);

	if (!o->logging || (o->own[at] && row_at(o, o->own[at])[thread] >= n))
		return;
	RD_GROW(o->needs, o->need_capacity, o->need_count + 1);
	o->needs[o->need_count++] =
		(struct rev_need){.op = at, .thread = thread, .n = n, .rule = (uint8_t)s->rule};
}

/* The operation at hand comes after `op`. */
static bool join(struct sweep *s, const struct rev_op *self, const struct rev_op *op)
{
	const uint32_t *row = row_at(s->order, op->row);
	bool grown = false;

	for (size_t i = 0; i < s->order->width; i++) {
		uint32_t n = i == op->thread ? op->n : row[i];

		if (i != self->thread && n > s->clock[i]) {
			s->clock[i] = n;
			grown = true;
		}
	}
	if (grown)
		note(s, self, op->thread, op->n);
	return grown;
}

static bool join_at(struct sweep *s, const struct rev_op *self, uint32_t at)
{
	return at != REV_NONE && join(s, self, &s->run->ops[at]);
}

static bool join_use(struct sweep *s, const struct rev_op *self)
{
	const struct rev_use *use = &s->run->uses[self->link];
	bool grown = false;

	for (size_t i = 0; i < use->count; i++)
		if (s->run->ops[use->enters[i]].thread != self->thread)
			grown |= join_at(s, self, use->enters[i]);
	return grown;
}

/* ---- the k-th of several ---- */

/* Those of a list that can come before `self`: they are the first so many, since what must come after it
 * in one thread is a tail. */
static size_t before(const struct rev_run *run, const struct rev_list *list, const struct rev_op *self)
{
	size_t low = 0, high = list->count;

	if (list->thread == self->thread)
		return rev_list_until(run, list, self->n);
	while (low < high) {
		size_t middle = (low + high) / 2;

		if (rev_order_get(run, &run->ops[list->at[middle]], self->thread) < self->n)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct choice {
	const struct rev_list *list;
	size_t first, end; /* the operations of the list that may be meant */
};

/* How many of them have at most `value` in column `column`. */
static size_t count_until(const struct rev_run *run, const struct choice *c, size_t n, uint32_t column,
			  uint32_t value)
{
	size_t count = 0;

	for (size_t i = 0; i < n; i++) {
		size_t low = c[i].first, high = c[i].end;

		while (low < high) {
			size_t middle = (low + high) / 2;

			if (rev_order_get(run, &run->ops[c[i].list->at[middle]], column) <= value)
				low = middle + 1;
			else
				high = middle;
		}
		count += low - c[i].first;
	}
	return count;
}

/* At least k of them come before the operation at hand.  So in each column it has at least the k-th
 * smallest of their numbers. */
static bool join_kth(struct sweep *s, const struct rev_op *self, const struct choice *c, size_t n, size_t k)
{
	bool grown = false;

	if (n == 1 && k <= c->end - c->first)
		return c->list->thread != self->thread && join_at(s, self, c->list->at[c->first + k - 1]);
	for (uint32_t column = 0; column < s->order->width; column++) {
		uint32_t low = 0, high = (uint32_t)s->run->threads[column].count;

		if (column == self->thread || count_until(s->run, c, n, column, high) < k)
			continue;
		while (low < high) {
			uint32_t middle = low + (high - low) / 2;

			if (count_until(s->run, c, n, column, middle) >= k)
				high = middle;
			else
				low = middle + 1;
		}
		if (low > s->clock[column]) {
			s->clock[column] = low;
			grown = true;
			note(s, self, column, low);
		}
	}
	return grown;
}

static bool join_posts(struct sweep *s, const struct rev_op *self)
{
	const struct rev_object *o = &s->run->objects[self->object];
	struct choice *c = rd_xcalloc(o->first_count + 1, sizeof *c);
	uint64_t taken = 1;
	size_t n = 0;
	bool grown = false;

	for (size_t i = 0; i < o->second_count; i++) {
		const struct rev_list *list = &o->second[i];

		taken += list->thread == self->thread ? rev_list_until(s->run, list, self->n - 1)
						      : rev_list_until(s->run, list, s->clock[list->thread]);
	}
	for (size_t i = 0; i < o->first_count; i++) {
		c[n] = (struct choice){&o->first[i], 0, before(s->run, &o->first[i], self)};
		n += c[n].end != 0;
	}
	if (taken > o->value && n)
		grown = join_kth(s, self, c, n, (size_t)(taken - o->value));
	free(c);
	return grown;
}

static bool join_notifications(struct sweep *s, const struct rev_op *self)
{
	const struct rev_object *o = &s->run->objects[self->object];
	const struct rev_op *wait = &s->run->ops[self->pair];
	struct choice *c = rd_xcalloc(o->first_count + 1, sizeof *c);
	size_t n = 0;
	bool grown;

	for (size_t i = 0; i < o->first_count; i++) {
		const struct rev_list *list = &o->first[i];

		if (list->thread == self->thread)
			continue;
		c[n] = (struct choice){
			list, rev_list_until(s->run, list, rev_order_get(s->run, wait, list->thread)),
			before(s->run, list, self)};
		n += c[n].first < c[n].end;
	}
	grown = n && join_kth(s, self, c, n, 1);
	free(c);
	return grown;
}

/* ---- locks ---- */

/* Sections of other threads on the lock of `acquire` that must have begun by now must be over, since this
 * one is open. */
static bool join_sections(struct sweep *s, const struct rev_op *self, const struct rev_op *acquire)
{
	const struct rev_object *o = &s->run->objects[acquire->lock];
	bool shared = acquire->flags & REV_SHARED, grown = false;
	const struct rev_list *lists = shared ? o->second : o->first;
	size_t count = shared ? o->second_count : o->first_count;

	for (size_t i = 0; i < count; i++) {
		size_t k;

		if (lists[i].thread == self->thread)
			continue;
		k = rev_list_until(s->run, &lists[i], s->clock[lists[i].thread]);
		if (k)
			grown |= join_at(s, self, s->run->ops[lists[i].at[k - 1]].link);
	}
	return grown;
}

/* All sections that the thread is in now. */
static bool join_held(struct sweep *s, const struct rev_op *self)
{
	const struct held *h = &s->held[self->thread];
	bool grown = false, again;

	do {
		again = false;
		for (size_t i = 0; i < h->count; i++)
			again |= join_sections(s, self, &s->run->ops[h->at[i]]);
		grown |= again;
	} while (again);
	return grown;
}

static void hold(struct sweep *s, const struct rev_op *op)
{
	struct held *h = &s->held[op->thread];

	if (op->lock == REV_NONE)
		return;
	if (op->kind == REV_ACQUIRE || op->kind == REV_WAKE) {
		RD_GROW(h->at, h->capacity, h->count + 1);
		h->at[h->count++] = (uint32_t)(op - s->run->ops);
		return;
	}
	for (size_t i = 0; i < h->count; i++)
		if (h->at[i] == op->link) {
			h->at[i] = h->at[--h->count];
			return;
		}
}

/* ---- sweeps ---- */

static bool grow(struct sweep *s, const struct rev_op *op)
{
	static const uint8_t rules[REV_KINDS] = {
		[REV_START] = REV_BY_CREATE,   [REV_JOIN] = REV_BY_JOIN,     [REV_EXIT] = REV_BY_BARRIER,
		[REV_ONCE_PASS] = REV_BY_ONCE, [REV_ONCE_RUN] = REV_BY_ONCE, [REV_TAKE] = REV_BY_SEM,
		[REV_WAKE] = REV_BY_COND};

	s->rule = (enum rev_rule)rules[op->kind];
	switch (op->kind) {
	case REV_START:
	case REV_JOIN:
	case REV_ONCE_PASS:
	case REV_ONCE_RUN:
		return join_at(s, op, op->pair);
	case REV_EXIT:
		return join_use(s, op);
	case REV_TAKE:
		return join_posts(s, op);
	case REV_WAKE:
		return !(op->flags & REV_ALONE) && join_notifications(s, op);
	default:
		return false;
	}
}

/* The clock is that of the operation before, unless something was added to it. */
static void keep(struct sweep *s, size_t at, bool grown)
{
	struct rev_order *o = s->order;
	struct rev_op *op = &s->run->ops[at];
	size_t bytes = o->width * sizeof *o->rows;

	if (!grown && !o->own[at]) {
		op->row = s->last[op->thread];
		return;
	}
	if (!o->own[at]) {
		RD_GROW(o->rows, o->row_capacity, (o->row_count + 1) * o->width);
		o->own[at] = (uint32_t)o->row_count++;
		memset(row_at(o, o->own[at]), 0, bytes);
	}
	op->row = o->own[at];
	if (memcmp(row_at(o, op->row), s->clock, bytes) != 0) {
		memcpy(row_at(o, op->row), s->clock, bytes);
		s->changed = true;
	}
}

static void step(struct sweep *s, size_t at)
{
	struct rev_op *op = &s->run->ops[at];
	size_t bytes = s->order->width * sizeof *s->clock;
	bool grown, locked = false;

	memcpy(s->clock, row_at(s->order, s->last[op->thread]), bytes);
	grown = grow(s, op);
	s->order->used[s->rule] += grown;
	s->rule = REV_BY_LOCK;
	hold(s, op);
	if (grown || op->kind == REV_ACQUIRE || op->kind == REV_WAKE)
		locked = join_held(s, op);
	s->order->used[REV_BY_LOCK] += locked;
	keep(s, at, grown || locked);
	s->last[op->thread] = op->row;
}

static void sweep(struct sweep *s)
{
	s->changed = false;
	memset(s->order->used, 0, sizeof s->order->used);
	memset(s->last, 0, (s->run->thread_count + 1) * sizeof *s->last);
	for (size_t i = 0; i < s->run->thread_count; i++)
		s->held[i].count = 0;
	for (size_t i = 0; i < s->run->op_count; i++)
		step(s, i);
	s->order->sweeps++;
}

void rev_order_build(struct rev_run *run, bool log)
{
	struct rev_order *o = rd_xcalloc(1, sizeof *o);
	struct sweep s = {.run = run, .order = o};

	run->order = o;
	o->logging = log;
	o->width = run->thread_count ? run->thread_count : 1;
	o->own = rd_xcalloc(run->op_count + 1, sizeof *o->own);
	RD_GROW(o->rows, o->row_capacity, o->width);
	memset(o->rows, 0, o->width * sizeof *o->rows);
	o->row_count = 1;
	s.clock = rd_xcalloc(o->width, sizeof *s.clock);
	s.last = rd_xcalloc(run->thread_count + 1, sizeof *s.last);
	s.held = rd_xcalloc(run->thread_count + 1, sizeof *s.held);
	do
		sweep(&s);
	while (s.changed && o->sweeps < SWEEPS_MAX);
	free(s.clock);
	free(s.last);
	for (size_t i = 0; i < run->thread_count; i++)
		free(s.held[i].at);
	free(s.held);
}

void rev_order_free(struct rev_run *run)
{
	if (!run->order)
		return;
	free(run->order->rows);
	free(run->order->own);
	free(run->order->needs);
	free(run->order);
	run->order = NULL;
}
