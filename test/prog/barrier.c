// SPDX-License-Identifier: Apache-2.0
/*
 * A thread hands `item` to another one through a plain pointer, with compiler barriers (assembler).
 * The accesses to the pointer race, but those to `item` are ordered.  `counted` is another race: it
 * is written atomically and read plainly by threads that do not synchronise.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

#define BARRIER() __asm__ volatile("" ::: "memory")

static struct {
	int value;
} item;
static void *slot;
static int counted;
static sem_t begun[2];

static void *writer(void *unused)
{
	(void)unused;
	item.value = 42;
	BARRIER();
	*(void *volatile *)&slot = &item;
	return NULL;
}

static void *reader(void *unused)
{
	int *got;

	(void)unused;
	while (!(got = *(void *volatile *)&slot))
		;
	BARRIER();
	return *got == 42 ? NULL : &item;
}

/* Each of these two threads accesses `counted` only after the other has done an operation. */
static void *counter(void *unused)
{
	(void)unused;
	sem_post(&begun[0]);
	sem_wait(&begun[1]);
	__atomic_fetch_add(&counted, 1, __ATOMIC_RELAXED);
	return NULL;
}

static void *looker(void *unused)
{
	(void)unused;
	sem_post(&begun[1]);
	sem_wait(&begun[0]);
	return *(volatile int *)&counted > 1 ? &item : NULL;
}

int main(void)
{
	void *(*const starts[])(void *) = {reader, writer, counter, looker};
	pthread_t threads[4];

	sem_init(&begun[0], 0, 0);
	sem_init(&begun[1], 0, 0);
	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, starts[i], NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
