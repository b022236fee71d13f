// SPDX-License-Identifier: Apache-2.0
// expect: race data
// recorded: the giver is done before main takes the mutex again.
/* The other thread unlocks the mutex before it writes the data. */
#include "case.h"

MUTEX(given);
static int data;
THREAD(give)
{
	UNUSED;
	UNLOCK(given);
	data = 7;
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
