// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: the reader has left before the lock is destroyed.
/* As in rwgone-race.c, but the writer joins the reader before it destroys the lock. */
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
	join(reader);
	pthread_rwlock_destroy(&rw);
	return 0;
}
