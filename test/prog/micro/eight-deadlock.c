// SPDX-License-Identifier: Apache-2.0
// expect: deadlock ring[],ring[],ring[],ring[],ring[],ring[],ring[],ring[]
// recorded: each thread is done before the next begins.
/* Eight dining philosophers: each takes its own lock, then that of its neighbour. */
#include "case.h"

#define N 8
static pthread_mutex_t ring[N];
THREAD(eat)
{
	long i = (long)argument;

	LOCK(ring[i]);
	LOCK(ring[(i + 1) % N]);
	UNLOCK(ring[(i + 1) % N]);
	UNLOCK(ring[i]);
	return NULL;
}
int main(void)
{
	pthread_t t[N];

	for (int i = 0; i < N; i++)
		pthread_mutex_init(&ring[i], NULL);
	for (long i = 0; i < N; i++)
		t[i] = start_settled(eat, (void *)i);
	for (int i = 0; i < N; i++)
		join(t[i]);
	return 0;
}
