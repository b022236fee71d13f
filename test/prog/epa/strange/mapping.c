// SPDX-License-Identifier: Apache-2.0
/* All threads use one shared anonymous mapping; each also enlarges one of its own by mremap(). */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>

static int *shared;

static void *work(void *argument)
{
	long me = (long)argument;
	int *own = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (int i = 0; i < 30; i++)
		own[i] = (int)(i * me);
	own = mremap(own, 4096, 16384, MREMAP_MAYMOVE);
	for (int i = 0; i < 30; i++)
		shared[me * 32 + i] = own[i] + own[3000];
	munmap(own, 16384);
	return NULL;
}

int main(void)
{
	pthread_t t[3];
	long sum = 0;
	shared = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	for (long i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, work, (void *)i);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	for (int i = 0; i < 96; i++)
		sum = sum * 5 % 10007 + shared[i];
	munmap(shared, 8192);
	printf("%ld\n", sum);
	return 0;
}
