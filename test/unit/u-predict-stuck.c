/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of the owner graph of hanging programs, which shows which thread waits for which.
 * They cover cycles, threads that only wait for a cycle, locks of ended threads, and waits that
 * are deadlocks only if no other thread is left.
 */
#include "predict/stuck-int.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct situation {
	struct exec x;
	uint8_t waits[8];
	struct predict_result r;
};

static struct exec_event *put(struct situation *s, enum exec_kind kind, uint32_t thread, uint32_t object)
{
	return exec_add(&s->x, kind, thread, object);
}

/* Adds the operation in which a thread waits at the end. */
static void wait_in(struct situation *s, enum exec_kind kind, uint32_t thread, uint32_t object)
{
	put(s, kind, thread, object)->flags |= EXEC_PENDING;
	s->waits[thread] = 1;
}

/* Expects deadlocks of these threads, in order: "01 2". */
static void expect(struct situation *s, bool all, const char *text)
{
	struct predict_waiters standing = {s->waits, all};
	char found[64] = "";
	size_t n = 0;

	predict_find_stuck(&s->x, &standing, &s->r);
	for (size_t i = 0; i < s->r.deadlock_count; i++) {
		bool in[8] = {false};
		const struct predict_deadlock *l = &s->r.deadlocks[i];
		for (uint32_t k = 0; k < l->count; k++) {
			assert_true(s->x.events[l->stops[k]].flags & EXEC_PENDING);
			in[s->x.events[l->stops[k]].thread] = true;
		}
		if (i)
			found[n++] = ' ';
		for (int k = 0; k < 8; k++)
			if (in[k])
				found[n++] = (char)('0' + k);
		found[n] = 0;
	}
	assert_string_equal(found, text);
	predict_result_release(&s->r);
}

static struct situation begin(uint32_t threads)
{
	struct situation s = {0};

	exec_init(&s.x);
	for (uint32_t i = 0; i < threads; i++)
		put(&s, EXEC_BEGIN, i, 0);
	return s;
}

static void circle_and_its_victims(void **state)
{
	struct situation s = begin(5);

	(void)state;
	put(&s, EXEC_LOCK, 1, 0);
	put(&s, EXEC_LOCK, 2, 1);
	wait_in(&s, EXEC_LOCK, 1, 1);
	wait_in(&s, EXEC_LOCK, 2, 0);
	wait_in(&s, EXEC_JOIN, 0, 1); /* joins a thread of the cycle */
	wait_in(&s, EXEC_LOCK, 3, 0); /* waits for a lock of the cycle */
	expect(&s, false, "12");
	expect(&s, true, "12");
	s.waits[2] = 0; /* this wait has a time limit */
	expect(&s, false, "");
	exec_release(&s.x);
}

static void shared_locks(void **state)
{
	struct situation s = begin(3);

	(void)state;
	put(&s, EXEC_RDLOCK, 0, 0);
	put(&s, EXEC_RDLOCK, 1, 0);
	put(&s, EXEC_RDLOCK, 2, 0);
	put(&s, EXEC_UNLOCK, 2, 0);
	put(&s, EXEC_LOCK, 1, 1);
	wait_in(&s, EXEC_WRLOCK, 2, 0);
	wait_in(&s, EXEC_LOCK, 0, 1);
	expect(&s, false, "");
	wait_in(&s, EXEC_WRLOCK, 1, 0);
	expect(&s, false, "01");
	exec_release(&s.x);
}

static void alone(void **state)
{
	struct situation s = begin(3);

	(void)state;
	put(&s, EXEC_LOCK, 0, 0);
	wait_in(&s, EXEC_LOCK, 0, 0);
	put(&s, EXEC_LOCK, 1, 1);
	put(&s, EXEC_END, 1, 0);
	wait_in(&s, EXEC_LOCK, 2, 1); /* the lock of an ended thread */
	expect(&s, false, "2");	      /* another thread may release lock 0 */
	expect(&s, true, "0 2");
	exec_release(&s.x);
}

static void waits_for_others(void **state)
{
	struct situation s = begin(6);

	(void)state;
	put(&s, EXEC_LOCK, 1, 0);
	put(&s, EXEC_LOCK, 1, 1);
	put(&s, EXEC_WAIT, 1, 0)->aux = 1;
	wait_in(&s, EXEC_WAKE, 1, 0);
	wait_in(&s, EXEC_LOCK, 2, 0); /* thread 1 holds the lock, so thread 2 cannot signal */
	put(&s, EXEC_LOCK, 5, 1);     /* the mutex of the wait is free */
	put(&s, EXEC_UNLOCK, 5, 1);
	put(&s, EXEC_ENTER, 3, 0);
	wait_in(&s, EXEC_EXIT, 3, 0);
	put(&s, EXEC_ENTER, 4, 0);
	wait_in(&s, EXEC_EXIT, 4, 0);
	wait_in(&s, EXEC_TAKE, 5, 0);
	wait_in(&s, EXEC_JOIN, 0, 3);
	expect(&s, false, "");
	expect(&s, true, "34 12 5");
	exec_release(&s.x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(circle_and_its_victims),
		cmocka_unit_test(shared_locks),
		cmocka_unit_test(alone),
		cmocka_unit_test(waits_for_others),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
