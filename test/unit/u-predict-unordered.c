// SPDX-License-Identifier: Apache-2.0
/*
 * Tests what is found in long runs without prediction, with small random traces of a few threads
 * that have many chunks each.
 *
 * The pairs that are unordered in the run itself are compared with a slow, obvious reference.  It
 * is a graph of all events, with an edge from each event to the next one of its thread and to those
 * that it releases.  For each pair of accesses the reference determines whether one can be reached
 * from the other, and whether an access between them represents the first.  The same is done with
 * edges that may have existed: to and from the outside, and to fences after relaxed reads.
 *
 * Parts that one model loads in any order, from marks in the streams, are compared with those of a
 * model that loads nothing else.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "predict/unordered-int.h"
#include "trace/encode-int.h"
#include "trace/writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#define THREADS 4
#define LOCKS 2
#define EVENTS 500
#define BASE 0x400000
#define LOCK 0x900000
#define SEM 0xa00000
#define FLAG 0xb00000
#define NOBODY UINT32_MAX

/* Sites 1 to 3 read and 4 to 6 write 1, 4 and 8 bytes.  7 is an acquire load, 8 a release store, 9
 * a relaxed store, 10 a call, 11 a relaxed load, 12 a fence. */
static const char table[] = "raddle-sites\t1\n"
			    "U\t0\t1\tu.c\n"
			    "F\t0\tu.c\n"
			    "S\t1\tr\t1\t-\t0\t1\t1\tf\t-\t-\n"
			    "S\t2\tr\t4\t-\t0\t2\t1\tf\t-\t-\n"
			    "S\t3\tr\t8\t-\t0\t3\t1\tf\t-\t-\n"
			    "S\t4\tw\t1\t-\t0\t4\t1\tf\t-\t-\n"
			    "S\t5\tw\t4\t-\t0\t5\t1\tf\t-\t-\n"
			    "S\t6\tw\t8\t-\t0\t6\t1\tf\t-\t-\n"
			    "S\t7\tal\t4\ta\t0\t7\t1\tf\t-\t-\n"
			    "S\t8\tas\t4\tr\t0\t8\t1\tf\t-\t-\n"
			    "S\t9\tas\t4\tx\t0\t9\t1\tf\t-\t-\n"
			    "S\t10\tc\t0\t-\t0\t10\t1\tmain\tf\t-\n"
			    "S\t11\tal\t4\tx\t0\t11\t1\tf\t-\t-\n"
			    "S\t12\tf\t0\ts\t0\t12\t1\tf\t-\t-\n";
#define TABLE_RECORDS 14
#define SITES 13

static uint64_t seed;

static uint64_t rnd(uint64_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed % below;
}

/* An event of the run, in the form that the twin uses. */
struct event {
	uint32_t thread, kind, object;
	uint64_t q; /* its position in the run */
	uint32_t site;
	uint64_t address, size;
	bool write, atomic;
	bool fenced; /* its thread has executed a fence before */
};

struct run {
	struct event events[EVENTS + THREADS];
	size_t count;
	uint64_t q, last_q[THREADS];
	uint32_t owner[LOCKS];
	struct trace_encoder encoders[THREADS];
	struct trace_writer *writer;
	unsigned in_chunk[THREADS];
	bool fenced[THREADS];
	bool barrier; /* the program contains a compiler barrier in assembly */
	bool hidden;  /* something that the trace does not show ordered threads */
	char directory[64];
};

static struct event *add(struct run *r, uint32_t thread, uint32_t kind, uint32_t object)
{
	struct event *e = &r->events[r->count++];

	*e = (struct event){.thread = thread, .kind = kind, .object = object, .fenced = r->fenced[thread]};
	if (raddle_has_q(kind))
		r->last_q[thread] = r->q++;
	e->q = r->last_q[thread];
	return e;
}

static void end_chunk(struct run *r, uint32_t thread)
{
	struct trace_encoder *e = &r->encoders[thread];

	if (r->in_chunk[thread])
		assert_int_equal(trace_writer_chunk(r->writer, thread, e->out.data, e->out.length), RD_OK);
	trace_encode_reset(e);
	trace_encode_stack(e, 0, (uint32_t[]){10}, 1);
	r->in_chunk[thread] = 0;
}

static void put(struct run *r, uint32_t thread, enum raddle_event kind, const uint64_t *values)
{
	if (r->in_chunk[thread] == 12)
		end_chunk(r, thread);
	r->in_chunk[thread]++;
	trace_encode_row(&r->encoders[thread], kind, values, NULL);
}

