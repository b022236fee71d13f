// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: each thread is done before the next begins.
/* As in three-deadlock.c, but each thread takes its two locks in the order of their indices. */
#include "case.h"

static pthread_mutex_t ring[3] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
				  PTHREAD_MUTEX_INITIALIZER};
THREAD(eat)
{
	long i = (long)argument, low = i == 2 ? 0 : i, high = i == 2 ? 2 : i + 1;

	LOCK(ring[low]);
	LOCK(ring[high]);
	UNLOCK(ring[high]);
	UNLOCK(ring[low]);
	return NULL;
}
int main(void)
{
	pthread_t t[3];

	for (long i = 0; i < 3; i++)
		t[i] = start_settled(eat, (void *)i);
	for (int i = 0; i < 3; i++)
		join(t[i]);
	return 0;
}
