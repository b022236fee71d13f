// SPDX-License-Identifier: Apache-2.0
/* The writer advances the end of the ring before it stores the entry. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

struct entry {
	const char *text;
};

static struct entry *ring[4];
static atomic_int end;
static struct entry hello = {"hello"};

static void *writer(void *unused)
{
	int at = atomic_fetch_add(&end, 1);

	ring[at] = &hello;
	return unused;
}

static void *reader(void *unused)
{
	for (int i = 0; i < atomic_load(&end); i++)
		puts(ring[i]->text);
	return unused;
}

int main(void)
{
	pthread_t a, b;

	pthread_create(&a, NULL, writer, NULL);
	pthread_create(&b, NULL, reader, NULL);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	return 0;
}
