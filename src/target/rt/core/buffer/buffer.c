// SPDX-License-Identifier: Apache-2.0
/*
 * Buffers of the session (raddle/session.h): takes free buffers for a thread, hands full buffers
 * over to the collector, and decides when recording ends.
 *
 * Invariants:
 * 1. an OPEN buffer belongs to one thread, and only that thread writes to it;
 * 2. a thread's fresh buffer of records starts with RESET, and the thread writes nothing else
 *    before that byte;
 * 3. a thread waits for a free buffer only as long as the collector is alive.
 */
#include "rt/core/layer.h"

#include "rt/common/bug.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NS_PER_MS 1000000ull
#define WAIT_STEP_MS 50 /* time between two checks of the heartbeat, which changes every 100 ms */
#define WAIT_LIMIT_MS (2 * RADDLE_HEARTBEAT_LIMIT_MS) /* maximum wait for a live collector */

/* Only the first reason is kept, because later ones are consequences of it. */
void rt_stop(enum raddle_stop_reason reason)
{
	uint32_t none = RADDLE_STOP_NONE;

	if (!rt.session)
		return;
	atomic_compare_exchange_strong(&rt.session->stop_reason, &none, reason);
	atomic_store(&rt.session->state, RADDLE_STOPPED);
	RT_NOTIFY_ALL(stopped);
}

_Static_assert(RT_BYTES_MAX + RT_STACK_MAX + 2 * RT_RECORD_MAX < RADDLE_BUFFER_SIZE / 2,
	       "an empty buffer has room for any record");

static bool collector_is_gone(const struct raddle_session *s)
{
	int saved = errno;
	bool gone = syscall(SYS_kill, (long)atomic_load(&s->collector_pid), 0L) && errno == ESRCH;

	errno = saved;
	return gone;
}

static void wake_collector(struct raddle_session *s)
{
	if (atomic_load(&s->collector_waits))
		rt_futex_wake(&s->sealed_futex, 1);
}

/* Waits for a free buffer and returns its index, or -1 if recording is over.  Measures time by the
 * clock, not by the number of wake-ups: if many threads wait, most are woken in vain. */
static int64_t wait_for_buffer(struct raddle_session *s)
{
	uint32_t heartbeat = atomic_load(&s->heartbeat);
	uint64_t start = rt_now(), callbacks = start;

	while (atomic_load(&s->state) == RADDLE_RECORDING) {
		uint32_t value = atomic_load(&s->free_futex);
		int64_t index = raddle_buffer_take(s);
		uint64_t now;
		if (index >= 0)
			return index;
		atomic_fetch_add(&s->free_waiters, 1);
		atomic_fetch_add(&s->sealed_futex, 1);
		wake_collector(s);
		rt_futex_wait(&s->free_futex, value, WAIT_STEP_MS);
		atomic_fetch_sub(&s->free_waiters, 1);
		now = rt_now();
		if (atomic_load(&s->heartbeat) != heartbeat)
			callbacks = now;
		heartbeat = atomic_load(&s->heartbeat);
		if (now - callbacks >= RADDLE_HEARTBEAT_LIMIT_MS * NS_PER_MS ||
		    (now - callbacks >= RADDLE_HEARTBEAT_DEAD_MS * NS_PER_MS && collector_is_gone(s)))
			rt_stop(RADDLE_STOP_COLLECTOR);
		else if (now - start >= WAIT_LIMIT_MS * NS_PER_MS)
			rt_stop(RADDLE_STOP_BUFFERS);
	}
	return -1;
}

/* Frees a buffer whose records nothing reads. */
static void discard(struct raddle_session *s, struct raddle_buffer *b)
{
	atomic_store_explicit(&b->state, RADDLE_BUFFER_FREE, memory_order_release);
	raddle_stack_push(s, &s->free_head, (uint32_t)(b - raddle_buffer_at(s, 0)));
	atomic_fetch_add(&s->free_futex, 1);
	if (atomic_load(&s->free_waiters))
		rt_futex_wake(&s->free_futex, 1);
}

void rt_buffer_hand_over(struct raddle_buffer *b)
{
	struct raddle_session *s = rt.session;
	uint32_t count;

	RT_ASSERT((uint64_t)(b - raddle_buffer_at(s, 0)) < s->buffer_count);
	if (s->discard) {
		discard(s, b);
		return;
	}
	atomic_store_explicit(&b->state, RADDLE_BUFFER_SEALED, memory_order_release);
	count = atomic_fetch_add(&s->sealed_count, 1) + 1;
	raddle_stack_push(s, &s->sealed_head, (uint32_t)(b - raddle_buffer_at(s, 0)));
	atomic_fetch_add(&s->sealed_futex, 1);
	if (count >= RADDLE_WAKE)
		wake_collector(s);
}

void rt_buffer_seal(struct rt_thread *t)
{
	struct raddle_buffer *b = t->buffer;

	if (!b)
		return;
	t->buffer = NULL;
	b->events = t->events;
	t->cursor = (uint8_t *)1;
	t->limit = NULL;
	rt_buffer_hand_over(b);
}

struct raddle_buffer *rt_buffer_open(uint32_t thread, uint32_t number)
{
	struct raddle_session *s = rt.session;
	struct raddle_buffer *b;
	int64_t index = -1;

	if (atomic_load_explicit(&s->state, memory_order_relaxed) == RADDLE_RECORDING) {
		index = raddle_buffer_take(s);
		if (index < 0)
			index = wait_for_buffer(s);
	}
	if (index < 0)
		return NULL;
	RT_ASSERT(index < s->buffer_count);
	b = raddle_buffer_at(s, (uint32_t)index);
	b->process = rt.process;
	b->thread = thread;
	b->number = number;
	b->left_out = 0;
	atomic_store_explicit(&b->used, 0, memory_order_relaxed);
	atomic_store_explicit(&b->state, RADDLE_BUFFER_OPEN, memory_order_release);
	return b;
}

bool rt_buffer_switch(struct rt_thread *t)
{
	struct raddle_buffer *b;

	if (!rt.session || !t->recording)
		return false;
	rt_buffer_seal(t);
	b = rt_buffer_open(t->number, t->buffers);
	if (!b) {
		t->recording = false;
		return false;
	}
	t->buffers++;
	t->buffer = b;
	t->events = 0;
	t->cursor = rt_put_reset(&t->encoder, b->data);
	t->limit = b->data + sizeof b->data - RT_RECORD_MAX;
	RT_ASSERT(t->cursor < t->limit);
	atomic_store_explicit(&b->used, (uint32_t)(t->cursor - b->data), memory_order_release);
	return true;
}
