// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: each thread is done before the next begins.
/* Eight dining philosophers, one of whom takes the two locks in the opposite order. */
#include "case.h"

#define N 8
static pthread_mutex_t ring[N];
THREAD(eat)
{
	long i = (long)argument, one = i == N - 1 ? 0 : i, other = i == N - 1 ? N - 1 : i + 1;

	LOCK(ring[one]);
	LOCK(ring[other]);
	UNLOCK(ring[other]);
	UNLOCK(ring[one]);
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
