// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: both threads are done before main reads.
/* Main joins both threads. */
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
	join(a);
	return sum != 2;
}