static void random_access(struct run *r, uint32_t thread)
{
	uint32_t site = 1 + (uint32_t)rnd(10), sort = (site - 1) % 3;
	uint64_t address = BASE + rnd(6) * 8 + (sort == 0 ? rnd(8) : sort == 1 ? rnd(2) * 4 : 0);
	struct event *e;

	if (r->in_chunk[thread] == 12)
		end_chunk(r, thread);
	site = site == 10 ? 11 : site;
	if (site >= 7) {
		address = rnd(4) ? FLAG + rnd(2) * 4 : BASE + rnd(6) * 8;
		e = add(r, thread, RADDLE_ATOMIC, 0);
		put(r, thread, RADDLE_ATOMIC, (uint64_t[]){e->q, site, address, site == 8 || site == 9});
		e->atomic = true;
	} else {
		e = add(r, thread, RADDLE_ACCESS, 0);
		r->in_chunk[thread]++;
		trace_encode_access(&r->encoders[thread], site, address);
	}
	e->site = site;
	e->address = address;
	e->size = site >= 7 || sort == 1 ? 4 : sort == 0 ? 1 : 8;
	e->write = site == 8 || site == 9 || (site >= 4 && site <= 6);
}

static void random_lock(struct run *r, uint32_t thread)
{
	uint32_t lock = (uint32_t)rnd(LOCKS);
	bool own = r->owner[lock] == thread;

	if (!own && r->owner[lock] != NOBODY)
		return;
	uint32_t kind = own ? RADDLE_MUTEX_UNLOCK : RADDLE_MUTEX_LOCK;
	const struct event *e = add(r, thread, kind, lock);
	put(r, thread, kind, (uint64_t[]){e->q, 0, LOCK + lock * 64, 0});
	r->owner[lock] = own ? NOBODY : thread;
}

static void random_sem(struct run *r, uint32_t thread)
{
	uint32_t kind = rnd(2) ? RADDLE_SEM_POST : RADDLE_SEM_WAIT;
	const struct event *e = add(r, thread, kind, 0);

	put(r, thread, kind, (uint64_t[]){e->q, 0, SEM, 0});
}

/* Adds an event with the outside.  Rarely, it is a fence, or something that makes all orders
 * uncertain. */
static void random_outside(struct run *r, uint32_t thread)
{
	uint32_t what = (uint32_t)rnd(40), kind = what < 20 ? RADDLE_OUTSIDE_TELL : RADDLE_OUTSIDE_HEAR;
	const struct event *e;

	if (what == 39 && !rnd(4)) {
		kind = RADDLE_OUTSIDE_HIDDEN;
		r->hidden = true;
	} else if (what > 36) {
		kind = RADDLE_FENCE;
	}
	e = add(r, thread, kind, 0);
	put(r, thread, kind, (uint64_t[]){e->q, 12});
	r->fenced[thread] |= kind == RADDLE_FENCE;
}

static void begin_run(struct run *r)
{
	*r = (struct run){.q = 1};
	strcpy(r->directory, "/tmp/u-unordered-XXXXXX");
	assert_non_null(mkdtemp(r->directory));
	assert_int_equal(trace_writer_open(&r->writer, r->directory), RD_OK);
	for (uint32_t t = 0; t < LOCKS; t++)
		r->owner[t] = NOBODY;
	for (uint32_t t = 0; t < THREADS; t++)
		end_chunk(r, t);
}

static void end_run(struct run *r, bool complete)
{
	struct trace_meta meta = {.complete = complete};
	char path[128];

	for (uint32_t t = 0; t < THREADS; t++) {
		end_chunk(r, t);
		rd_buf_release(&r->encoders[t].out);
	}
	assert_int_equal(trace_writer_meta(r->writer, &meta), RD_OK);
	assert_int_equal(trace_writer_close(r->writer), RD_OK);
	char *rows = rd_xasprintf("%s%s", table, r->barrier ? "S\t13\tf\t0\tvq\t0\t13\t1\tf\t-\t-\n" : "");
	char *text = rd_xasprintf("%send\t%d\t%016llx\n", rows, TABLE_RECORDS + r->barrier,
				  (unsigned long long)XXH64(rows, strlen(rows), 0));
	snprintf(path, sizeof path, "%s/sites", r->directory);
	assert_int_equal(rd_file_write(path, text, strlen(text)), RD_OK);
	free(text);
	free(rows);
}

