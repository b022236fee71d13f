/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which synchronisation begins a new segment.  A variable is read in each of three critical
 * sections: `alone` before another thread exists, `together` while one lives, `after` when it has
 * been joined.  These reads must be recorded once, three times, and once.  Relaxed updates of
 * counters do not end a segment, so reads of `counted` and `field` are recorded once.  Such updates
 * do end it if the counter is also updated with release order (`released`), if the result is used
 * (`looked`), or after a fence (`fenced`).  Acquire loads (`acquired`) end it, relaxed ones do not.
 */
#include <pthread.h>
#include <stdatomic.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, gate = PTHREAD_MUTEX_INITIALIZER;
static volatile int alone, together, after, counted, field, released, looked, fenced, loaded, acquired, sink;
static atomic_int counter, reference, turn;
atomic_int last;
struct {
	int other;
	long hits;
} statistics;

static void three_times(volatile int *x)
{
	for (int i = 0; i < 3; i++) {
		pthread_mutex_lock(&lock);
		(void)*x;
		pthread_mutex_unlock(&lock);
	}
}

static void count(void)
{
	for (int i = 0; i < 3; i++) {
		(void)counted;
		atomic_fetch_add_explicit(&counter, 1, memory_order_relaxed);
	}
	for (int i = 0; i < 3; i++) {
		(void)field;
		__atomic_add_fetch(&statistics.hits, 1, __ATOMIC_RELAXED);
	}
	for (int i = 0; i < 3; i++) {
		(void)released;
		atomic_fetch_add_explicit(&reference, 1, memory_order_relaxed);
	}
	atomic_fetch_sub_explicit(&reference, 1, memory_order_release);
	for (int i = 0; i < 3; i++) {
		(void)looked;
		last = atomic_fetch_add_explicit(&turn, 1, memory_order_relaxed);
	}
	for (int i = 0; i < 3; i++) {
		(void)loaded;
		sink = atomic_load_explicit(&turn, memory_order_relaxed);
	}
	for (int i = 0; i < 3; i++) {
		(void)acquired;
		sink = atomic_load_explicit(&turn, memory_order_acquire);
	}
	atomic_thread_fence(memory_order_seq_cst);
	for (int i = 0; i < 3; i++) {
		(void)fenced;
		atomic_fetch_add_explicit(&counter, 1, memory_order_relaxed);
	}
}

static void *wait_at_gate(void *argument)
{
	pthread_mutex_lock(&gate);
	pthread_mutex_unlock(&gate);
	return argument;
}

int main(void)
{
	pthread_t t;

	three_times(&alone);
	pthread_mutex_lock(&gate);
	if (pthread_create(&t, NULL, wait_at_gate, NULL))
		return 1;
	three_times(&together);
	count();
	pthread_mutex_unlock(&gate);
	pthread_join(t, NULL);
	three_times(&after);
	return 0;
}
