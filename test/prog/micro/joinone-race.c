// SPDX-License-Identifier: Apache-2.0
// expect: race sum 1 speculative
// recorded: both threads are done before main reads.
/* Main joins one of its two threads before it reads what both wrote. */
#include "case.h"

MUTEX(m);
static int sum;
THREAD(add)
{
	UNUSED;
	LOCK(m);
	sum++;
	UNLOCK(m);
	return NULL;
}
int main(void)
{
	pthread_t a = start_settled(add, NULL), b = start_settled(add, NULL);

	join(b);
	int seen = sum;
	join(a);
	return seen < 1;
}
