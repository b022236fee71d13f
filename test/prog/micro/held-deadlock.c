// SPDX-License-Identifier: Apache-2.0
// expect: deadlock held[],held[]
// recorded: the first thread is done before the second begins.
/* google/sanitizers #950, #1611: a thread holds 200 locks; another takes two in reverse order. */
#include "case.h"

#define N 200
static pthread_mutex_t held[N];
THREAD(all)
{
	UNUSED;
	for (int i = 0; i < N; i++)
		LOCK(held[i]);
	for (int i = N; i-- > 0;)
		UNLOCK(held[i]);
	return NULL;
}
THREAD(second)
{
	UNUSED;
	LOCK(held[150]);
	LOCK(held[149]);
	UNLOCK(held[149]);
	UNLOCK(held[150]);
	return NULL;
}
int main(void)
{
	for (int i = 0; i < N; i++)
		pthread_mutex_init(&held[i], NULL);
	run_two(all, second);
	return 0;
}