static void start_thread(struct run *r, uint32_t thread, uint64_t parent)
{
	const struct event *e = add(r, thread, RADDLE_THREAD_START, 0);

	put(r, thread, RADDLE_THREAD_START, (uint64_t[]){e->q, 0, parent, thread - 1, 0, 0, 0});
}

/* Makes a run in which the initial thread creates the others and joins one. */
static void random_run(struct run *r)
{
	begin_run(r);
	random_access(r, 0);
	for (uint32_t t = 1; t < THREADS; t++) {
		const struct event *e = add(r, 0, RADDLE_THREAD_CREATE, t);
		put(r, 0, RADDLE_THREAD_CREATE, (uint64_t[]){e->q, 0, t, t - 1, 0});
		if (rnd(2))
			random_access(r, 0);
		start_thread(r, t, 0);
	}
	while (r->count < EVENTS) {
		uint32_t thread = (uint32_t)rnd(THREADS), what = (uint32_t)rnd(16);
		if (what < 3)
			random_lock(r, thread);
		else if (what == 3)
			random_sem(r, thread);
		else if (what == 4)
			random_outside(r, thread);
		else
			random_access(r, thread);
	}
	end_run(r, true);
}

/* ---- the twin: a graph of all events ---- */

static bool releases(const struct event *a)
{
	return a->kind == RADDLE_MUTEX_UNLOCK || a->kind == RADDLE_SEM_POST ||
	       (a->kind == RADDLE_ATOMIC && (a->site == 8 || (a->site == 9 && a->fenced)));
}

static bool acquires(const struct event *a)
{
	return a->kind == RADDLE_MUTEX_LOCK || a->kind == RADDLE_SEM_WAIT ||
	       (a->kind == RADDLE_ATOMIC && (a->site == 7 || (a->site == 11 && a->fenced)));
}

static bool has_edge(const struct event *a, const struct event *b)
{
	if (a->thread == b->thread)
		return true;
	if (a->kind == RADDLE_THREAD_CREATE && a->object == b->thread)
		return true;
	if (!releases(a) || !acquires(b) || (a->kind == RADDLE_ATOMIC) != (b->kind == RADDLE_ATOMIC))
		return false;
	if (a->kind == RADDLE_ATOMIC)
		return a->address == b->address;
	return (a->kind == RADDLE_SEM_POST) == (b->kind == RADDLE_SEM_WAIT) && a->object == b->object;
}

/* Whether a relaxed read between the two events returned what the first one released, and the
 * second event is the fence after that read. */
static bool is_fenced(const struct event **order, size_t i, size_t k)
{
	if (order[k]->kind != RADDLE_FENCE || order[i]->kind != RADDLE_ATOMIC || !releases(order[i]))
		return false;
	for (size_t n = i + 1; n < k; n++)
		if (order[n]->thread == order[k]->thread && order[n]->site == 11 && !order[n]->fenced &&
		    order[n]->address == order[i]->address)
			return true;
	return false;
}

/* Whether something may have ordered the two events.  Stores count here, although they read
 * nothing. */
static bool may_have_edge(const struct event **order, size_t i, size_t k)
{
	const struct event *a = order[i], *b = order[k];

	if (a->kind == RADDLE_OUTSIDE_TELL && b->kind == RADDLE_OUTSIDE_HEAR)
		return true;
	if (a->kind == RADDLE_ATOMIC && b->kind == RADDLE_ATOMIC && releases(a) && releases(b))
		return a->address == b->address;
	return has_edge(a, b) || is_fenced(order, i, k);
}

static int by_place(const void *left, const void *right)
{
	const struct event *const *a = left, *const *b = right;

	if ((*a)->q != (*b)->q)
		return (*a)->q < (*b)->q ? -1 : 1;
	return *a < *b ? -1 : 1; /* events of one thread stay in their order */
}

static bool conflict(const struct event *a, const struct event *b)
{
	return a->site && b->site && a->thread != b->thread && (a->write || b->write) &&
	       !(a->atomic && b->atomic) && a->address < b->address + b->size &&
	       b->address < a->address + a->size;
}

typedef uint8_t reach[EVENTS + THREADS][EVENTS + THREADS]; /* indexed by positions in the order */
static reach reached, maybe;

