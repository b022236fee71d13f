// SPDX-License-Identifier: Apache-2.0
/*
 * Unit tests of trace/check.h, with traces of random operations, correct and wrong.  A reference
 * that tracks in plain arrays which thread holds what predicts the remarks.
 */
#include "trace/check.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "trace/encode-int.h"
#include "trace/writer.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { THREADS = 3, LOCKS = 3, STEPS = 60, ROUNDS = 150 };
#define MUTEX(i) (0x1000 + 64 * (uint64_t)(i))
#define RWLOCK 0x2000

static char directory[32];

static void ignore(void *context, enum rd_level level, const char *text)
{
	(void)context;
	(void)level;
	(void)text;
}

static int set_up(void **state)
{
	(void)state;
	strcpy(directory, "/tmp/u-check-XXXXXX");
	rd_log_set(ignore, NULL);
	return mkdtemp(directory) ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	rd_log_set(NULL, NULL);
	return rd_remove_tree(directory);
}

/* ---- a trace under construction, and the number of expected remarks ---- */

struct maker {
	struct trace_encoder out[THREADS];
	uint64_t q, time, events, notes;
	struct {
		uint32_t owner, depth; /* the owner is thread + 1; 0: free */
	} mutex[LOCKS];
	uint32_t readers;
};

static void begin(struct maker *m)
{
	*m = (struct maker){0};
	for (uint32_t t = 0; t < THREADS; t++)
		trace_encode_reset(&m->out[t]);
}

static void add(struct maker *m, uint32_t thread, enum raddle_event kind, const uint64_t *rest)
{
	uint64_t values[8] = {++m->q, ++m->time};

	for (int i = 0; i < 5; i++)
		values[i + 2] = rest[i];
	trace_encode_row(&m->out[thread], kind, values, NULL);
	m->events++;
}

static void lock(struct maker *m, uint32_t thread, uint32_t i)
{
	m->notes += m->mutex[i].owner && m->mutex[i].owner != thread + 1;
	if (m->mutex[i].owner != thread + 1)
		m->mutex[i].depth = 0;
	m->mutex[i].owner = thread + 1;
	m->mutex[i].depth++;
}

static void unlock(struct maker *m, uint32_t thread, uint32_t i)
{
	m->notes += m->mutex[i].owner != thread + 1;
	if (m->mutex[i].owner && --m->mutex[i].depth == 0)
		m->mutex[i].owner = 0;
}

/* Adds a random operation, even if the thread could not do it at this point. */
static void step(struct maker *m)
{
	uint32_t t = (uint32_t)rand() % THREADS, i = (uint32_t)rand() % LOCKS;

	switch (rand() % 10) {
	case 0:
	case 1:
		add(m, t, RADDLE_MUTEX_LOCK, (uint64_t[5]){MUTEX(i)});
		lock(m, t, i);
		break;
	case 2:
	case 3:
		add(m, t, RADDLE_MUTEX_UNLOCK, (uint64_t[5]){MUTEX(i)});
		unlock(m, t, i);
		break;
	/* a failed attempt changes nothing */
	case 4: add(m, t, RADDLE_MUTEX_TRYLOCK, (uint64_t[5]){MUTEX(i), EBUSY}); break;
	case 5:
		add(m, t, RADDLE_MUTEX_LOCK, (uint64_t[5]){MUTEX(i), EOWNERDEAD});
		m->mutex[i].owner = 0; /* the previous owner has died */
		lock(m, t, i);
		break;
	case 6:
		add(m, t, RADDLE_COND_WAIT, (uint64_t[5]){0x3000, MUTEX(i)});
		unlock(m, t, i);
		break;
	case 7:
		add(m, t, RADDLE_COND_WAKE, (uint64_t[5]){0x3000, MUTEX(i)});
		lock(m, t, i);
		break;
	case 8:
		add(m, t, RADDLE_RWLOCK_RDLOCK, (uint64_t[5]){RWLOCK});
		m->readers++;
		break;
	default:
		add(m, t, RADDLE_RWLOCK_UNLOCK, (uint64_t[5]){RWLOCK});
		m->notes += !m->readers;
		m->readers -= m->readers > 0;
	}
}

/* ---- checking random traces ---- */

struct notes {
	uint64_t count;
	char last[160];
};

static void keep(void *context, const struct trace_lane *lane, const char *text)
{
	struct notes *n = context;

	assert_non_null(lane);
	n->count++;
	snprintf(n->last, sizeof n->last, "%s", text);
}

