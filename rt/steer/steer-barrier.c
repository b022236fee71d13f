// SPDX-License-Identifier: Apache-2.0
/*
 * Barriers of a steered process.
 *
 * A thread arrives at a real barrier and waits there in one call, so nobody could tell when it has
 * arrived and whose turn is next.  Barriers are counted here instead; the program's
 * own are left alone, and the child of a fork finds them as if nobody had waited.
 * As in glibc the last one to arrive is the serial one, and a new round may begin before
 * all have left.
 *
 * Entries are found by address and used again when a barrier is destroyed, but their memory
 * stays and `round` only grows: whoever still looks at one that has another
 * barrier by now sees that its own round is over.  A barrier whose initialisation was not seen, or that
 * other processes can see, is the real one: its step ends just before the call.
 */
#include "rt/steer/steer.h"

#include "rt/core/real.h"

#define A(p) ((uintptr_t)(p))
#define SLEEP_MS 1000

struct rt_barrier {
	uintptr_t address; /* 0: free */
	uint32_t count, inside;
	_Atomic uint32_t round;
	struct rt_barrier *next;
};

/* With the runtime's lock held, as are all that look at the list. */
static struct rt_barrier *find(uintptr_t address)
{
	struct rt_barrier *b = rt.barriers;

	while (b && b->address != address)
		b = b->next;
	return b;
}

/* A page of free entries. */
static void add_entries(void)
{
	struct rt_barrier *more = rt_map(rt.page);

	for (size_t i = 0; more && i < rt.page / sizeof *more; i++) {
		more[i].next = rt.barriers;
		rt.barriers = &more[i];
	}
}

void rt_barrier_init(struct rt_thread *t, const pthread_barrier_t *barrier,
		     const pthread_barrierattr_t *attributes, uint32_t count)
{
	struct rt_barrier *b;
	uint64_t signals;
	int shared = PTHREAD_PROCESS_PRIVATE;

	if (attributes)
		pthread_barrierattr_getpshared(attributes, &shared);
	RT_TELL(barrier_init, t, A(barrier), count);
	if (shared == PTHREAD_PROCESS_SHARED)
		return;
	rt_lock(&signals);
	b = find(A(barrier));
	if (!b) {
		if (!find(0))
			add_entries();
		b = find(0);
	}
	if (b) {
		b->address = A(barrier);
		b->count = count;
		b->inside = 0;
	}
	rt_unlock(&signals);
}

void rt_barrier_destroy(const pthread_barrier_t *barrier)
{
	struct rt_barrier *b;
	uint64_t signals;

	rt_lock(&signals);
	b = find(A(barrier));
	if (b)
		b->address = 0;
	rt_unlock(&signals);
}

/* An arrival. */
struct arrival {
	struct rt_barrier *barrier; /* NULL: the real one */
	uint32_t round;
	bool last;
};

static struct arrival arrive(const pthread_barrier_t *barrier)
{
	struct arrival a = {0};
	uint64_t signals;

	rt_lock(&signals);
	a.barrier = find(A(barrier));
	if (a.barrier) {
		a.round = atomic_load(&a.barrier->round);
		a.last = ++a.barrier->inside == a.barrier->count;
	}
	if (a.last) {
		a.barrier->inside = 0;
		atomic_fetch_add(&a.barrier->round, 1);
	}
	rt_unlock(&signals);
	if (a.last) {
		rt_futex_wake(&a.barrier->round, INT32_MAX);
		rt_turn_released(A(barrier));
	}
	return a;
}

static int wait_for_others(struct rt_step *leave, const struct arrival *a, pthread_barrier_t *barrier)
{
	if (!a->barrier)
		return REAL(pthread_barrier_wait)(barrier);
	while (rt_step_takes_turns(leave) && atomic_load(&a->barrier->round) == a->round)
		rt_turn_wait(leave, NULL);
	while (atomic_load(&a->barrier->round) == a->round)
		rt_futex_wait(&a->barrier->round, a->round, SLEEP_MS);
	return a->last ? PTHREAD_BARRIER_SERIAL_THREAD : 0;
}

int rt_barrier_wait(pthread_barrier_t *barrier)
{
	struct rt_thread *t = rt_self();
	struct rt_step enter = rt_step(RADDLE_BARRIER_ENTER, A(barrier)), leave = {0};
	struct arrival a;
	int r;

	if (t) {
		RT_TELL(barrier_enter, t, A(barrier));
		rt_sync(t, RADDLE_BARRIER_ENTER, A(barrier), RT_NONE);
	}
	a = arrive(barrier);
	if (!t)
		return wait_for_others(&leave, &a, barrier);
	rt_step_end(&enter);
	rt_step_begin(&leave, t, RADDLE_BARRIER_EXIT, A(barrier));
	if (!a.last) {
		rt_step_block(&leave, A(barrier), false);
		rt_step_reached(&leave);
	}
	r = wait_for_others(&leave, &a, barrier);
	rt_step_gate(&leave);
	RT_TELL(barrier_exit, t, A(barrier));
	rt_sync(t, RADDLE_BARRIER_EXIT, A(barrier), r == PTHREAD_BARRIER_SERIAL_THREAD);
	rt_step_end(&leave);
	return r;
}
