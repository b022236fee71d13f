// expect: last_touch k-witness-harmless -
// Kind a: "last key touched" is written by two readers and never used; the
// cache takes table->lru in get() and lru->table in the ager.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

#define NKEYS 8

struct entry {
	int hits;
	int age;
};

struct entry table[NKEYS];
pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t lru_lock = PTHREAD_MUTEX_INITIALIZER;
int lru_moves;
int last_touch; /* debugging aid, written only */

static void cache_get(int key)
{
	last_touch = key; /* racy */
	pthread_mutex_lock(&table_lock);
	table[key].hits++;
	pthread_mutex_lock(&lru_lock);
	lru_moves++;
	pthread_mutex_unlock(&lru_lock);
	pthread_mutex_unlock(&table_lock);
}

static void *reader(void *arg)
{
	int base = (int)(intptr_t)arg;
	for (int i = 0; i < 4; i++)
		cache_get((base + i) % NKEYS);
	return NULL;
}

static void *ager(void *arg)
{
	(void)arg;
	for (int round = 0; round < 2; round++) {
		pthread_mutex_lock(&lru_lock);
		pthread_mutex_lock(&table_lock);
		for (int i = 0; i < NKEYS; i++)
			table[i].age++;
		pthread_mutex_unlock(&table_lock);
		pthread_mutex_unlock(&lru_lock);
	}
	return NULL;
}

int main(void)
{
	pthread_t r1, r2, ag;
	int hits = 0, age = 0;
	pthread_create(&r1, NULL, reader, (void *)(intptr_t)0);
	pthread_create(&ag, NULL, ager, NULL);
	pthread_create(&r2, NULL, reader, (void *)(intptr_t)3);
	pthread_join(r1, NULL);
	pthread_join(r2, NULL);
	pthread_join(ag, NULL);
	for (int i = 0; i < NKEYS; i++) {
		hits += table[i].hits;
		age += table[i].age;
	}
	printf("hits=%d age=%d moves=%d\n", hits, age, lru_moves);
	return 0;
}
