// SPDX-License-Identifier: Apache-2.0
// expect: race x
// recorded: the thread is done before main reads.
/* The variable is read before the join. */
#include "case.h"

static int x;
THREAD(set)
{
	UNUSED;
	x = 1;
	return NULL;
}
int main(void)
{
	pthread_t t = start_settled(set, NULL);
	int seen = x;

	join(t);
	return seen > 1;
}
