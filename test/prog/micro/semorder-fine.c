// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: first is done before second begins.
/* Two orders, but there is a second unit of one of them. */
#include "case.h"

static sem_t a, b;
THREAD(first)
{
	UNUSED;
	sem_wait(&a);
	sem_wait(&b);
	sem_post(&b);
	sem_post(&a);
	return NULL;
}
THREAD(second)
{
	UNUSED;
	sem_wait(&b);
	sem_wait(&a);
	sem_post(&a);
	sem_post(&b);
	return NULL;
}
int main(void)
{
	sem_init(&a, 0, 2);
	sem_init(&b, 0, 1);
	run_two(first, second);
	return 0;
}
