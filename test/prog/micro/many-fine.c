// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: the first thread is done before the second begins.
/* Two threads lock 10,000 mutexes in pairs, in the same order. */
#include "case.h"

#define N 10000
static pthread_mutex_t many[N];
static int sum;
THREAD(up)
{
	UNUSED;
	for (int i = 0; i + 1 < N; i++) {
		LOCK(many[i]);
		LOCK(many[i + 1]);
		UNLOCK(many[i + 1]);
		UNLOCK(many[i]);
	}
	LOCK(many[0]);
	sum++;
	UNLOCK(many[0]);
	return NULL;
}
int main(void)
{
	for (int i = 0; i < N; i++)
		pthread_mutex_init(&many[i], NULL);
	run_two(up, up);
	return sum != 2;
}
