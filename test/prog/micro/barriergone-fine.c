// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: all threads have left the barrier before it is destroyed.
/* Main passes the barrier too, so all threads have entered it. */
#include "case.h"

static pthread_barrier_t b;
THREAD(work)
{
	UNUSED;
	pthread_barrier_wait(&b);
	return NULL;
}
int main(void)
{
	pthread_t one, other;

	pthread_barrier_init(&b, NULL, 3);
	one = start(work, NULL);
	other = start(work, NULL);
	pthread_barrier_wait(&b);
	pthread_barrier_destroy(&b);
	join(one);
	join(other);
	return 0;
}
