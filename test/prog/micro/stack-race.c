// SPDX-License-Identifier: Apache-2.0
// expect: race main.local
// recorded: the thread is done before main reads.
/* A thread writes a variable on main's stack, which main reads before the join. */
#include "case.h"

THREAD(set)
{
	*(int *)argument = 7;
	return NULL;
}
int main(void)
{
	int local = 0;
	pthread_t t = start_settled(set, &local);
	int seen = local;

	join(t);
	return seen < 0;
}
