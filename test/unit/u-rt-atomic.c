// SPDX-License-Identifier: Apache-2.0
/* Unit tests of the locks around atomic operations (rt/core/sync/atomic.c), if a thread keeps one
 * for too long.  One real thread plays all threads of the test in turn. */
#include "rt/core/sync/atomic.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

struct rt rt;
struct raddle_self rt_placeholder;
__thread struct raddle_self *__raddle_self;
static unsigned doubts;

bool rt_atomic(struct rt_thread *t, uintptr_t address, uint32_t site, uint32_t flags)
{
	(void)t;
	(void)address;
	(void)site;
	(void)flags;
	return true;
}

void rt_emit(struct rt_thread *t, const struct rt_record *record)
{
	(void)t;
	(void)record;
}

uint32_t rt_encoder_take(struct rt_thread *t)
{
	(void)t;
	return 0;
}

void rt_outside_event(struct rt_thread *t, uint32_t code)
{
	(void)t;
	doubts += code == RADDLE_OUTSIDE_HIDDEN;
}

struct rt_thread *rt_thread_adopt(void)
{
	return NULL;
}

static int variable;

static struct rt_thread *make(uint32_t number)
{
	struct rt_thread *t = calloc(1, sizeof *t);

	assert_non_null(t);
	t->number = number;
	t->recording = RT_PLAIN;
	return t;
}

static void start(struct rt_thread *t)
{
	__raddle_atomic_begin(&t->self, &variable, 0);
}

static void finish(struct rt_thread *t)
{
	__raddle_atomic_end(&t->self, &variable, 1, 0);
}

static bool is_locked(void)
{
	return atomic_load(lock_of(&variable)) != 0;
}

/* The first thread keeps the lock until the second one stops waiting.  When the first one
 * continues, it must not release the lock of another thread. */
static void late_threads_release_nothing(void **state)
{
	struct rt_thread *late = make(0), *second = make(1), *third = make(2);

	(void)state;
	start(late);
	start(second);
	assert_int_equal(doubts, 1);
	finish(late);
	assert_true(is_locked());
	finish(second);
	assert_false(is_locked());
	doubts = 0;
	start(late);
	start(second);
	finish(second);
	assert_false(is_locked()); /* the second thread does not wait for the late one */
	start(third);
	assert_int_equal(doubts, 1);
	finish(late);
	assert_true(is_locked());
	finish(third);
	assert_false(is_locked());
	free(late);
	free(second);
	free(third);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(late_threads_release_nothing)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
