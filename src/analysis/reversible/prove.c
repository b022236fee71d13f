// SPDX-License-Identifier: Apache-2.0
/*
 * Checks whether the steps of a certificate prove, for a given trace, that the order of all
 * dependent events is fixed.
 *
 * The code is slow and simple on purpose.  Every operation has a separate clock.  A step states
 * that one operation needs another.  The checker tests the step's rule against the trace.  If the
 * step follows from earlier ones, the checker accepts it and adds it to the clocks.  Finally, each
 * access is compared with the last read and the last write of the same byte by each thread.
 */
#include "reversible/certificate.h"

#include "base/alloc.h"
#include "base/compare.h"
#include "base/error.h"
#include "base/name.h"
#include "reversible/depend-int.h"
#include "reversible/feed-int.h"
#include "reversible/released-int.h"
#include "reversible/passes-int.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A list of the operations that need a certain operation. */
struct needing {
	uint32_t *at;
	size_t count, capacity;
};

/* The last accesses of one thread to a byte.  Each member is 1 + the segment, or 0 if there was
 * none. */
struct byte_state {
	uint32_t read, write;
};

struct prover {
	const struct rev_certificate *c;
	struct rev_result *x; /* contains only operations and names */
	struct rev_run *run;
	uint32_t *index; /* the index in the run of each thread of the certificate */
	struct needing *needing;
	uint32_t *todo;
	size_t todo_count, todo_capacity;
	struct rd_umap bytes; /* maps an address to 1 + the index of its table in `last` */
	struct byte_state *last;
	size_t last_count, last_capacity;
	struct rev_released released;
	struct rev_feed feed;
	/* The pairs that the solver proved, sorted with compare_pairs(). */
	struct rev_pair *proved;
	size_t proved_count;
	char *why;
};

static void reject(struct prover *p, const char *format, ...)
{
	va_list ap;

	if (p->why)
		return;
	va_start(ap, format);
	if (vasprintf(&p->why, format, ap) < 0)
		p->why = rd_xstrdup(RD_UNKNOWN);
	va_end(ap);
}

/* ---- clocks ---- */

static uint32_t *clock_of(struct prover *p, uint32_t at)
{
	return rows_row(&p->run->order->rows, at);
}

static bool includes(struct prover *p, const struct rev_op *op, uint32_t thread, uint32_t n)
{
	return rev_order_get(p->run, op, thread) >= n;
}

static bool includes_op(struct prover *p, const struct rev_op *op, const struct rev_op *other)
{
	return op != other && includes(p, op, other->thread, other->n);
}

/* Adds `from`, and everything that it needs, to the needs of `at`. */
static void absorb(struct prover *p, uint32_t at, uint32_t from)
{
	RD_ASSERT(at < p->run->op_count && from < p->run->op_count);
	uint32_t *to = clock_of(p, at), self = p->run->ops[at].thread;
	bool grown = false;

	for (uint32_t t = 0; t < p->run->thread_count; t++) {
		uint32_t n = rev_order_get(p->run, &p->run->ops[from], t);

		if (t != self && n > to[t]) {
			to[t] = n;
			grown = true;
		}
	}
	if (!grown)
		return;
	RD_GROW(p->todo, p->todo_capacity, p->todo_count + 1);
	p->todo[p->todo_count++] = at;
}

static void spread(struct prover *p)
{
	while (p->todo_count) {
		uint32_t at = p->todo[--p->todo_count];
		const struct rev_op *op = &p->run->ops[at];
		const struct rev_thread *t = &p->run->threads[op->thread];

		if (op->n < t->count)
			absorb(p, t->ops[op->n], at);
		for (size_t i = 0; i < p->needing[at].count; i++)
			absorb(p, p->needing[at].at[i], at);
	}
}

static void accept(struct prover *p, uint32_t at, uint32_t from)
{
	RD_ASSERT(at < p->run->op_count && from < p->run->op_count);
	struct needing *list = &p->needing[from];

	RD_GROW(list->at, list->capacity, list->count + 1);
	list->at[list->count++] = at;
	absorb(p, at, from);
	spread(p);
}

/* ---- rules ---- */

/* Counts candidates, to decide whether `self` needs operation n of the thread.  At least k of the
 * candidates must come before `self`.  So if fewer than k candidates can happen without operation
 * n, `self` needs operation n. */
struct vote {
	const struct rev_op *self, *wait; /* candidates that must come before `wait` do not count */
	uint32_t thread, n;
	int64_t without; /* the number of candidates that do not need operation n */
};

