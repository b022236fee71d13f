// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: the writer is done before the reader begins.
/* As in string-race.c, but under a lock. */
#include "case.h"

MUTEX(m);
static char name[32] = "nobody";
THREAD(set)
{
	LOCK(m);
	strcpy(name, argument ? "someone" : "anyone");
	UNLOCK(m);
	return NULL;
}
THREAD(measure)
{
	LOCK(m);
	size_t length = strlen(name);
	UNLOCK(m);
	return length > 3 ? NULL : argument;
}
int main(void)
{
	run_two(set, measure);
	return name[0] == 0;
}
