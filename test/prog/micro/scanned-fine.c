// SPDX-License-Identifier: Apache-2.0
// recorded: the thread that scans is done before the reader begins.
/* As in scanned-race.c, but the results are read under the lock. */
#include "case.h"

MUTEX(m);
static int number, untouched;
static char word[8];
static volatile int seen;
THREAD(scan)
{
	UNUSED;
	LOCK(m);
	seen = sscanf("7 seven", "%d %7s %d", &number, word, &untouched);
	UNLOCK(m);
	return NULL;
}
THREAD(look)
{
	UNUSED;
	LOCK(m);
	seen = number + word[0];
	UNLOCK(m);
	return untouched == 1 ? &number : NULL;
}
int main(void)
{
	run_two(scan, look);
	return 0;
}
