// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: the reader is done before the writer takes the lock.
/* As in reader-race.c, but the read is inside the section. */
#include "case.h"

MUTEX(m);
static int limit, total;
THREAD(look)
{
	UNUSED;
	LOCK(m);
	total = limit;
	UNLOCK(m);
	return NULL;
}
THREAD(change)
{
	UNUSED;
	LOCK(m);
	total = 7;
	limit = 9;
	UNLOCK(m);
	return NULL;
}
int main(void)
{
	run_two(look, change);
	return total == 0;
}
