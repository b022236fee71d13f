// SPDX-License-Identifier: Apache-2.0
// expect: deadlock ring[],ring[],ring[]
// recorded: each thread is done before the next begins.
/* Three threads each take a lock and then the next one, in a ring. */
#include "case.h"

static pthread_mutex_t ring[3] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
				  PTHREAD_MUTEX_INITIALIZER};
THREAD(eat)
{
	long i = (long)argument;

	LOCK(ring[i]);
	LOCK(ring[(i + 1) % 3]);
	UNLOCK(ring[(i + 1) % 3]);
	UNLOCK(ring[i]);
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
