// SPDX-License-Identifier: Apache-2.0
/*
 * Computes the clocks of the operations in a skeleton, which define its order.
 *
 * The operations are visited in the order in which they happened, in repeated sweeps, until nothing
 * changes.  A thread's clock grows wherever an operation needs an operation of another thread:
 *
 * - A thread's first operation needs its creation.  A join needs the last operation of the thread.
 *   The exit of a barrier needs all entries of the same use.  A call that passes a once control
 *   needs the end of the routine.
 * - A successful semaphore wait needs k posts.  If n waits must come before it, k is n + 1 minus
 *   the semaphore's initial value.  It is unknown which of the posts that may come before the wait
 *   these are.  So each column of the wait's clock is only raised to the k-th smallest value in the
 *   same column of these posts' clocks.
 * - A wake needs one notification, so the same rule applies with k = 1.
 * - Two sections of a lock that exclude each other cannot overlap.  So if another thread's section
 *   must have begun before an operation in this section, the operation needs the end of that
 *   section.
 *
 * Which posts may come before a wait depends on the clocks of later operations, which earlier
 * sweeps computed.  Clocks only grow and are correct lower bounds at any time, so stopping early is
 * safe.
 */
#include "reversible/order.h"

#include "base/alloc.h"
#include "base/compare.h"
#include "base/error.h"

#include <stdlib.h>
#include <string.h>

/* The largest number of sweeps.  Stopping early is safe, and most runs need few.  Set by hand. */
#define SWEEPS_MAX 64

struct sweep {
	struct rev_run *run;
	struct rev_order *order;
	uint32_t *clock; /* clock of the current operation */
	/* For each operation, the list of the sections that its thread is in after the
	 * operation. */
	const uint32_t *held;
	uint32_t *zero;	    /* a clock with all numbers 0 */
	uint32_t *last;	    /* the row of each thread's last operation */
	enum rev_rule rule; /* the rule that is being applied */
	bool changed;
};

const char *rev_rule_name(enum rev_rule rule)
{
	RD_ASSERT(rule < REV_RULES);
	static const char *const names[REV_RULES] = {
		[REV_BY_CREATE] = "create", [REV_BY_JOIN] = "join",	[REV_BY_BARRIER] = "barrier",
		[REV_BY_ONCE] = "once",	    [REV_BY_SEM] = "semaphore", [REV_BY_COND] = "condition",
		[REV_BY_LOCK] = "lock",
	};

	return names[rule];
}

/* Records that the current operation needs another one.  This is a step of the proof, unless it was
 * already known. */
static void note(struct sweep *s, const struct rev_op *self, uint32_t thread, uint32_t n)
{
	struct rev_order *o = s->order;
	uint32_t at = (uint32_t)(self - s->run->ops);

	if (!o->logging || (o->own[at] && rows_row(&o->rows, o->own[at])[thread] >= n))
		return;
	RD_GROW(o->needs, o->need_capacity, o->need_count + 1);
	o->needs[o->need_count++] =
		(struct rev_need){.op = at, .thread = thread, .n = n, .rule = (uint8_t)s->rule};
}

