// SPDX-License-Identifier: Apache-2.0
// expect: race mine
// recorded: the thread has written its variable, and still exists, when main reads it.
/* A thread publishes a pointer to its thread-local variable. */
#include "case.h"

MUTEX(m);
static _Thread_local int mine;
static int *given;
static sem_t over;
THREAD(give)
{
	UNUSED;
	LOCK(m);
	given = &mine;
	UNLOCK(m);
	mine = 7;
	sem_wait(&over);
	return NULL;
}
int main(void)
{
	sem_init(&over, 0, 0);
	pthread_t t = start_settled(give, NULL);
	LOCK(m);
	int *its = given;
	UNLOCK(m);
	int seen = its ? *its : 0;
	sem_post(&over);
	join(t);
	return seen < 0;
}