static struct trace_check_result finish(struct maker *m, struct notes *n)
{
	static int number;
	struct trace_check_result result;
	struct trace_writer *w;
	struct trace *t;
	char *path = rd_xasprintf("%s/%d", directory, number++);

	*n = (struct notes){0};
	assert_int_equal(trace_writer_open(&w, path), RD_OK);
	for (uint32_t i = 0; i < THREADS; i++) {
		if (m->out[i].out.length > 1)
			assert_int_equal(trace_writer_chunk(w, i, m->out[i].out.data, m->out[i].out.length),
					 RD_OK);
		rd_buf_release(&m->out[i].out);
	}
	assert_int_equal(trace_writer_close(w), RD_OK);
	assert_int_equal(trace_open(&t, path, true), RD_OK);
	assert_int_equal(trace_check(t, keep, n, &result), RD_OK);
	assert_int_equal(n->count, result.notes);
	assert_int_equal(result.err, 0);
	trace_close(t);
	free(path);
	return result;
}

static void remarks_are_those_of_the_twin(void **state)
{
	uint64_t silent = 0;

	(void)state;
	srand(14);
	for (int round = 0; round < ROUNDS; round++) {
		struct trace_check_result result;
		struct notes n;
		struct maker m;
		int steps = 1 + rand() % STEPS;

		begin(&m);
		for (int i = 0; i < steps; i++)
			step(&m);
		result = finish(&m, &n);
		assert_int_equal(result.events, m.events);
		assert_int_equal(result.notes, m.notes);
		silent += m.notes == 0;
	}
	assert_true(silent > 0 && silent < ROUNDS);
}

/* ---- checking hand-made traces ---- */

static void expect(struct maker *m, uint64_t notes, const char *last)
{
	struct notes n;
	struct trace_check_result result = finish(m, &n);

	assert_int_equal(result.notes, notes);
	if (last)
		assert_non_null(strstr(n.last, last));
}

static void threads_begin_and_end_once(void **state)
{
	static const uint64_t none[5];
	struct maker m;

	(void)state;
	begin(&m);
	add(&m, 1, RADDLE_THREAD_START, none);
	add(&m, 1, RADDLE_THREAD_END, none);
	expect(&m, 0, NULL);
	begin(&m);
	add(&m, 1, RADDLE_THREAD_START, none);
	add(&m, 1, RADDLE_THREAD_START, none);
	expect(&m, 1, "starts twice");
	begin(&m);
	add(&m, 1, RADDLE_THREAD_END, none);
	add(&m, 1, RADDLE_MUTEX_LOCK, (uint64_t[5]){MUTEX(0)});
	expect(&m, 1, "after the thread's end");
}

static void q_rises(void **state)
{
	struct maker m;

	(void)state;
	begin(&m);
	add(&m, 0, RADDLE_MUTEX_LOCK, (uint64_t[5]){MUTEX(0)});
	m.q--;
	add(&m, 1, RADDLE_MUTEX_LOCK, (uint64_t[5]){MUTEX(1)});
	expect(&m, 1, "two threads have q 1");
	begin(&m);
	m.q = 10;
	add(&m, 0, RADDLE_MUTEX_LOCK, (uint64_t[5]){MUTEX(0)});
	m.q = 5;
	add(&m, 0, RADDLE_MUTEX_UNLOCK, (uint64_t[5]){MUTEX(0)});
	expect(&m, 1, "q does not increase within the thread: 6");
}

/* If memory is used for a new lock, the lock is free at first. */
static void a_lock_that_is_initialised_is_free(void **state)
{
	struct maker m;

	(void)state;
	begin(&m);
	add(&m, 0, RADDLE_MUTEX_LOCK, (uint64_t[5]){MUTEX(0)});
	add(&m, 1, RADDLE_MUTEX_INIT, (uint64_t[5]){MUTEX(0)});
	add(&m, 1, RADDLE_MUTEX_LOCK, (uint64_t[5]){MUTEX(0)});
	expect(&m, 0, NULL);
	begin(&m);
	add(&m, 0, RADDLE_MUTEX_LOCK, (uint64_t[5]){MUTEX(0)});
	add(&m, 1, RADDLE_MUTEX_LOCK, (uint64_t[5]){MUTEX(0)});
	expect(&m, 1, "that another thread holds: 0x1000");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(remarks_are_those_of_the_twin),
		TEST(threads_begin_and_end_once),
		TEST(q_rises),
		TEST(a_lock_that_is_initialised_is_free),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
