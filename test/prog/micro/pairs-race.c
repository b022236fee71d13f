// SPDX-License-Identifier: Apache-2.0
// expect: race x
// recorded: a and b meet at the barrier before c and d do.
/* Four threads use a barrier for two; it orders neither pair after the other. */
#include "case.h"

static pthread_barrier_t two;
static int x;
THREAD(meet)
{
	pthread_barrier_wait(&two);
	return argument;
}
THREAD(set_meet)
{
	x = 1;
	pthread_barrier_wait(&two);
	return argument;
}
THREAD(meet_set)
{
	pthread_barrier_wait(&two);
	x = 2;
	return argument;
}
int main(void)
{
	pthread_barrier_init(&two, NULL, 2);
	pthread_t a = start(set_meet, NULL), b = start_settled(meet, NULL);
	pthread_t c = start(meet_set, NULL), d = start(meet, NULL);
	join(a);
	join(b);
	join(c);
	join(d);
	return x == 0;
}
