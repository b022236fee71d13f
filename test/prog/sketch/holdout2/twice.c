// SPDX-License-Identifier: Apache-2.0
/* Both threads may find no registry and make one: what is added to the first one is then lost. */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>

struct registry {
	int members;
};

static struct registry *registry;

static struct registry *instance(void)
{
	if (!registry)
		registry = calloc(1, sizeof *registry);
	return registry;
}

static void *join(void *unused)
{
	__atomic_fetch_add(&instance()->members, 1, __ATOMIC_SEQ_CST);
	return unused;
}

int main(void)
{
	pthread_t a, b;

	pthread_create(&a, NULL, join, NULL);
	pthread_create(&b, NULL, join, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	assert(registry->members == 2);
	return 0;
}
