// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: the giver is done before main takes the mutex again.
/* Main waits for a mutex that it took itself; another thread gives it back when the data are there. */
#include "case.h"

MUTEX(given);
static int data;
THREAD(give)
{
	UNUSED;
	data = 7;
	UNLOCK(given);
	return NULL;
}
int main(void)
{
	LOCK(given);
	pthread_t giver = start_settled(give, NULL);

	LOCK(given);
	data++;
	UNLOCK(given);
	join(giver);
	return 0;
}
