// SPDX-License-Identifier: Apache-2.0
/*
 * Unit tests of making executions from operations.  Whatever random threads do with all primitives,
 * the machine must accept the order in which they did it, in parts and as a whole.  An operation
 * that contradicts a primitive orders nothing.  A wake matches one specific notification, or any.
 */
#include "order/fill.h"
#include "order/machine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { THREADS = 4, STEPS = 60, MUTEX = 0, RW, SEM, COND, BARRIER, ONCE, CHANNEL };

static uint64_t seed;

static unsigned dice(unsigned n)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (unsigned)(seed >> 33) % n;
}

/* Threads that do only what is possible.  Two fillers get all their operations. */
struct story {
	struct exec x[2]; /* of the run in parts, and of the whole run */
	struct order_filler f[2];
	size_t counted;
	int owner, depth; /* of the mutex, which is recursive; the owner is thread + 1, 0: free */
	int writer, readers[THREADS];
	int sem, arrived, inside[THREADS];
	int waits[THREADS], depths[THREADS]; /* 0: does not wait, 1: waits, 2: was notified */
	int once;			     /* thread + 1 that runs it; -1: it has run */
	bool sent;			     /* whether something was sent to the channel */
};

static void tell(struct story *s, unsigned thread, uint32_t kind, uint32_t object, uint32_t second,
		 uint64_t value)
{
	struct order_op op = {thread, kind, raddle_class(kind), object, second, value};

	for (int i = 0; i < 2; i++)
		order_fill(&s->f[i], &op);
	s->counted += raddle_is_counted(kind);
}

static void begin(struct story *s)
{
	memset(s, 0, sizeof *s);
	for (int i = 0; i < 2; i++) {
		exec_init(&s->x[i]);
		s->x[i].whole = i;
		order_filler_init(&s->f[i], &s->x[i]);
	}
	tell(s, 0, RADDLE_THREAD_START, EXEC_NONE, EXEC_NONE, 0);
	tell(s, 0, RADDLE_SEM_INIT, SEM, EXEC_NONE, 1);
	tell(s, 0, RADDLE_BARRIER_INIT, BARRIER, EXEC_NONE, 2);
	s->sem = 1;
	for (unsigned t = 1; t < THREADS; t++) {
		tell(s, 0, RADDLE_THREAD_CREATE, EXEC_NONE, t, 0);
		tell(s, t, RADDLE_THREAD_START, EXEC_NONE, EXEC_NONE, 0);
	}
}

static void use_mutex(struct story *s, unsigned t)
{
	bool own = s->owner == (int)t + 1;

	if (own && dice(2)) {
		tell(s, t, RADDLE_MUTEX_UNLOCK, MUTEX, EXEC_NONE, 0);
		s->owner = --s->depth ? s->owner : 0;
	} else if (own || !s->owner) {
		tell(s, t, dice(2) ? RADDLE_MUTEX_LOCK : RADDLE_MUTEX_TRYLOCK, MUTEX, EXEC_NONE, 0);
		s->owner = (int)t + 1;
		s->depth++;
	} else {
		tell(s, t, RADDLE_MUTEX_TRYLOCK, MUTEX, EXEC_NONE, 16);
	}
}

static void use_rwlock(struct story *s, unsigned t)
{
	int readers = 0;

	for (unsigned i = 0; i < THREADS; i++)
		readers += s->readers[i];
	if (s->readers[t] || s->writer == (int)t + 1) {
		tell(s, t, RADDLE_RWLOCK_UNLOCK, RW, EXEC_NONE, 0);
		s->writer = s->readers[t] ? s->writer : 0;
		s->readers[t] = 0;
	} else if (!s->writer && dice(2)) {
		tell(s, t, RADDLE_RWLOCK_RDLOCK, RW, EXEC_NONE, 0);
		s->readers[t] = 1;
	} else if (!s->writer && !readers) {
		tell(s, t, RADDLE_RWLOCK_WRLOCK, RW, EXEC_NONE, 0);
		s->writer = (int)t + 1;
	}
}

static void use_condition(struct story *s, unsigned t)
{
	bool all = dice(2);

	if (s->owner == (int)t + 1 && dice(2)) {
		tell(s, t, RADDLE_COND_WAIT, COND, MUTEX, 0);
		s->waits[t] = 1;
		s->depths[t] = s->depth;
		s->owner = s->depth = 0;
		return;
	}
	tell(s, t, all ? RADDLE_COND_BROADCAST : RADDLE_COND_SIGNAL, COND, EXEC_NONE, 0);
	for (unsigned i = 0; i < THREADS; i++) {
		if (s->waits[i] != 1)
			continue;
		s->waits[i] = 2;
		if (!all)
			return;
	}
}

