/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which synchronisation begins a new segment: `x` is read in each of three
 * critical sections, alone before the first thread exists, while one lives, and
 * when it has been joined.  The recorder has to write it once, three times, and
 * not at all again.
 */
#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, gate = PTHREAD_MUTEX_INITIALIZER;
static volatile int alone, together, after;

static void three_times(volatile int *x)
{
	for (int i = 0; i < 3; i++) {
		pthread_mutex_lock(&lock);
		(void)*x;
		pthread_mutex_unlock(&lock);
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
	pthread_mutex_unlock(&gate);
	pthread_join(t, NULL);
	three_times(&after);
	return 0;
}
