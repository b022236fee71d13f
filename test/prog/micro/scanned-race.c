// SPDX-License-Identifier: Apache-2.0
// expect: race number
// expect: race word[] 1 speculative
// recorded: the thread that scans is done before the reader begins.
/* No code of the program writes number and word: sscanf() does. */
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
	UNLOCK(m);
	return number + word[0] + untouched == 1 ? &number : NULL;
}
int main(void)
{
	run_two(scan, look);
	return 0;
}