static void use_others(struct story *s, unsigned t)
{
	if (dice(4) == 0) {
		bool send = !s->sent || dice(2);

		tell(s, t, send ? RADDLE_CHANNEL_SEND : RADDLE_CHANNEL_RECEIVE, CHANNEL, EXEC_NONE, 0);
		s->sent = true;
	} else if (dice(2)) {
		bool post = !s->sem || dice(2);

		tell(s, t, post ? RADDLE_SEM_POST : RADDLE_SEM_WAIT, SEM, EXEC_NONE, 0);
		s->sem += post ? 1 : -1;
	} else if (!s->once) {
		tell(s, t, RADDLE_ONCE_RUN, ONCE, EXEC_NONE, 0);
		s->once = (int)t + 1;
	} else if (s->once == (int)t + 1) {
		tell(s, t, RADDLE_ONCE_DONE, ONCE, EXEC_NONE, 0);
		s->once = -1;
	} else if (s->once < 0) {
		tell(s, t, RADDLE_ONCE_PASS, ONCE, EXEC_NONE, 0);
	}
}

/* A barrier of two threads: those inside leave when the second one has entered. */
static void use_barrier(struct story *s, unsigned t)
{
	if (s->inside[t] == 2) {
		tell(s, t, RADDLE_BARRIER_EXIT, BARRIER, EXEC_NONE, 0);
		s->inside[t] = 0;
		return;
	}
	tell(s, t, RADDLE_BARRIER_ENTER, BARRIER, EXEC_NONE, 0);
	s->inside[t] = 1;
	if (++s->arrived % 2 == 0)
		for (unsigned i = 0; i < THREADS; i++)
			s->inside[i] = s->inside[i] ? 2 : 0;
}

static void step(struct story *s)
{
	static void (*const uses[])(struct story *, unsigned) = {use_mutex, use_rwlock, use_condition,
								 use_others, use_barrier};
	unsigned t = dice(THREADS);

	if (s->waits[t] == 2 && !s->owner) {
		tell(s, t, RADDLE_COND_WAKE, COND, MUTEX, 0);
		s->waits[t] = 0;
		s->owner = (int)t + 1;
		s->depth = s->depths[t];
	} else if (!s->waits[t] && s->inside[t] != 1) {
		(s->inside[t] ? use_barrier : uses[dice(5)])(s, t);
	}
}

static void end(struct story *s)
{
	for (int i = 0; i < 2; i++) {
		order_filler_release(&s->f[i]);
		exec_release(&s->x[i]);
	}
}

static void test_stories(void **state)
{
	unsigned kinds[EXEC_KINDS] = {0};

	(void)state;
	for (unsigned n = 0; n < 3000; n++) {
		struct story s;

		seed = n * 0x9e3779b97f4a7c15ull + 1;
		begin(&s);
		for (int i = 0; i < STEPS; i++)
			step(&s);
		assert_int_equal(s.x[1].count, s.counted);
		for (int i = 0; i < 2; i++) {
			const char *why;
			uint32_t bad;

			exec_match_signals(&s.x[i]);
			bad = exec_check(&s.x[i], &why);
			if (bad != EXEC_NONE)
				fail_msg("story %u, %s: event %u %s", n, i ? "whole" : "in parts", bad, why);
			assert_int_equal(s.f[i].odd, 0);
			for (size_t k = 0; k < s.x[i].count; k++)
				kinds[s.x[i].events[k].kind]++;
		}
		end(&s);
	}
	for (int k = EXEC_LOCK; k < EXEC_KINDS; k++)
		if (k != EXEC_END && k != EXEC_JOIN)
			assert_true(kinds[k] > 0);
}

/* These operations contradict their primitives.  They order nothing, but are counted. */
static void test_contradictions(void **state)
{
	struct story s;

	(void)state;
	begin(&s);
	tell(&s, 1, RADDLE_MUTEX_UNLOCK, MUTEX, EXEC_NONE, 0);
	tell(&s, 1, RADDLE_BARRIER_EXIT, BARRIER, EXEC_NONE, 0);
	tell(&s, 1, RADDLE_COND_WAIT, COND, MUTEX, 0);
	tell(&s, 1, RADDLE_THREAD_JOIN, EXEC_NONE, 1, 0);
	tell(&s, 2, RADDLE_THREAD_CREATE, EXEC_NONE, 1, 0);
	assert_int_equal(s.f[1].odd, 3);
	assert_int_equal(s.x[1].count, s.counted);
	assert_int_equal(s.x[1].events[s.counted - 5].kind, EXEC_FREE);
	assert_int_equal(s.x[1].events[s.counted - 4].kind, EXEC_FREE);
	assert_int_equal(s.x[1].events[s.counted - 3].aux, EXEC_NONE);
	assert_int_equal(s.x[1].events[s.counted - 2].kind, EXEC_FREE);
	assert_int_equal(s.x[1].events[s.counted - 1].kind, EXEC_FREE);
	end(&s);
}

