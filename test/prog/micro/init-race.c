// SPDX-License-Identifier: Apache-2.0
// expect: race m
// expect: race m 1 speculative
// recorded: the mutex is initialised before the other thread wants it.
/* The other thread does not wait until the mutex is initialised. */
#include "case.h"

static pthread_mutex_t m;
THREAD(prepare)
{
	UNUSED;
	pthread_mutex_init(&m, NULL);
	return NULL;
}
THREAD(work)
{
	UNUSED;
	LOCK(m);
	UNLOCK(m);
	return NULL;
}
int main(void)
{
	run_two(prepare, work);
	return 0;
}
