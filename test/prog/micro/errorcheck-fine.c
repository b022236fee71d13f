// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: first is done before second begins.
/* The second lock of one thread is refused, not waited for. */
#include "case.h"

static pthread_mutex_t m = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
static int x;
THREAD(add)
{
	UNUSED;
	LOCK(m);
	if (LOCK(m) != EDEADLK)
		abort();
	x++;
	UNLOCK(m);
	return NULL;
}
int main(void)
{
	run_two(add, add);
	return x != 2;
}
