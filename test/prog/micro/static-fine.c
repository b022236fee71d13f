// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: one thread is done before the other begins.
/* Two threads change a static variable of a function, under a static lock. */
#include "case.h"

static int next_id(void)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static int last;

	LOCK(lock);
	int id = ++last;
	UNLOCK(lock);
	return id;
}
THREAD(use)
{
	return next_id() > 0 ? NULL : argument;
}
int main(void)
{
	run_two(use, use);
	return 0;
}
