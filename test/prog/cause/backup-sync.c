// expect: name_hash k-witness-harmless -
// Kind a: name_hash is a memo of a pure function (any thread computes the same
// value); disk and net are binary semaphores taken in opposite orders.
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>

static const char volume[] = "volume-7";
sem_t disk, net;
unsigned name_hash; /* 0 = not computed yet */
unsigned sum;	    /* guarded by disk and net together */

static unsigned compute(const char *s)
{
	unsigned h = 5381;
	while (*s)
		h = h * 33u + (unsigned char)*s++;
	return h | 1u;
}

static unsigned volume_hash(void)
{
	unsigned h = name_hash; /* racy read, one load */
	if (h == 0) {
		h = compute(volume);
		name_hash = h; /* racy, idempotent */
	}
	return h;
}

static void *backup(void *arg)
{
	(void)arg;
	unsigned h = volume_hash();
	sem_wait(&disk);
	sem_wait(&net);
	sum += h % 1000;
	sem_post(&net);
	sem_post(&disk);
	return NULL;
}

static void *sync_remote(void *arg)
{
	(void)arg;
	unsigned h = volume_hash();
	sem_wait(&net);
	sem_wait(&disk);
	sum += h % 1000;
	sem_post(&disk);
	sem_post(&net);
	return NULL;
}

int main(void)
{
	pthread_t t[4];
	sem_init(&disk, 0, 1);
	sem_init(&net, 0, 1);
	for (int i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, i % 2 ? sync_remote : backup, NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	printf("sum=%u\n", sum);
	return 0;
}
