// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: in any order.
/* Two readers and a writer share a variable under a read-write lock. */
#include "case.h"

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int value;
THREAD(look)
{
	UNUSED;
	pthread_rwlock_rdlock(&lock);
	int seen = value;
	pthread_rwlock_unlock(&lock);
	return seen < 0 ? argument : NULL;
}
THREAD(set)
{
	UNUSED;
	pthread_rwlock_wrlock(&lock);
	value = 1;
	pthread_rwlock_unlock(&lock);
	return NULL;
}
int main(void)
{
	pthread_t a = start(look, NULL), b = start(look, NULL), c = start(set, NULL);

	join(a);
	join(b);
	join(c);
	return 0;
}
