// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: there is only one thread.
/* A thread locks a recursive mutex again. */
#include "case.h"

static pthread_mutex_t m = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
int main(void)
{
	LOCK(m);
	LOCK(m);
	UNLOCK(m);
	UNLOCK(m);
	return 0;
}
