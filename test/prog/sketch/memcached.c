// SPDX-License-Identifier: Apache-2.0
/* After memcached: two threads increment an item without a lock, and an update may be lost. */
#include <pthread.h>
#include <stdio.h>

struct item {
	int value;
};

static struct item item;

static void *increment(void *unused)
{
	int old = item.value;

	item.value = old + 1;
	return unused;
}

int main(void)
{
	pthread_t a, b;

	pthread_create(&a, NULL, increment, NULL);
	pthread_create(&b, NULL, increment, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	if (item.value != 2) {
		fprintf(stderr, "lost update\n");
		return 3;
	}
	return 0;
}
