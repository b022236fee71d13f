// SPDX-License-Identifier: Apache-2.0
/* Unit tests of epa/delay-int.h.  Random threads with locks and waits are compared with lists from
 * which the iterations that end in a wait are dropped, by definition. */
#include "epa/delay-int.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { THREADS = 3, STEPS = 400, ROUNDS = 200 };

/* The delayed records of a thread, the oldest first. */
struct list {
	struct epa_record *items;
	size_t count;
	unsigned locks;
	bool waited;
};

struct twin {
	struct list threads[THREADS];
	struct epa_record *out; /* the records that were released */
	size_t count;
};

static struct epa_record record(size_t place, uint64_t serial)
{
	return (struct epa_record){.kind = rand() % 4 ? TRACE_FULL_LOAD : TRACE_FULL_RESULT,
				   .site = 1 + (uint32_t)rand() % 6,
				   .depth = (uint32_t)rand() % 2,
				   .place = place,
				   .value = serial};
}

static void let_through(struct twin *t, struct list *l, size_t keep)
{
	size_t n = l->count > keep ? l->count - keep : 0;

	memcpy(t->out + t->count, l->items, n * sizeof *l->items);
	memmove(l->items, l->items + n, (l->count - n) * sizeof *l->items);
	t->count += n;
	l->count -= n;
}

/* Drops the iteration that ended in a wait.  By definition, it begins with the latest delayed
 * record like this one. */
static void drop_round(struct list *l, const struct epa_record *r)
{
	for (size_t i = l->count; i-- > 0;)
		if (l->items[i].site == r->site && l->items[i].kind == r->kind &&
		    l->items[i].depth == r->depth) {
			l->count = i;
			return;
		}
}

static void twin_record(struct twin *t, const struct epa_record *r)
{
	struct list *l = &t->threads[r->place];

	if (!l->locks && !l->count) {
		t->out[t->count++] = *r;
		return;
	}
	if (l->waited && r->kind != TRACE_FULL_RESULT) {
		l->waited = false;
		drop_round(l, r);
	}
	l->items[l->count++] = *r;
	let_through(t, l, l->locks ? EPA_DELAYED - 1 : 0);
}

static void twin_event(struct twin *t, size_t place, const struct trace_event *e)
{
	struct list *l = &t->threads[place];

	switch (e->kind) {
	case RADDLE_MUTEX_LOCK: l->locks++; break;
	case RADDLE_MUTEX_UNLOCK: l->locks -= l->locks > 0; break;
	case RADDLE_COND_WAKE: l->waited = true; break;
	case RADDLE_THREAD_END: l->locks = 0; break;
	default: break;
	}
}

static void drain(struct epa_delay *d, struct epa_record *out, size_t *count)
{
	struct epa_record r;

	while (epa_delay_next(d, &r))
		out[(*count)++] = r;
}

static struct trace_event random_event(void)
{
	static const enum raddle_event kinds[] = {RADDLE_MUTEX_LOCK, RADDLE_MUTEX_UNLOCK, RADDLE_MUTEX_UNLOCK,
						  RADDLE_COND_WAKE,  RADDLE_THREAD_END,	  RADDLE_SEM_POST};
	int n = rand() % 24;

	return (struct trace_event){.kind = kinds[n < 18 ? n % 4 : n % 6]};
}

static void compare(const struct twin *t, const struct epa_record *out, size_t count)
{
	assert_int_equal(count, t->count);
	for (size_t i = 0; i < count; i++) {
		assert_int_equal(out[i].value, t->out[i].value);
		assert_int_equal(out[i].place, t->out[i].place);
	}
}

