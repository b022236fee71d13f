// SPDX-License-Identifier: Apache-2.0
/*
 * A program that runs for about a second and has one error at its very end.  Four threads work on a
 * table under its locks, and each adds its result to the total without holding the lock that
 * protects the total.  bench/replay measures how long it takes to prove the race.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS 4
#define ROWS 64
#define COLUMNS 4096

static struct row {
	pthread_mutex_t lock;
	uint64_t cells[COLUMNS];
} table[ROWS];
static pthread_mutex_t total_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t total, finished;
static unsigned long rounds = 30000;

static uint64_t work_on(struct row *r, uint64_t seed)
{
	uint64_t sum = 0;

	pthread_mutex_lock(&r->lock);
	for (unsigned i = 0; i < COLUMNS; i++) {
		seed = seed * 6364136223846793005u + 1442695040888963407u;
		r->cells[i] += seed >> 40;
		sum += r->cells[(seed >> 33) % COLUMNS] & 0xff;
	}
	pthread_mutex_unlock(&r->lock);
	return sum;
}

static void *work(void *argument)
{
	uint64_t mine = 0, number = (uint64_t)(uintptr_t)argument;

	for (unsigned long i = 0; i < rounds; i++)
		mine += work_on(&table[(i * 7 + number * 16) % ROWS], i + number);
	pthread_mutex_lock(&total_lock);
	finished++;
	pthread_mutex_unlock(&total_lock);
	total += mine;
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];

	if (argc > 1)
		rounds = strtoul(argv[1], NULL, 10);
	for (unsigned i = 0; i < ROWS; i++)
		pthread_mutex_init(&table[i].lock, NULL);
	for (uintptr_t i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, work, (void *)i);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("%d\n", total != 0 && finished == THREADS);
	return 0;
}
