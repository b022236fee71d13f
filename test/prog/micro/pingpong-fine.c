// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: the threads take turns.
/* Two mutexes are used as semaphores: each thread unlocks the mutex that the other locked. */
#include "case.h"

MUTEX(ping);
MUTEX(pong);
static int ball;
THREAD(play)
{
	for (int i = 0; i < 3; i++) {
		LOCK(ping);
		ball++;
		UNLOCK(pong);
	}
	return argument;
}
int main(void)
{
	LOCK(ping);
	LOCK(pong);
	pthread_t player = start(play, NULL);

	for (int i = 0; i < 3; i++) {
		ball++;
		UNLOCK(ping);
		LOCK(pong);
	}
	join(player);
	return 0;
}
