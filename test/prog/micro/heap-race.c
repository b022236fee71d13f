// SPDX-License-Identifier: Apache-2.0
// expect: race heap
// recorded: one thread is done before the other begins.
/* Two threads change a heap block without a lock. */
#include "case.h"

struct item {
	long pad;
	int state;
};
THREAD(set)
{
	((struct item *)argument)->state++;
	return NULL;
}
int main(void)
{
	struct item *i = calloc(1, sizeof *i);
	pthread_t a = start_settled(set, i), b = start(set, i);

	join(a);
	join(b);
	return i->state < 1;
}
