// SPDX-License-Identifier: Apache-2.0
// expect: none
// recorded: one thread is done before the other begins.
/* A destructor frees the thread-specific data when the thread ends. */
#include "case.h"

static pthread_key_t key;
static void drop(void *p)
{
	*(int *)p = 0;
	free(p);
}
THREAD(use)
{
	int *mine = calloc(1, sizeof *mine);

	pthread_setspecific(key, mine);
	(*(int *)pthread_getspecific(key))++;
	return *mine == 1 ? NULL : argument;
}
int main(void)
{
	pthread_key_create(&key, drop);
	run_two(use, use);
	return 0;
}