static void run(struct machine *m, const struct exec *x, uint32_t thread, uint32_t last)
{
	for (uint32_t i = m->at[thread]; i <= last; i++)
		if (x->events[i].thread == thread)
			assert_null(machine_step(m, i));
}

/* Two threads wait, and two signals follow.  In the whole run, either signal may end the first
 * wait.  In a part, it must be the recorded one. */
static void test_meanings(void **state)
{
	struct story s;

	(void)state;
	begin(&s);
	for (unsigned t = 1; t <= 2; t++) {
		tell(&s, t, RADDLE_MUTEX_LOCK, MUTEX, EXEC_NONE, 0);
		tell(&s, t, RADDLE_COND_WAIT, COND, MUTEX, 0);
	}
	tell(&s, 0, RADDLE_COND_SIGNAL, COND, EXEC_NONE, 0);
	tell(&s, 3, RADDLE_COND_SIGNAL, COND, EXEC_NONE, 0);
	tell(&s, 1, RADDLE_COND_WAKE, COND, MUTEX, 0);
	for (int i = 0; i < 2; i++) {
		struct exec *x = &s.x[i];
		uint32_t wake = (uint32_t)x->count - 1 - !i;
		struct machine m;

		exec_match_signals(x);
		assert_int_equal(x->events[wake].kind, EXEC_WAKE);
		assert_int_equal(x->events[x->events[wake].aux].thread, 0);
		machine_init(&m, x);
		run(&m, x, 0, x->events[wake].aux - 1);
		run(&m, x, 1, wake - 1);
		run(&m, x, 3,
		    /* thread 3 signals; thread 2 does not wait yet, and thread 0 has not
		     * signalled */
		    wake - 1);
		assert_true(!machine_may(&m, wake) == (i == 1));
		machine_release(&m);
	}
	end(&s);
}

/* A receive is ordered after the latest earlier send of each other thread.  Later sends do not
 * matter. */
static void test_channels(void **state)
{
	const struct exec *x;
	struct machine m;
	struct story s;
	uint32_t first, last;

	(void)state;
	begin(&s);
	first = (uint32_t)s.x[0].count;
	tell(&s, 1, RADDLE_CHANNEL_SEND, CHANNEL, EXEC_NONE, 0);
	tell(&s, 2, RADDLE_CHANNEL_SEND, CHANNEL, EXEC_NONE, 0);
	tell(&s, 1, RADDLE_CHANNEL_SEND, CHANNEL, EXEC_NONE, 0);
	tell(&s, 3, RADDLE_CHANNEL_RECEIVE, CHANNEL, EXEC_NONE, 0);
	last = (uint32_t)s.x[0].count - 1;
	tell(&s, 3, RADDLE_CHANNEL_RECEIVE, CHANNEL, EXEC_NONE, 0);
	x = &s.x[0];
	assert_int_equal(x->count, first + 5); /* the second receive finds nothing new */
	machine_init(&m, x);
	for (uint32_t i = 0; i < first; i++)
		assert_null(machine_step(&m, i));
	assert_null(machine_step(&m, first));
	assert_null(machine_step(&m, first + 1));
	assert_non_null(machine_may(&m, last - (x->events[last].object != x->events[first + 2].object)));
	assert_null(machine_step(&m, first + 2));
	assert_null(machine_step(&m, last - 1));
	assert_null(machine_step(&m, last));
	machine_release(&m);
	end(&s);
}

/* A mutex that another thread releases is treated as a semaphore, unless a condition wait uses
 * it. */
static void test_handed(void **state)
{
	static const struct order_op ops[] = {
		{0, RADDLE_MUTEX_LOCK, RADDLE_CLASS_MUTEX, MUTEX, EXEC_NONE, 0},
		{1, RADDLE_MUTEX_UNLOCK, RADDLE_CLASS_MUTEX, MUTEX, EXEC_NONE, 0},
		{0, RADDLE_MUTEX_LOCK, RADDLE_CLASS_MUTEX, MUTEX, EXEC_NONE, 0},
		{0, RADDLE_COND_WAIT, RADDLE_CLASS_COND, COND, MUTEX, 0},
	};
	static const enum exec_kind kinds[] = {EXEC_TAKE, EXEC_POST, EXEC_TAKE};

	(void)state;
	for (size_t count = 1; count <= 4; count++) {
		struct story s;
		const char *why;
		size_t first;

		begin(&s);
		first = s.x[0].count;
		for (size_t i = 0; i < count; i++)
			order_fill_look_ahead(&s.f[0], &ops[i]);
		assert_int_equal(s.f[0].handed, count >= 2);
		for (size_t i = 0; i < count; i++)
			order_fill(&s.f[0], &ops[i]);
		for (size_t i = 0; (count == 2 || count == 3) && i < count; i++)
			assert_int_equal(s.x[0].events[first + i].kind, kinds[i]);
		assert_int_equal(exec_check(&s.x[0], &why), EXEC_NONE);
		assert_int_equal(s.f[0].odd, count == 4);
		end(&s);
	}
}

