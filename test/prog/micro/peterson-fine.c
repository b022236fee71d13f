// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: one thread is done before the other begins.
/* Peterson's lock, made of sequentially consistent atomics, protects x. */
#include "case.h"

static atomic_int wants[2], turn;
static int x;
THREAD(add)
{
	long i = argument ? 1 : 0;

	atomic_store(&wants[i], 1);
	atomic_store(&turn, (int)(1 - i));
	while (atomic_load(&wants[1 - i]) && atomic_load(&turn) == 1 - i)
		sched_yield();
	x++;
	atomic_store(&wants[i], 0);
	return NULL;
}
int main(void)
{
	pthread_t a = start_settled(add, NULL), b = start(add, &x);

	join(a);
	join(b);
	return x != 2;
}
