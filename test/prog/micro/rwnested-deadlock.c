// SPDX-License-Identifier: Apache-2.0
// expect: deadlock shared,shared
// recorded: the reader is done before the writer starts.
/* A reader takes the read lock again, but cannot if a writer waits: the lock prefers writers. */
#include "case.h"

static pthread_rwlock_t shared = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
static int data;
THREAD(look)
{
	pthread_rwlock_rdlock(&shared);
	int seen = data;
	pthread_rwlock_rdlock(&shared);
	seen += data;
	pthread_rwlock_unlock(&shared);
	pthread_rwlock_unlock(&shared);
	return seen > 2 ? argument : NULL;
}
THREAD(change)
{
	pthread_rwlock_wrlock(&shared);
	data++;
	pthread_rwlock_unlock(&shared);
	return argument;
}
int main(void)
{
	run_two(look, change);
	return 0;
}
