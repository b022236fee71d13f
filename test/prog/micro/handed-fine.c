// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: the giver is done before main takes the mutex again.
/* Main blocks on a mutex that it locked itself; another thread writes the data and unlocks it. */
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