static void run(size_t steps, size_t threads)
{
	struct epa_delay *d = epa_delay_new(NULL, threads);
	struct epa_record *out = calloc(steps, sizeof *out);
	struct twin t = {.out = calloc(steps, sizeof *t.out)};
	size_t count = 0;

	for (size_t i = 0; i < threads; i++)
		t.threads[i].items = calloc(steps + 1, sizeof *t.threads[i].items);
	for (size_t i = 0; i < steps; i++) {
		size_t place = (size_t)rand() % threads;

		if (rand() % 8 == 0) {
			struct trace_event e = random_event();

			epa_delay_event(d, place, &e);
			twin_event(&t, place, &e);
			continue;
		}
		struct epa_record r = record(place, i);

		assert_int_equal(epa_delay_idle(d, place),
				 !t.threads[place].locks && !t.threads[place].count);
		if (!epa_delay_take(d, &r))
			out[count++] = r;
		drain(d, out, &count);
		twin_record(&t, &r);
		compare(&t, out, count);
	}
	while (epa_delay_end(d))
		drain(d, out, &count);
	for (size_t i = 0; i < threads; i++) {
		/* A thread that still holds a lock was cut off, so its records are dropped. */
		if (!t.threads[i].locks)
			let_through(&t, &t.threads[i], 0);
		free(t.threads[i].items);
	}
	compare(&t, out, count);
	epa_delay_free(d);
	free(out);
	free(t.out);
}

static void rounds_are_dropped_as_defined(void **state)
{
	(void)state;
	srand(17);
	for (int round = 0; round < ROUNDS; round++)
		run(STEPS, THREADS);
}

/* If a thread never releases its mutex, the ring becomes full, and the oldest records are
 * released. */
static void a_full_ring_lets_the_oldest_go(void **state)
{
	struct trace_event lock = {.kind = RADDLE_MUTEX_LOCK};
	struct epa_delay *d = epa_delay_new(NULL, 1);
	struct epa_record r;
	uint64_t next = 0;

	(void)state;
	epa_delay_event(d, 0, &lock);
	for (uint64_t i = 0; i < 3 * EPA_DELAYED; i++) {
		r = (struct epa_record){.kind = TRACE_FULL_LOAD, .site = 1, .value = i};
		assert_true(epa_delay_take(d, &r));
		while (epa_delay_next(d, &r))
			assert_int_equal(r.value, next++);
		assert_true(i + 1 - next < EPA_DELAYED);
	}
	assert_int_equal(next, 2 * EPA_DELAYED + 1);
	assert_false(epa_delay_end(d));
	epa_delay_free(d);
}

/* The delayed records of a thread that was cut off are dropped, unless the thread died there, ended
 * the process itself, or was hit by a fault since it took the mutex. */
static void who_ends_the_run_is_not_cut_off(void **state)
{
	struct trace_event lock = {.kind = RADDLE_MUTEX_LOCK}, leave = {.kind = RADDLE_EXIT};
	(void)state;
	for (unsigned way = 0; way < 4; way++) {
		struct epa_delay *d = epa_delay_new(NULL, 1);
		struct epa_record r = {.kind = TRACE_FULL_LOAD, .site = 1, .unfinished = way == 1};

		epa_delay_event(d, 0, &lock);
		assert_true(epa_delay_take(d, &r));
		if (way == 2)
			epa_delay_event(d, 0, &leave);
		else if (way == 3)
			epa_delay_fault(d, 0);
		assert_int_equal(epa_delay_end(d), way != 0);
		assert_int_equal(epa_delay_next(d, &r), way != 0);
		epa_delay_free(d);
	}
}

/* A trylock that failed does not hold the mutex, so nothing is delayed. */
static void failed_locks_delay_nothing(void **state)
{
	struct trace_event failed = {.kind = RADDLE_MUTEX_TRYLOCK, .values = {0, 0, 0, 16}};
	struct epa_delay *d = epa_delay_new(NULL, 1);
	struct epa_record r = {.kind = TRACE_FULL_LOAD, .site = 1};

	(void)state;
	assert_int_not_equal(trace_result(&failed), 0);
	epa_delay_event(d, 0, &failed);
	assert_false(epa_delay_take(d, &r));
	epa_delay_free(d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rounds_are_dropped_as_defined),
		cmocka_unit_test(a_full_ring_lets_the_oldest_go),
		cmocka_unit_test(who_ends_the_run_is_not_cut_off),
		cmocka_unit_test(failed_locks_delay_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
