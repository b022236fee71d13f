// SPDX-License-Identifier: Apache-2.0
/*
 * Tests the lock-free stacks of a session under concurrency.  Producers take free buffers, write
 * their number and a count into them, and push them as sealed.  One consumer takes the whole stack,
 * reverses it and frees the buffers.  No buffer may be lost or duplicated, and the buffers of a
 * producer must arrive in its order.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "raddle/session.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

enum { PRODUCERS = 4, BUFFERS = 16, EACH = 50000 };

static struct raddle_session *session;

static void *produce(void *argument)
{
	uint32_t number = (uint32_t)(uintptr_t)argument;

	for (uint32_t i = 0; i < EACH; i++) {
		int64_t index;
		struct raddle_buffer *b;
		while ((index = raddle_buffer_take(session)) < 0)
			sched_yield();
		b = raddle_buffer_at(session, (uint32_t)index);
		b->thread = number;
		b->number = i;
		raddle_stack_push(session, &session->sealed_head, (uint32_t)index);
	}
	return NULL;
}

/* Takes all sealed buffers.  Returns their number. */
static uint32_t consume(uint32_t *next)
{
	uint32_t at = raddle_stack_take(&session->sealed_head), reversed = 0, count = 0;

	while (at) {
		struct raddle_buffer *b = raddle_buffer_at(session, at - 1);
		uint32_t below = b->next;
		b->next = reversed;
		reversed = at;
		at = below;
		count++;
	}
	assert_true(count <= BUFFERS);
	while (reversed) {
		struct raddle_buffer *b = raddle_buffer_at(session, reversed - 1);
		uint32_t index = reversed - 1;
		reversed = b->next;
		assert_true(b->thread < PRODUCERS);
		assert_int_equal(b->number, next[b->thread]);
		next[b->thread]++;
		raddle_stack_push(session, &session->free_head, index);
	}
	return count;
}

static void stacks(void **state)
{
	uint32_t next[PRODUCERS] = {0}, total = 0, left = 0;
	pthread_t threads[PRODUCERS];

	(void)state;
	session = aligned_alloc(4096, RADDLE_SESSION_SIZE(BUFFERS));
	memset(session, 0, RADDLE_SESSION_SIZE(BUFFERS));
	session->buffer_count = BUFFERS;
	assert_int_equal(raddle_stack_pop(session, &session->free_head), -1);
	for (uintptr_t i = 0; i < PRODUCERS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, produce, (void *)i), 0);
	while (total < PRODUCERS * EACH) {
		uint32_t taken = consume(next);
		total += taken;
		if (!taken)
			sched_yield();
	}
	for (size_t i = 0; i < PRODUCERS; i++)
		pthread_join(threads[i], NULL);
	while (raddle_stack_pop(session, &session->free_head) >= 0)
		left++;
	assert_int_equal(left, session->touched);
	assert_in_range(left, 1, BUFFERS);
	assert_int_equal(raddle_stack_take(&session->sealed_head), 0);
	free(session);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(stacks)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
