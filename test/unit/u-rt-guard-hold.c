// SPDX-License-Identifier: Apache-2.0
/* Unit tests of whether a guard may stop a thread (rt/guard/validate.c), and how much of the time
 * that the agent allows is used up by that.  The other files of the runtime are replaced by
 * functions that do nothing. */
#include <sched.h>

static int thread_policy;
#define sched_getscheduler(pid) thread_policy
#include "rt/guard/validate.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

struct guard guard;
struct guard_alive guard_alive;
struct guard_tables guard_tables;
struct guard_real guard_real;
__thread struct guard_local guard_local;
volatile uint8_t __raddle_guard_flags[RADDLE_GUARDS];
uint8_t __raddle_guard_regions[RADDLE_GUARDS];

void guard_track(bool any)
{
	(void)any;
}

uint64_t guard_now(void)
{
	return 0;
}

void guard_dormant(void)
{
}

struct guard_thread *guard_self(void)
{
	return NULL;
}

bool guard_lock(void)
{
	return true;
}

void guard_unlock(void)
{
}

void guard_track_forget(uint32_t bits)
{
	(void)bits;
}

bool guard_was_recently(const struct guard_thread *t, uintptr_t address, uint32_t number)
{
	(void)t;
	(void)address;
	return number != 0;
}

void guard_was_at(const struct guard_thread *t, uintptr_t address, uint32_t number)
{
	(void)t;
	(void)address;
	(void)number;
}

void guard_settle(uint32_t number)
{
	(void)number;
}

void guard_watch_arm(const void *address, uint64_t size, bool writes_only)
{
	(void)address;
	(void)size;
	(void)writes_only;
}

uint32_t guard_watch_disarm(void)
{
	return 0;
}

static void stops_use_up_the_time(void **state)
{
	struct guard_watch w = {.order = 0, .tau_us = 100};
	struct raddle_guard *s = guard.session = calloc(1, sizeof *s);

	(void)state;
	atomic_store(&s->pause_us, 250);
	thread_policy = SCHED_OTHER;
	assert_true(may_hold(&w, 1, true));
	assert_int_equal(atomic_load(&s->pause_us), 150);
	/* not stopped, because this access should come first */
	assert_false(may_hold(&w, 0, true));
	assert_true(may_hold(&w, 1, true));
	assert_int_equal(atomic_load(&s->pause_us), 50);
	assert_false(may_hold(&w, 1, true));
	assert_int_equal(atomic_load(&s->pause_us), 50);
	free(s);
}

/* A thread with a real-time policy is never stopped, so it uses up no time. */
static void real_time_threads_take_none(void **state)
{
	static const int policies[] = {SCHED_FIFO, SCHED_RR};
	struct guard_watch w = {.order = 0, .tau_us = 100};
	struct raddle_guard *s = guard.session = calloc(1, sizeof *s);

	(void)state;
	atomic_store(&s->pause_us, 250);
	for (int i = 0; i < 2; i++) {
		thread_policy = policies[i];
		assert_false(may_hold(&w, 1, true));
		assert_int_equal(atomic_load(&s->pause_us), 250);
	}
	free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stops_use_up_the_time),
		cmocka_unit_test(real_time_threads_take_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