/* Orders the current operation after the operation with index `at`. */
static bool join_at(struct sweep *s, const struct rev_op *self, uint32_t at)
{
	RD_ASSERT(at == REV_NONE || at < s->run->op_count);
	const struct rev_op *op;
	const uint32_t *row;
	bool grown = false;

	if (at == REV_NONE)
		return false;
	op = &s->run->ops[at];
	row = rows_of(&s->order->rows, at);
	for (uint32_t i = 0; i < s->order->rows.width; i++) {
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

static bool join_use(struct sweep *s, const struct rev_op *self)
{
	const struct rev_use *use = &s->run->uses[self->link];
	bool grown = false;

	for (size_t i = 0; i < use->count; i++)
		if (s->run->ops[use->enters[i]].thread != self->thread)
			grown |= join_at(s, self, use->enters[i]);
	return grown;
}

/* ---- needing k of several operations ---- */

/* Returns the index after the last item of the slot that can come before `self`.  All items from
 * this index on must come after `self`. */
static uint32_t before(const struct rev_run *run, const struct slots *slots, const struct slot *slot,
		       const struct rev_op *self)
{
	uint32_t end = slot->begin;

	if (slot->thread == self->thread)
		return end + slots_below(slots, slot, self->n);
	RD_BISECT(end, slot->end, at, rev_order_at(run, slots->item[at], self->thread) < self->n);
	return end;
}

/* The items of one thread that can come before the operation: item[begin] to item[end - 1]. */
struct choice {
	const struct slots *slots;
	uint32_t thread, begin, end;
};

/* Returns the number of items whose clock contains at most `value` in column `column`. */
static size_t count_until(const struct rev_run *run, const struct choice *c, size_t n, uint32_t column,
			  uint32_t value)
{
	size_t count = 0;

	for (size_t i = 0; i < n; i++) {
		uint32_t end = c[i].begin;

		RD_BISECT(end, c[i].end, at, rev_order_at(run, c[i].slots->item[at], column) <= value);
		count += end - c[i].begin;
	}
	return count;
}

/* Raises the clock of an operation that must come after at least k of the items.  Each column is
 * raised to at least the k-th smallest value in the same column of the items' clocks. */
static bool join_kth(struct sweep *s, const struct rev_op *self, const struct choice *c, size_t n, size_t k)
{
	RD_ASSERT(k > 0);
	bool grown = false;

	if (n == 1 && k <= c->end - c->begin)
		return c->thread != self->thread && join_at(s, self, c->slots->item[c->begin + k - 1]);
	for (uint32_t column = 0; column < s->order->rows.width; column++) {
		uint32_t low = 0, high = (uint32_t)s->run->threads[column].count;

		if (column == self->thread || count_until(s->run, c, n, column, high) < k)
			continue;
		RD_BISECT(low, high, at, count_until(s->run, c, n, column, at) < k);
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
	const struct slots *posts = &s->run->posts, *takes = &s->run->takes;
	struct choice *c = rd_xcalloc(slots_threads(posts, self->object) + 1, sizeof *c);
	uint64_t taken = 1, value = s->run->objects[self->object].value;
	size_t n = 0;
	bool grown = false;

	for (uint32_t i = takes->first[self->object]; i < takes->first[self->object + 1]; i++) {
		const struct slot *slot = &takes->slot[i];

		taken += slots_below(takes, slot,
				     slot->thread == self->thread ? self->n - 1 : s->clock[slot->thread]);
	}
	for (uint32_t i = posts->first[self->object]; i < posts->first[self->object + 1]; i++) {
		const struct slot *slot = &posts->slot[i];

		c[n] = (struct choice){posts, slot->thread, slot->begin, before(s->run, posts, slot, self)};
		n += c[n].end != c[n].begin;
	}
	if (taken > value && n)
		grown = join_kth(s, self, c, n, (size_t)(taken - value));
	free(c);
	return grown;
}

static bool join_notifications(struct sweep *s, const struct rev_op *self)
{
	const struct slots *notes = &s->run->notes;
	struct choice *c = rd_xcalloc(slots_threads(notes, self->object) + 1, sizeof *c);
	size_t n = 0;
	bool grown;

	for (uint32_t i = notes->first[self->object]; i < notes->first[self->object + 1]; i++) {
		const struct slot *slot = &notes->slot[i];

		if (slot->thread == self->thread)
			continue;
		c[n] = (struct choice){
			notes, slot->thread,
			slot->begin +
				slots_below(notes, slot, rev_order_at(s->run, self->pair, slot->thread)),
			before(s->run, notes, slot, self)};
		n += c[n].begin < c[n].end;
	}
	grown = n && join_kth(s, self, c, n, 1);
	free(c);
	return grown;
}

/* ---- locks ---- */

/* Orders the current operation after the ends of other threads' sections.  The section of `acquire`
 * is open.  Therefore other sections of its lock that must have begun by now must also have
 * ended. */
static bool join_sections(struct sweep *s, const struct rev_op *self, const struct rev_op *acquire)
{
	const struct slots *rivals = rev_rivals(s->run, acquire);
	bool grown = false;

	for (uint32_t i = rivals->first[acquire->lock]; i < rivals->first[acquire->lock + 1]; i++) {
		const struct slot *slot = &rivals->slot[i];
		uint32_t last = slot->thread == self->thread
					? NONE
					: slots_last(rivals, slot, s->clock[slot->thread]);

		if (last != NONE)
			grown |= join_at(s, self, s->run->ops[last].link);
	}
	return grown;
}

/* Calls join_sections() for all sections that the thread is in. */
static bool join_held(struct sweep *s, const struct rev_op *self)
{
	const struct sections *all = &s->run->sections;
	uint32_t held = s->held[self - s->run->ops];
	bool grown = false, again;

	do {
		again = false;
		for (uint32_t h = held; h != NONE; h = all->holds[h].next)
			again |= join_sections(s, self,
					       &s->run->ops[all->list[all->holds[h].section].acquire]);
		grown |= again;
	} while (again);
	return grown;
}

/* ---- sweeps ---- */

static bool grow(struct sweep *s, const struct rev_op *op)
{
	static const uint8_t rules[EXEC_KINDS] = {
		[EXEC_BEGIN] = REV_BY_CREATE,	[EXEC_JOIN] = REV_BY_JOIN,	 [EXEC_EXIT] = REV_BY_BARRIER,
		[EXEC_ONCE_PASS] = REV_BY_ONCE, [EXEC_ONCE_BEGIN] = REV_BY_ONCE, [EXEC_TAKE] = REV_BY_SEM,
		[EXEC_WAKE] = REV_BY_COND};

	s->rule = (enum rev_rule)rules[op->kind];
	switch (op->kind) {
	case EXEC_BEGIN:
	case EXEC_JOIN:
	case EXEC_ONCE_PASS:
	case EXEC_ONCE_BEGIN: return join_at(s, op, op->pair);
	case EXEC_EXIT: return join_use(s, op);
	case EXEC_TAKE: return join_posts(s, op);
	case EXEC_WAKE: return !(op->flags & REV_ALONE) && join_notifications(s, op);
	default: return false;
	}
}

/* Stores the clock.  If nothing was added to it, the row of the previous operation is shared. */
static void keep(struct sweep *s, uint32_t at, bool grown)
{
	struct rev_order *o = s->order;
	uint32_t *row;

	if (!grown && !o->own[at]) {
		o->rows.of[at] = s->last[s->run->ops[at].thread];
		return;
	}
	if (!o->own[at])
		o->own[at] = rows_add(&o->rows, s->zero);
	o->rows.of[at] = o->own[at];
	row = rows_row(&o->rows, o->own[at]);
	if (memcmp(row, s->clock, o->rows.width * sizeof *row) != 0) {
		memcpy(row, s->clock, o->rows.width * sizeof *row);
		s->changed = true;
	}
}

static void step(struct sweep *s, uint32_t at)
{
	RD_ASSERT(at < s->run->op_count);
	const struct rev_op *op = &s->run->ops[at];
	bool grown, locked = false;

	memcpy(s->clock, rows_row(&s->order->rows, s->last[op->thread]),
	       s->order->rows.width * sizeof *s->clock);
	grown = grow(s, op);
	s->order->used[s->rule] += grown;
	s->rule = REV_BY_LOCK;
	if (grown || rev_begins(op))
		locked = join_held(s, op);
	s->order->used[REV_BY_LOCK] += locked;
	keep(s, at, grown || locked);
	s->last[op->thread] = s->order->rows.of[at];
}

static void sweep(struct sweep *s)
{
	s->changed = false;
	memset(s->order->used, 0, sizeof s->order->used);
	memset(s->last, 0, (s->run->thread_count + 1) * sizeof *s->last);
	for (uint32_t i = 0; i < s->run->op_count; i++)
		step(s, i);
	s->order->sweeps++;
}

void rev_order_build(struct rev_run *run, bool log)
{
	struct rev_order *o = rd_xcalloc(1, sizeof *o);
	struct sweep s = {.run = run, .order = o, .held = run->held};
	uint32_t width = run->thread_count ? (uint32_t)run->thread_count : 1;

	run->order = o;
	o->logging = log;
	o->own = rd_xcalloc(run->op_count + 1, sizeof *o->own);
	s.zero = rd_xcalloc(width, sizeof *s.zero);
	rows_init(&o->rows, run->op_count, width);
	rows_add(&o->rows, s.zero);
	s.clock = rd_xcalloc(width, sizeof *s.clock);
	s.last = rd_xcalloc(run->thread_count + 1, sizeof *s.last);
	do
		sweep(&s);
	while (s.changed && o->sweeps < SWEEPS_MAX);
	RD_FREE(s.clock, s.zero, s.last);
}

void rev_order_free(struct rev_run *run)
{
	if (!run->order)
		return;
	rows_release(&run->order->rows);
	RD_FREE(run->order->own, run->order->needs, run->order);
	run->order = NULL;
}