/* Runs the machine through the events that are done, then checks whether the next one may
 * happen. */
static const char *next_may(const struct exec *x, const uint32_t *done, size_t count, uint32_t next)
{
	struct machine m;
	const char *why;

	machine_init(&m, x);
	for (size_t i = 0; i < count; i++)
		assert_null(machine_step(&m, done[i]));
	why = machine_may(&m, next);
	machine_release(&m);
	return why;
}

/* If the lock prefers writers, a waiting writer blocks a reader, even one that holds the lock
 * already. */
static void test_writers(void **state)
{
	(void)state;
	for (int prefers = 0; prefers < 2; prefers++) {
		struct order_op ops[] = {
			{1, RADDLE_RWLOCK_WRITERS, RADDLE_CLASS_RWLOCK, RW, EXEC_NONE, 0},
			{1, RADDLE_RWLOCK_RDLOCK, RADDLE_CLASS_RWLOCK, RW, EXEC_NONE, 0},
			{1, RADDLE_RWLOCK_RDLOCK, RADDLE_CLASS_RWLOCK, RW, EXEC_NONE, 0},
			{1, RADDLE_RWLOCK_UNLOCK, RADDLE_CLASS_RWLOCK, RW, EXEC_NONE, 0},
			{1, RADDLE_RWLOCK_UNLOCK, RADDLE_CLASS_RWLOCK, RW, EXEC_NONE, 0},
			{2, RADDLE_RWLOCK_WRLOCK, RADDLE_CLASS_RWLOCK, RW, EXEC_NONE, 0},
			{2, RADDLE_RWLOCK_UNLOCK, RADDLE_CLASS_RWLOCK, RW, EXEC_NONE, 0},
		};
		uint32_t done[64], count = 0;
		const char *why;
		struct story s;

		begin(&s);
		for (uint32_t i = 0; i < s.x[0].count; i++)
			done[count++] = i;
		for (size_t i = !prefers; i < sizeof ops / sizeof *ops; i++)
			order_fill_look_ahead(&s.f[0], &ops[i]);
		for (size_t i = !prefers; i < sizeof ops / sizeof *ops; i++)
			order_fill(&s.f[0], &ops[i]);
		assert_int_equal(exec_check(&s.x[0], &why), EXEC_NONE);
		/* events: the reader takes gate and lock, and the gate again, and unlocks; the
		 * writer takes the gate */
		if (prefers) {
			uint32_t first = count, gate = s.x[0].events[first].object;

			for (int i = 0; i < 3; i++, count++)
				done[count] = first + (uint32_t)i;
			done[count++] = first + 6;
			assert_int_equal(s.x[0].events[first + 6].kind, EXEC_WRLOCK);
			assert_int_equal(s.x[0].events[first + 6].object, gate);
			/* the reader, which asks again */
			assert_non_null(next_may(&s.x[0], done, count, first + 3));
			assert_non_null(next_may(&s.x[0], done, count, first + 7)); /* the writer */
		} else {
			/* nested acquisitions are not events */
			assert_int_equal(s.x[0].count, count + 4);
		}
		end(&s);
	}
}

/* A mutex whose holder ends without a release is treated as a semaphore, unless it is robust. */
static void test_left(void **state)
{
	static const struct order_op ops[] = {
		{1, RADDLE_MUTEX_LOCK, RADDLE_CLASS_MUTEX, MUTEX, EXEC_NONE, 0},
		{1, RADDLE_THREAD_END, RADDLE_CLASS_THREAD, EXEC_NONE, EXEC_NONE, 0},
	};

	(void)state;
	for (int robust = 0; robust < 2; robust++) {
		struct story s;
		size_t first;

		begin(&s);
		first = s.x[0].count;
		if (robust)
			order_fill_robust(&s.f[0], MUTEX);
		for (int i = 0; i < 2; i++)
			order_fill_look_ahead(&s.f[0], &ops[i]);
		for (int i = 0; i < 2; i++)
			order_fill(&s.f[0], &ops[i]);
		assert_int_equal(s.x[0].events[first].kind, robust ? EXEC_LOCK : EXEC_TAKE);
		assert_false(s.f[0].handed);
		end(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stories),	 cmocka_unit_test(test_contradictions),
		cmocka_unit_test(test_meanings), cmocka_unit_test(test_channels),
		cmocka_unit_test(test_handed),	 cmocka_unit_test(test_writers),
		cmocka_unit_test(test_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