static void find_reached(const struct event **order, size_t count)
{
	memset(reached, 0, sizeof reached);
	memset(maybe, 0, sizeof maybe);
	for (size_t i = 0; i < count; i++) {
		reached[i][i] = maybe[i][i] = 1;
		for (size_t k = i + 1; k < count; k++) {
			for (size_t n = i; n < k && !reached[i][k]; n++)
				reached[i][k] = reached[i][n] && has_edge(order[n], order[k]);
			for (size_t n = i; n < k && !maybe[i][k]; n++)
				maybe[i][k] = maybe[i][n] && may_have_edge(order, n, k);
		}
	}
}

static bool releases_between(const struct event **order, size_t i, size_t k)
{
	for (size_t n = i; n < k; n++)
		if (order[n]->thread == order[i]->thread &&
		    (releases(order[n]) || order[n]->kind == RADDLE_THREAD_CREATE ||
		     order[n]->kind == RADDLE_OUTSIDE_TELL))
			return true;
	return false;
}

/* Whether access k, which comes after access i, conflicts with everything that i conflicts with. */
static bool stands_for(const struct event **order, size_t i, size_t k)
{
	const struct event *a = order[i], *b = order[k];

	return b->site && reached[i][k] && (a->thread != b->thread || releases_between(order, i, k)) &&
	       b->address <= a->address && a->address + a->size <= b->address + b->size &&
	       (b->write || !a->write) && (!b->atomic || a->atomic);
}

struct found {
	uint64_t width; /* of the shortest part with such a pair; 0: there is none */
	bool firm;
};

static void find_pair(struct found *known, const struct event *a, const struct event *b, bool firm)
{
	uint64_t width = b->q + 1 - a->q;

	if (known->width && (known->firm > firm || (known->firm == firm && known->width <= width)))
		return;
	*known = (struct found){width, firm};
}

/* Finds the unordered pairs for each pair of sites. */
static void find_slowly(const struct run *r, struct found found[SITES][SITES])
{
	const struct event **order = rd_xcalloc(r->count, sizeof *order);

	memset(found, 0, SITES * sizeof *found);
	for (size_t i = 0; i < r->count; i++)
		order[i] = &r->events[i];
	qsort(order, r->count, sizeof *order, by_place);
	find_reached(order, r->count);
	for (size_t i = 0; i < r->count; i++) {
		const struct event *a = order[i];

		for (size_t k = i + 1; k < r->count && a->site && !(k > i + 1 && stands_for(order, i, k - 1));
		     k++) {
			const struct event *b = order[k];

			if (reached[i][k] || !conflict(a, b))
				continue;
			find_pair(&found[a->site < b->site ? a->site : b->site]
					[a->site < b->site ? b->site : a->site],
				  a, b, !maybe[i][k]);
		}
	}
	free(order);
}

static void check_unordered(const struct run *r, const struct model *m)
{
	struct found found[SITES][SITES];
	struct predict_unordered_list list;
	size_t expected = 0;

	find_slowly(r, found);
	predict_find_unordered(m, 0, &list);
	assert_false(list.cut);
	for (size_t i = 0; i < list.count; i++) {
		const struct predict_unordered *u = &list.items[i];
		const struct found *f = &found[u->sites[0]][u->sites[1]];
		assert_int_equal(u->part.to - u->part.from, f->width);
		assert_int_equal(u->firm, f->firm && !r->hidden);
	}
	for (size_t i = 0; i < SITES * SITES; i++)
		expected += found[i / SITES][i % SITES].width != 0;
	assert_int_equal(list.count, expected);
	predict_unordered_release(&list);
	predict_find_unordered(m, 1, &list);
	assert_true(list.cut);
	predict_unordered_release(&list);
}

static struct model *read_model(const struct run *r, struct trace **trace)
{
	struct model *m = NULL;

	assert_int_equal(trace_open(trace, r->directory, false), RD_OK);
	assert_int_equal(model_build(&m, *trace, MODEL_PARTS), RD_OK);
	assert_int_equal(m->err, 0);
	return m;
}

static void test_unordered(void **state)
{
	struct run *r = rd_xmalloc(sizeof *r);

	(void)state;
	for (uint64_t n = 1; n <= 12; n++) {
		struct trace *trace = NULL;
		seed = n * 0x9e3779b97f4a7c15ull;
		random_run(r);
		struct model *m = read_model(r, &trace);
		check_unordered(r, m);
		model_free(m);
		trace_close(trace);
		rd_remove_tree(r->directory);
	}
	free(r);
}

/* ---- pairs of accesses that something may have ordered ---- */

static void put_access(struct run *r, uint32_t thread, uint32_t site)
{
	trace_encode_access(&r->encoders[thread], site, BASE);
	r->in_chunk[thread]++;
}

