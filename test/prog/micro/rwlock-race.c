// SPDX-License-Identifier: Apache-2.0
// expect: race value
// recorded: one thread is done before the other begins.
/* Two threads write a variable while they hold the lock only for reading. */
#include "case.h"

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int value;
THREAD(set)
{
	UNUSED;
	pthread_rwlock_rdlock(&lock);
	value++;
	pthread_rwlock_unlock(&lock);
	return NULL;
}
int main(void)
{
	run_two(set, set);
	return value < 1;
}
