// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: the first thread is done before the second begins.
/* Each thread holds 200 locks at once and takes them in the same order. */
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
int main(void)
{
	for (int i = 0; i < N; i++)
		pthread_mutex_init(&held[i], NULL);
	run_two(all, all);
	return 0;
}