static void put_atomic(struct run *r, uint32_t thread, uint32_t site, bool stores)
{
	put(r, thread, RADDLE_ATOMIC, (uint64_t[]){r->q++, site, FLAG, stores});
}

/* Thread 1 writes, and thread 2 reads.  This is what happens between the two accesses. */
enum between { NOTHING, RELAXED, FENCED, BARRIER, GUARD, BY_ITSELF, DAMAGED, BETWEENS };

static void small_run(struct run *r, enum between between)
{
	begin_run(r);
	r->barrier = between == BARRIER;
	start_thread(r, 1, 0);
	put_access(r, 1, 5);
	if (between == GUARD)
		put(r, 1, RADDLE_ONCE_DONE, (uint64_t[]){r->q++, 0, FLAG, 0});
	else if (between != BY_ITSELF)
		put_atomic(r, 1, between == BARRIER ? 9 : 8, true);
	start_thread(r, 2, between == BY_ITSELF ? UINT64_MAX : 0);
	if (between == RELAXED || between == FENCED || between == BARRIER)
		put_atomic(r, 2, 11, false);
	else if (between == GUARD)
		put_atomic(r, 2, 7, false);
	if (between == FENCED)
		put(r, 2, RADDLE_FENCE, (uint64_t[]){r->q++, 12});
	put_access(r, 2, 2);
	end_run(r, between != DAMAGED);
}

static void test_between(void **state)
{
	struct run *r = rd_xmalloc(sizeof *r);

	(void)state;
	for (enum between n = NOTHING; n < BETWEENS; n++) {
		struct predict_unordered_list list;
		struct trace *trace = NULL;
		small_run(r, n);
		struct model *m = read_model(r, &trace);
		predict_find_unordered(m, 0, &list);
		/* the pair is found, so that prediction can examine it */
		assert_int_equal(list.count, 1);
		assert_int_equal(list.items[0].firm, n == NOTHING || n == RELAXED);
		predict_unordered_release(&list);
		model_free(m);
		trace_close(trace);
		rd_remove_tree(r->directory);
	}
	free(r);
}

/* ---- parts loaded in any order ---- */

static void check_same(const struct model *m, const struct model *other)
{
	for (size_t t = 0; t < m->thread_count; t++) {
		const struct model_history *a = &m->histories[t], *b = &other->histories[t];
		assert_int_equal(a->operation_count, b->operation_count);
		assert_int_equal(a->access_count, b->access_count);
		assert_int_equal(a->skipped, b->skipped);
		for (size_t i = 0; i < a->operation_count; i++) {
			const struct model_operation *x = &a->operations[i], *y = &b->operations[i];
			assert_true(x->q == y->q && x->kind == y->kind && x->counted == y->counted &&
				    x->access == y->access && x->sync == y->sync && x->value == y->value);
			assert_int_equal(m->stacks[x->stack].site, other->stacks[y->stack].site);
		}
		for (size_t i = 0; i < a->access_count; i++) {
			const struct model_access *x = &a->accesses[i], *y = &b->accesses[i];
			assert_true(x->site == y->site && x->offset == y->offset && x->size == y->size);
			struct model_spot p, q;
			assert_int_equal(model_locate(m, (uint32_t)t, &i, 1, &p), RD_OK);
			assert_int_equal(model_locate(other, (uint32_t)t, &i, 1, &q), RD_OK);
			assert_true(p.occurrence && p.after == q.after && p.occurrence == q.occurrence);
		}
	}
}

static void test_parts(void **state)
{
	struct run *r = rd_xmalloc(sizeof *r);

	(void)state;
	for (uint64_t n = 1; n <= 6; n++) {
		struct trace *trace = NULL, *again = NULL;
		seed = n * 0xd1342543de82ef95ull;
		random_run(r);
		struct model *m = read_model(r, &trace);
		for (int k = 0; k < 12; k++) {
			/* the first load sets all marks */
			uint64_t from = k ? rnd(r->q) : r->q - 1;
			struct model_part part = {from, from + 1 + rnd(20)};
			struct model *fresh = read_model(r, &again);
			assert_int_equal(model_load(m, part), RD_OK);
			assert_int_equal(model_load(fresh, part), RD_OK);
			check_same(m, fresh);
			model_free(fresh);
			trace_close(again);
		}
		model_free(m);
		trace_close(trace);
		rd_remove_tree(r->directory);
	}
	free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_unordered), cmocka_unit_test(test_between),
					   cmocka_unit_test(test_parts)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
