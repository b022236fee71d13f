// SPDX-License-Identifier: Apache-2.0
// expect: race b 1
// recorded: both workers have left the barrier before it is destroyed.
/* Main does not know that the workers have met at the barrier. */
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

	pthread_barrier_init(&b, NULL, 2);
	one = start(work, NULL);
	other = start_settled(work, NULL);
	pthread_barrier_destroy(&b);
	join(one);
	join(other);
	return 0;
}
