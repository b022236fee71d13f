// SPDX-License-Identifier: Apache-2.0
/* The child may read a pointer too early: its creator sets the pointer only after the creation. */
#include <pthread.h>
#include <stdio.h>

struct config {
	int size;
};

static struct config *config;
static struct config real = {7};

static void *child(void *unused)
{
	printf("%d\n", config->size);
	return unused;
}

int main(void)
{
	pthread_t t;

	pthread_create(&t, NULL, child, NULL);
	config = &real;
	pthread_join(t, NULL);
	return 0;
}
