// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: in any order; all four threads must reach the barrier.
/* As in pairs-race.c, but all four threads meet at one barrier. */
#include "case.h"

static pthread_barrier_t four;
static int x;
THREAD(meet)
{
	pthread_barrier_wait(&four);
	return argument;
}
THREAD(set_meet)
{
	x = 1;
	pthread_barrier_wait(&four);
	return argument;
}
THREAD(meet_set)
{
	pthread_barrier_wait(&four);
	x = 2;
	return argument;
}
int main(void)
{
	pthread_barrier_init(&four, NULL, 4);
	pthread_t a = start(set_meet, NULL), b = start_settled(meet, NULL);
	pthread_t c = start(meet_set, NULL), d = start(meet, NULL);
	join(a);
	join(b);
	join(c);
	join(d);
	return x == 0;
}
