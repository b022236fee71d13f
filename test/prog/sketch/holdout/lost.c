// SPDX-License-Identifier: Apache-2.0
/* A lost update: two clerks add to a balance without a lock. */
#include <assert.h>
#include <pthread.h>

static volatile int balance;

static void *clerk(void *unused)
{
	int now = balance;

	balance = now + 10;
	return unused;
}

int main(void)
{
	pthread_t a, b;

	pthread_create(&a, NULL, clerk, NULL);
	pthread_create(&b, NULL, clerk, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	assert(balance == 20);
	return 0;
}
