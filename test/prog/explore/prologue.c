// SPDX-License-Identifier: Apache-2.0
/*
 * Works alone for a while before it creates two threads, which lose an update in some schedules.
 */
#include <assert.h>
#include <pthread.h>

static int table[2000], count;

static void *add(void *unused)
{
	int old = count;

	count = old + 1;
	return unused;
}

int main(void)
{
	pthread_t t[2];

	for (int i = 0; i < 2000; i++)
		table[i] = i;
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, add, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	assert(count == 2);
	return 0;
}
