// SPDX-License-Identifier: Apache-2.0
// expect: race rw
// expect: race rw 1 speculative
// recorded: the reader has left before the lock is destroyed.
/* The writer has had the lock to itself, but a reader may still come. */
#include "case.h"

static pthread_rwlock_t rw;
static int x;
THREAD(look)
{
	READ(rw);
	argument = x < 2 ? NULL : argument;
	LEAVE(rw);
	return argument;
}
int main(void)
{
	pthread_t reader;

	pthread_rwlock_init(&rw, NULL);
	reader = start_settled(look, NULL);
	WRITE(rw);
	x = 1;
	LEAVE(rw);
	pthread_rwlock_destroy(&rw);
	join(reader);
	return 0;
}