static void count_votes(struct prover *p, const struct slots *slots, struct vote *v)
{
	uint32_t object = v->self->object;

	for (uint32_t i = slots->first[object]; i < slots->first[object + 1]; i++)
		for (uint32_t k = slots->slot[i].begin; k < slots->slot[i].end; k++) {
			const struct rev_op *op = &p->run->ops[slots->item[k]];

			if (includes_op(p, op, v->self) || (v->wait && includes_op(p, v->wait, op)) ||
			    (v->wait && op->thread == v->self->thread))
				continue;
			v->without += !includes(p, op, v->thread, v->n);
		}
}

static bool is_by_semaphore(struct prover *p, struct vote *v)
{
	const struct slots *takes = &p->run->takes;
	uint32_t object = v->self->object;
	int64_t k;

	if (v->self->kind != EXEC_TAKE)
		return false;
	k = 1 - (int64_t)p->run->objects[object].value;
	for (uint32_t i = takes->first[object]; i < takes->first[object + 1]; i++)
		for (uint32_t m = takes->slot[i].begin; m < takes->slot[i].end; m++)
			k += includes_op(p, v->self, &p->run->ops[takes->item[m]]);
	count_votes(p, &p->run->posts, v);
	return v->without < k;
}

static bool is_by_condition(struct prover *p, struct vote *v)
{
	if (v->self->kind != EXEC_WAKE || v->self->flags & REV_ALONE)
		return false;
	v->wait = &p->run->ops[v->self->pair];
	count_votes(p, &p->run->notes, v);
	return v->without == 0;
}

static bool is_by_lock(struct prover *p, const struct rev_op *self, const struct rev_op *other)
{
	const struct rev_op *own, *section;

	if (!rev_ends(other) || other->lock == REV_NONE || other->link == REV_NONE ||
	    other->thread == self->thread)
		return false;
	section = &p->run->ops[other->link];
	own = rev_section(p->run, other->lock, self->thread, self->n);
	return own && !(own->flags & section->flags & REV_SHARED) && includes_op(p, self, section);
}

static bool is_by_barrier(struct prover *p, const struct rev_op *self, uint32_t other)
{
	const struct rev_use *use;

	if (self->kind != EXEC_EXIT)
		return false;
	use = &p->run->uses[self->link];
	for (size_t i = 0; i < use->count; i++)
		if (use->enters[i] == other)
			return true;
	return false;
}

static bool follows(struct prover *p, const struct rev_step *s, const struct rev_op *self, uint32_t other)
{
	const struct rev_op *op = &p->run->ops[other];
	struct vote v = {.self = self, .thread = op->thread, .n = op->n};

	switch (s->rule) {
	case REV_BY_CREATE: return self->kind == EXEC_BEGIN && self->pair == other;
	case REV_BY_JOIN: return self->kind == EXEC_JOIN && self->pair == other;
	case REV_BY_ONCE:
		return (self->kind == EXEC_ONCE_PASS || self->kind == EXEC_ONCE_BEGIN) && self->pair == other;
	case REV_BY_BARRIER: return is_by_barrier(p, self, other);
	case REV_BY_SEM: return is_by_semaphore(p, &v);
	case REV_BY_COND: return is_by_condition(p, &v);
	default: return is_by_lock(p, self, op);
	}
}

static void check_step(struct prover *p, size_t number)
{
	RD_ASSERT(number < p->c->step_count);
	const struct rev_step *s = &p->c->steps[number];
	uint32_t t = p->index[s->thread], of = p->index[s->of], at, other;

	if (s->n > p->run->threads[t].count || s->m > p->run->threads[of].count) {
		reject(p, "step %zu is about an operation that is not in the trace", number + 1);
		return;
	}
	at = p->run->threads[t].ops[s->n - 1];
	other = p->run->threads[of].ops[s->m - 1];
	if (t == of || !follows(p, s, &p->run->ops[at], other))
		reject(p,
		       "step %zu does not follow: operation %" PRIu32 " of %s need not wait for %" PRIu32
		       " of %s",
		       number + 1, s->n, p->c->threads[s->thread], s->m, p->c->threads[s->of]);
	else
		accept(p, at, other);
}

/* ---- accesses ---- */

RD_COMPARISON(compare_pairs, struct rev_pair, t, s, u, r)

