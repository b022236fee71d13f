// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: one thread is done before the other begins.
/* The thread accesses the data only if trylock succeeded. */
#include "case.h"

MUTEX(m);
static int x;
THREAD(add)
{
	UNUSED;
	if (pthread_mutex_trylock(&m) == 0) {
		x++;
		UNLOCK(m);
	}
	return NULL;
}
int main(void)
{
	run_two(add, add);
	return x < 1;
}
