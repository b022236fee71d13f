// SPDX-License-Identifier: Apache-2.0
// expect: race x 1
// recorded: the first thread is done before the second begins.
/* One unlock too early leaves the last access unprotected. */
#include "case.h"

static pthread_mutex_t m = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static int x;
THREAD(add)
{
	UNUSED;
	LOCK(m);
	LOCK(m);
	UNLOCK(m);
	UNLOCK(m);
	x++;
	LOCK(m);
	UNLOCK(m);
	return NULL;
}
int main(void)
{
	run_two(add, add);
	return x < 1;
}
