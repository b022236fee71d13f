// SPDX-License-Identifier: Apache-2.0
// recorded: the first thread is done before the second one starts, which main does not wait for.
/* Two threads that lock in the same order, of which the end of the program knows nothing. */
#include "case.h"

MUTEX(a);
MUTEX(b);
THREAD(first)
{
	UNUSED;
	LOCK(a);
	LOCK(b);
	UNLOCK(b);
	UNLOCK(a);
	return NULL;
}
THREAD(second)
{
	UNUSED;
	LOCK(a);
	LOCK(b);
	UNLOCK(b);
	UNLOCK(a);
	return NULL;
}
int main(void)
{
	pthread_detach(start_settled(first, NULL));
	pthread_detach(start(second, NULL));
	return 0;
}
