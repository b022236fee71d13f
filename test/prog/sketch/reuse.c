// SPDX-License-Identifier: Apache-2.0
/* Use after free: the owner frees a connection while a timer may still read it. */
#include <pthread.h>
#include <stdlib.h>

struct connection {
	int state;
	int bytes;
};

static int total;

static void *timer(void *arg)
{
	struct connection *c = arg;

	total += c->bytes;
	return NULL;
}

static void *owner(void *arg)
{
	struct connection *c = arg;

	c->state = 2;
	free(c);
	return NULL;
}

int main(void)
{
	struct connection *c = malloc(sizeof *c);
	pthread_t a, b;

	c->bytes = 10;
	pthread_create(&a, NULL, timer, c);
	pthread_create(&b, NULL, owner, c);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return 0;
}
