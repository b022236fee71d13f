// SPDX-License-Identifier: Apache-2.0
/* A server's time-out may close the connection after the handler's test and before its write. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct connection {
	char *out;
	int open;
};

static struct connection c;
static char buffer[64];

static void *handler(void *unused)
{
	if (c.open)
		strcpy(c.out, "hello");
	return unused;
}

static void *expire(void *unused)
{
	c.open = 0;
	c.out = NULL;
	return unused;
}

int main(void)
{
	pthread_t a, b;

	c.out = buffer;
	c.open = 1;
	pthread_create(&a, NULL, handler, NULL);
	pthread_create(&b, NULL, expire, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return 0;
}
