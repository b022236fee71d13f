// SPDX-License-Identifier: Apache-2.0
// expect: race limit
// recorded: the reader is done before the writer takes the lock.
/* One thread reads limit before its section, the other sets limit after its own section. */
#include "case.h"

MUTEX(m);
static int limit, total;
THREAD(look)
{
	UNUSED;
	int most = limit;

	LOCK(m);
	total = most;
	UNLOCK(m);
	return NULL;
}
THREAD(change)
{
	UNUSED;
	LOCK(m);
	total = 7;
	UNLOCK(m);
	limit = 9;
	return NULL;
}
int main(void)
{
	run_two(look, change);
	return total == 0;
}