static bool is_proved(const struct prover *p, uint32_t t, uint32_t s, uint32_t u, uint32_t r)
{
	struct rev_pair key = {.t = t, .s = s, .u = u, .r = r};

	return p->proved_count && bsearch(&key, p->proved, p->proved_count, sizeof *p->proved, compare_pairs);
}

static void check_pair(struct prover *p, uint32_t t, uint32_t s, const struct rev_touch *now)
{
	if (t == now->u || rev_order_has(p->run, t, s, now->u, now->r) || is_proved(p, t, s, now->u, now->r))
		return;
	reject(p,
	       "nothing orders an access of %s after its operation %" PRIu32
	       " and one of %s after its operation %" PRIu32,
	       p->x->names[t], s, p->x->names[now->u], now->r);
}

/* Adds a table for a byte that no thread has touched before.  The byte may be in a released
 * block. */
static void new_table(struct prover *p, uint64_t address)
{
	size_t threads = p->run->thread_count;
	const struct rev_touch *t = rev_released_find(&p->released, address);
	struct byte_state *table;

	RD_GROW(p->last, p->last_capacity, p->last_count + threads);
	table = p->last + p->last_count;
	memset(table, 0, threads * sizeof *table);
	p->last_count += threads;
	if (t)
		table[t->u].write = t->r + 1;
}

static struct byte_state *table_of(struct prover *p, uint64_t address, bool make)
{
	size_t threads = p->run->thread_count;
	uint64_t *at = make ? rd_umap_put(&p->bytes, address, NULL) : rd_umap_get(&p->bytes, address);

	if (!at || (!*at && !make))
		return NULL;
	if (!*at) {
		new_table(p, address);
		*at = p->last_count / threads;
	}
	return p->last + (*at - 1) * threads;
}

static void check_byte(struct prover *p, const struct rev_touch *t, const struct byte_state *table)
{
	bool write = t->access != REV_READ && t->access != REV_ATOMIC_READ;

	for (uint32_t i = 0; i < p->run->thread_count; i++) {
		if (table[i].write)
			check_pair(p, i, table[i].write - 1, t);
		if (write && table[i].read)
			check_pair(p, i, table[i].read - 1, t);
	}
}

static void touch_byte(struct prover *p, const struct rev_touch *t, uint64_t address, enum rev_effect effect)
{
	struct byte_state *table = table_of(p, address, effect == REV_TOUCH);
	uint32_t n = t->ops & 2 && !(t->ops & 4) && t->r ? t->r - 1 : t->r;

	if (!table)
		return;
	check_byte(p, t, table);
	if (effect == REV_ENDS)
		memset(table, 0, p->run->thread_count * sizeof *table);
	else if (t->access != REV_READ && t->access != REV_ATOMIC_READ)
		table[t->u].write = n + 1;
	else
		table[t->u].read = n + 1;
}

static void clear_byte(struct prover *p, uint64_t address)
{
	struct byte_state *table = table_of(p, address, false);

	if (table)
		memset(table, 0, p->run->thread_count * sizeof *table);
}

/* Applies an effect to each byte of a touch.  If the effect covers more bytes than there are
 * tables, only the bytes that have a table are visited. */
static void apply(struct prover *p, enum rev_effect effect, const struct rev_touch *t)
{
	if (effect != REV_TOUCH && t->size > p->bytes.count) {
		for (size_t i = 0; i < p->bytes.capacity; i++) {
			uint64_t address = p->bytes.keys[i];

			if (!p->bytes.used[i] || address - t->address >= t->size)
				continue;
			if (effect == REV_CLEAR)
				clear_byte(p, address);
			else
				touch_byte(p, t, address, effect);
		}
		return;
	}
	for (uint64_t i = 0; i < t->size; i++) {
		if (effect == REV_CLEAR)
			clear_byte(p, t->address + i);
		else
			touch_byte(p, t, t->address + i, effect);
	}
}

static void follow(void *context, uint32_t thread, const struct trace_record *r, const char *call)
{
	struct prover *p = context;
	struct rev_effects e;

	rev_feed_record(&p->feed, thread, r, call, &e);
	for (size_t i = 0; i < e.count && !p->why; i++) {
		const struct rev_touch *t = &e.list[i].touch;

		apply(p, e.list[i].effect, t);
		if (e.list[i].effect == REV_FREES)
			rev_released_add(&p->released, t);
		else if (e.list[i].effect == REV_CLEAR)
			rev_released_clear(&p->released, t->address, t->size);
	}
}

/* Checks with the clocks of the proof that operations which depend on each other have a fixed
 * order. */
