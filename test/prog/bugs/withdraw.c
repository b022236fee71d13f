// SPDX-License-Identifier: Apache-2.0
/* Two threads withdraw money.  Each access is atomic, but another thread can withdraw between the
 * test and the withdrawal, so the balance can become negative. */
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_int balance = 100;

static void *withdraw(void *unused)
{
	(void)unused;
	if (atomic_load(&balance) >= 60)
		atomic_fetch_sub(&balance, 60);
	return NULL;
}

int main(void)
{
	pthread_t t[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, withdraw, NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	assert(atomic_load(&balance) >= 0);
	puts("done");
	return 0;
}
