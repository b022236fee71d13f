// SPDX-License-Identifier: Apache-2.0
/* Two threads update statistics; an update between the other's read and write is lost. */
#include <pthread.h>
#include <stdio.h>

struct statistics {
	long requests, bytes;
};

static struct statistics all;

static void account(long bytes)
{
	struct statistics now = all;

	now.requests += 1;
	now.bytes += bytes;
	all = now;
}

static void *serve(void *unused)
{
	account(100);
	return unused;
}

int main(void)
{
	pthread_t a, b;

	pthread_create(&a, NULL, serve, NULL);
	pthread_create(&b, NULL, serve, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	printf("%ld requests\n", all.requests);
	return 0;
}