static void check_operations(struct prover *p)
{
	struct rev_shadow *shadow = rev_shadow_new(p->run);
	const struct rev_pair *pairs;
	size_t count;

	rev_depend(p->run, shadow);
	pairs = rev_shadow_pairs(shadow, &count);
	for (size_t i = 0; i < count; i++)
		if (!is_proved(p, pairs[i].t, pairs[i].s, pairs[i].u, pairs[i].r))
			reject(p, "nothing orders operation %" PRIu32 " of %s and %" PRIu32 " of %s",
			       pairs[i].s + 1, p->x->names[pairs[i].t], pairs[i].r, p->x->names[pairs[i].u]);
	rev_shadow_free(shadow);
}

/* ---- the proof ---- */

static void find_threads(struct prover *p)
{
	for (size_t i = 0; i < p->c->thread_count; i++) {
		if (i >= p->run->thread_count || strcmp(p->x->names[i], p->c->threads[i]) != 0)
			reject(p, "thread %s is not in the trace", p->c->threads[i]);
		p->index[i] = (uint32_t)i;
	}
	if (p->c->records != p->x->records || p->c->operations != p->run->op_count)
		reject(p, "it is the certificate of another trace");
}

static void make_clocks(struct prover *p)
{
	struct rev_order *o = rd_xcalloc(1, sizeof *o);
	uint32_t width = p->run->thread_count ? (uint32_t)p->run->thread_count : 1;
	uint32_t *zero = rd_xcalloc(width, sizeof *zero);

	rows_init(&o->rows, p->run->op_count, width);
	p->run->order = o;
	for (size_t i = 0; i < p->run->op_count; i++)
		o->rows.of[i] = rows_add(&o->rows, zero);
	free(zero);
	for (size_t i = 0; i < p->c->step_count && !p->why; i++)
		check_step(p, i);
}

/* Asks the solver again about the pairs that it is said to have proved. */
static void check_proved(struct prover *p, unsigned solver_ms)
{
	struct rev_solver *solver = rev_solver_new(p->run, solver_ms);
	struct rev_witness w = {0};
	struct machine m;

	machine_init(&m, &p->run->x);
	p->proved = rd_xcalloc(p->c->proved_count + 1, sizeof *p->proved);
	for (size_t i = 0; i < p->c->proved_count && !p->why; i++) {
		const struct rev_pair *q = &p->c->proved[i];
		struct rev_question question = {p->index[q->t], q->s, p->index[q->u], q->r, false};

		if (!q->r || q->r > p->run->threads[question.u].count)
			reject(p, "pair %zu is about an operation that is not in the trace", i + 1);
		else if (rev_solve(solver, &m, &question, &w) != REV_NEVER)
			reject(p, "the solver does not prove pair %zu", i + 1);
		p->proved[p->proved_count++] =
			(struct rev_pair){.t = question.t, .s = question.s, .u = question.u, .r = question.r};
	}
	qsort(p->proved, p->proved_count, sizeof *p->proved, compare_pairs);
	machine_release(&m);
	rev_witness_release(&w);
	rev_solver_free(solver);
}

static int prove(struct prover *p, struct epa_source *source, unsigned solver_ms)
{
	int err = 0;

	find_threads(p);
	if (p->why)
		return 0;
	p->needing = rd_xcalloc(p->run->op_count + 1, sizeof *p->needing);
	make_clocks(p);
	if (!p->why)
		check_proved(p, solver_ms);
	if (!p->why)
		check_operations(p);
	if (!p->why) {
		rev_released_init(&p->released);
		rev_feed_init(&p->feed, p->run, epa_source_sites(source));
		err = rev_read_records(p->x, source, follow, p);
		rev_feed_release(&p->feed);
		rev_released_free(&p->released);
	}
	RD_FREE_EACH(p->needing, p->run->op_count, .at);
	free(p->needing);
	return err;
}

int rev_certificate_check(const struct rev_certificate *c, struct epa_source *source, unsigned solver_ms,
			  char **why)
{
	struct rev_result *x = rev_result_new();
	struct prover p = {.c = c, .x = x, .run = &x->run};
	int err = rev_read_operations(x, source);

	if (!err) {
		p.index = rd_xcalloc(c->thread_count + 1, sizeof *p.index);
		err = prove(&p, source, solver_ms);
	}
	*why = p.why;
	RD_FREE(p.index, p.todo, p.last);
	rd_umap_release(&p.bytes);
	free(p.proved);
	rev_result_free(x);
	return err;
}
