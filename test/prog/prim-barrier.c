/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Barriers.  test/cli/record-prim.sh expects these events of each thread:
 *
 * T_0: thread-start barrier-init thread-create thread-create barrier-enter barrier-exit
 * T_0: barrier-enter barrier-exit thread-join thread-join barrier-destroy exit
 * T_0_0: thread-start barrier-enter barrier-exit barrier-enter barrier-exit thread-end
 * T_0_1: thread-start barrier-enter barrier-exit barrier-enter barrier-exit thread-end
 */
#include <pthread.h>
#include <stdio.h>

static pthread_barrier_t barrier;

static void *work(void *unused)
{
	long serials = 0;

	(void)unused;
	for (int i = 0; i < 2; i++)
		serials += pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD;
	return (void *)serials;
}

int main(void)
{
	pthread_t t[2];
	long serials;
	void *result;

	pthread_barrier_init(&barrier, NULL, 3);
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, work, NULL);
	serials = (long)work(NULL);
	for (int i = 0; i < 2; i++) {
		pthread_join(t[i], &result);
		serials += (long)result;
	}
	pthread_barrier_destroy(&barrier);
	printf("%ld\n", serials);
	return 0;
}
