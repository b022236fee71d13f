// SPDX-License-Identifier: Apache-2.0
// expect: race destroyed
// recorded: one thread is done before the other begins.
/* The destructors of two threads increment a counter without a lock. */
#include "case.h"

static pthread_key_t key;
static int destroyed;
static void drop(void *p)
{
	destroyed++;
	free(p);
}
THREAD(use)
{
	UNUSED;
	pthread_setspecific(key, malloc(4));
	return NULL;
}
int main(void)
{
	pthread_key_create(&key, drop);
	run_two(use, use);
	return destroyed < 1;
}
