// SPDX-License-Identifier: Apache-2.0
/* After Apache 21287: a reference count is decremented and tested in two steps: both may free. */
#include <pthread.h>
#include <stdlib.h>

struct object {
	int refcount;
	char data[32];
};

static void decrement(struct object *o)
{
	o->refcount--;
	if (o->refcount == 0)
		free(o);
}

static void *worker(void *arg)
{
	decrement(arg);
	return NULL;
}

int main(void)
{
	struct object *o = malloc(sizeof *o);
	pthread_t a, b;

	o->refcount = 2;
	pthread_create(&a, NULL, worker, o);
	pthread_create(&b, NULL, worker, o);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return 0;
}
