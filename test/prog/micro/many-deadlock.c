// SPDX-License-Identifier: Apache-2.0
// expect: deadlock many[],many[]
// recorded: the first thread is done before the second begins.
/* One thread locks 10,000 mutexes in pairs; another locks one pair in the opposite order. */
#include "case.h"

#define N 10000
static pthread_mutex_t many[N];
THREAD(up)
{
	UNUSED;
	for (int i = 0; i + 1 < N; i++) {
		LOCK(many[i]);
		LOCK(many[i + 1]);
		UNLOCK(many[i + 1]);
		UNLOCK(many[i]);
	}
	return NULL;
}
THREAD(down)
{
	UNUSED;
	LOCK(many[5000]);
	LOCK(many[4999]);
	UNLOCK(many[4999]);
	UNLOCK(many[5000]);
	return NULL;
}
int main(void)
{
	for (int i = 0; i < N; i++)
		pthread_mutex_init(&many[i], NULL);
	run_two(up, down);
	return 0;
}
