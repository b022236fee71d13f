// SPDX-License-Identifier: Apache-2.0
/*
 * Barriers of a steered process.
 *
 * At a real barrier, a thread arrives and waits in one call.  Its arrival could not be observed, so
 * the next thread would never get its turn.  Therefore arrivals are counted here.  The program's
 * own barriers are not touched; the child of a fork finds them as if no thread had waited.  As in
 * glibc, the last thread to arrive is the serial thread, and a new round may begin before all
 * threads have left.
 *
 * Entries are found by address and reused when a barrier is destroyed.  Their memory stays, and
 * `round` only grows.  So a thread that still reads an entry of a destroyed barrier sees that its
 * own round is over.  A barrier is left to libc if its initialisation was not observed or other
 * processes can use it.  The step of a wait at such a barrier ends just before the call.
 */
#include "rt/steer/steer.h"

#define SLEEP_MS 1000 /* the longest sleep, in case a wake-up is lost */

struct rt_barrier {
	uintptr_t address; /* 0 in a free entry */
	uint32_t count, inside;
	_Atomic uint32_t round;
	struct rt_barrier *next;
};

/* Called with the runtime's lock held, as for every use of the list. */
static struct rt_barrier *find(uintptr_t address)
{
	struct rt_barrier *b = rt_steering()->barriers;

	while (b && b->address != address)
		b = b->next;
	return b;
}

/* Adds a page of free entries to the list. */
static void add_entries(void)
{
	struct rt_barrier *more = rt_map(rt.page);

	for (size_t i = 0; more && i < rt.page / sizeof *more; i++) {
		more[i].next = rt_steering()->barriers;
		rt_steering()->barriers = &more[i];
	}
}

void rt_barrier_init(struct rt_thread *t, uintptr_t barrier, uint32_t count, bool shared)
{
	struct rt_barrier *b;
	uint64_t signals;

	(void)t;
	if (shared)
		return;
	rt_lock(&signals);
	b = find(barrier);
	if (!b) {
		if (!find(0))
			add_entries();
		b = find(0);
	}
	if (b) {
		b->address = barrier;
		b->count = count;
		b->inside = 0;
	}
	rt_unlock(&signals);
}

void rt_barrier_destroy(uintptr_t barrier)
{
	struct rt_barrier *b;
	uint64_t signals;

	rt_lock(&signals);
	b = find(barrier);
	if (b)
		b->address = 0;
	rt_unlock(&signals);
}

struct rt_arrival rt_barrier_arrive(const pthread_barrier_t *barrier)
{
	struct rt_arrival a = {0};
	struct rt_barrier *b;
	uint64_t signals;

	rt_lock(&signals);
	a.barrier = b = find((uintptr_t)barrier);
	if (b) {
		a.round = atomic_load(&b->round);
		a.last = ++b->inside == b->count;
	}
	if (a.last) {
		b->inside = 0;
		atomic_fetch_add(&b->round, 1);
	}
	rt_unlock(&signals);
	if (a.last) {
		/* threads that share a kernel thread take turns, and never wait for this futex */
		if (!rt.one)
			rt_futex_wake(&b->round, INT32_MAX);
		rt_turn_released((uintptr_t)barrier);
	}
	return a;
}

int rt_barrier_await(struct rt_op *op, const struct rt_arrival *arrival)
{
	struct rt_barrier *b = arrival->barrier;
	struct rt_step *step = op->t ? rt_step_of(op) : NULL;

	while (step && rt_step_takes_turns(step) && atomic_load(&b->round) == arrival->round)
		rt_turn_wait(step, NULL);
	while (atomic_load(&b->round) == arrival->round)
		rt_futex_wait(&b->round, arrival->round, SLEEP_MS);
	return arrival->last ? PTHREAD_BARRIER_SERIAL_THREAD : 0;
}
