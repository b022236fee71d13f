// SPDX-License-Identifier: Apache-2.0
/* Three transfers between three accounts form a ring: each may hold the lock that another wants. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

struct account {
	pthread_mutex_t lock;
	long money;
};

static struct account accounts[3] = {
	{PTHREAD_MUTEX_INITIALIZER, 10}, {PTHREAD_MUTEX_INITIALIZER, 20}, {PTHREAD_MUTEX_INITIALIZER, 30}};

static void *transfer(void *number)
{
	struct account *from = &accounts[(intptr_t)number];
	struct account *to = &accounts[((intptr_t)number + 1) % 3];

	pthread_mutex_lock(&from->lock);
	pthread_mutex_lock(&to->lock);
	from->money -= 1;
	to->money += 1;
	pthread_mutex_unlock(&to->lock);
	pthread_mutex_unlock(&from->lock);
	return NULL;
}

int main(void)
{
	pthread_t threads[3];

	for (intptr_t i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, transfer, (void *)i);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	printf("%ld\n", accounts[0].money);
	return 0;
}
