// SPDX-License-Identifier: Apache-2.0
/*
 * Small programs with many switches between threads, for bench/turns: turns MODE [TIMES].  Each
 * does about a millisecond of work, or TIMES as much, and has no error.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 500, QUEUE = 16, SPAWN = 40, CROWD = 100, COMPUTE = 200000, SORTED = 80 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t mutexes[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t rwlock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t barrier;
static sem_t items, room;
static atomic_int shared;
static int counter, turn, queue[QUEUE], head, tail;
static unsigned long sums[2];
static int times = 1;

static void *count(void *number)
{
	int rounds = times * ROUNDS;

	for (int i = 0; i < rounds; i++) {
		pthread_mutex_lock(&mutex);
		counter += i & 1;
		pthread_mutex_unlock(&mutex);
	}
	return number;
}

static void *lock_often(void *number)
{
	int rounds = times * ROUNDS;

	for (int i = 0; i < rounds; i++) {
		pthread_mutex_lock(&mutex);
		pthread_mutex_unlock(&mutex);
	}
	return number;
}

/* Each thread has its own lock, so no thread ever waits. */
static void *lock_own(void *number)
{
	int rounds = times * ROUNDS;

	for (int i = 0; i < rounds; i++) {
		pthread_mutex_lock(&mutexes[number != NULL]);
		pthread_mutex_unlock(&mutexes[number != NULL]);
	}
	return number;
}

static void *access_own(void *number)
{
	volatile unsigned long *sum = &sums[number != NULL];
	int rounds = times * ROUNDS;

	for (int i = 0; i < rounds; i++)
		++*sum;
	return number;
}

static void *put_or_take(void *number)
{
	int rounds = times * ROUNDS;

	for (int i = 0; i < rounds; i++) {
		pthread_mutex_lock(&mutex);
		while (number ? head == tail : tail - head == QUEUE)
			pthread_cond_wait(&changed, &mutex);
		if (number)
			counter += queue[head++ % QUEUE];
		else
			queue[tail++ % QUEUE] = i;
		pthread_cond_broadcast(&changed);
		pthread_mutex_unlock(&mutex);
	}
	return NULL;
}

static void *alternate(void *number)
{
	int mine = number != NULL;
	int rounds = times * ROUNDS;

	for (int i = 0; i < rounds; i++) {
		pthread_mutex_lock(&mutex);
		while (turn != mine)
			pthread_cond_wait(&changed, &mutex);
		turn = !mine;
		pthread_cond_signal(&changed);
		pthread_mutex_unlock(&mutex);
	}
	return NULL;
}

static void *meet(void *number)
{
	int rounds = times * ROUNDS / 4;

	for (int i = 0; i < rounds; i++)
		pthread_barrier_wait(&barrier);
	return number;
}

static void *read_and_write(void *number)
{
	int rounds = times * ROUNDS;

	for (int i = 0; i < rounds; i++) {
		if (i % 8)
			pthread_rwlock_rdlock(&rwlock);
		else
			pthread_rwlock_wrlock(&rwlock);
		if (i % 8 == 0)
			counter++;
		pthread_rwlock_unlock(&rwlock);
	}
	return number;
}

static void *update(void *number)
{
	int rounds = times * 2 * ROUNDS;

	for (int i = 0; i < rounds; i++)
		atomic_fetch_add(&shared, 1);
	return number;
}

static void *pass_items(void *number)
{
	int rounds = times * ROUNDS;

	for (int i = 0; i < rounds; i++) {
		sem_wait(number ? &items : &room);
		sem_post(number ? &room : &items);
	}
	return NULL;
}

static void *compute(void *number)
{
	unsigned long *sum = &sums[number != NULL], x = 1;
	int rounds = times * COMPUTE;

	for (int i = 0; i < rounds; i++) {
		x = x * 6364136223846793005ul + 1;
		*sum += x >> 33;
	}
	return NULL;
}

static void *once(void *number)
{
	pthread_mutex_lock(&mutex);
	counter++;
	pthread_mutex_unlock(&mutex);
	return number;
}

static int run(void *(*fn)(void *), int threads)
{
	pthread_t ids[CROWD];

	for (int i = 0; i < threads; i++)
		if (pthread_create(&ids[i], NULL, fn, i % 2 ? &counter : NULL))
			return 1;
	for (int i = 0; i < threads; i++)
		pthread_join(ids[i], NULL);
	return 0;
}

/* Passes an address to assembly, so that accesses to the memory cannot be optimised away. */
static void keep(void *p)
{
	__asm__ volatile("" : : "r"(p) : "memory");
}

/* Sorts a local array by insertion. */
static void *sort(void *number)
{
	int rounds = times * SORTED, values[4 * SORTED];

	for (int i = 0; i < rounds; i++) {
		int value = i * 7919 % 1009, at = i;

		for (; at > 0 && values[at - 1] > value; at--)
			values[at] = values[at - 1];
		values[at] = value;
	}
	keep(values);
	return number;
}

/* Runs one thread after the other. */
static int spawn(void)
{
	for (int i = 0; i < SPAWN; i++)
		if (run(once, 1))
			return 1;
	return 0;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void *(*fn)(void *);
		int threads;
	} modes[] = {{"counter", count, 2},	{"mutex", lock_often, 2},
		     {"queue", put_or_take, 2}, {"condition", alternate, 2},
		     {"barrier", meet, 2},	{"rwlock", read_and_write, 2},
		     {"atomic", update, 2},	{"semaphore", pass_items, 2},
		     {"compute", compute, 2},	{"crowd", once, CROWD},
		     {"lock", lock_own, 2},	{"access", access_own, 2},
		     {"sort", sort, 2}};

	pthread_barrier_init(&barrier, NULL, 2);
	sem_init(&items, 0, 0);
	sem_init(&room, 0, QUEUE);
	if (argc == 3)
		times = atoi(argv[2]);
	if (argc >= 2 && !strcmp(argv[1], "spawn"))
		return spawn();
	for (size_t i = 0; argc >= 2 && i < sizeof modes / sizeof *modes; i++)
		if (!strcmp(argv[1], modes[i].name))
			return run(modes[i].fn, modes[i].threads);
	fprintf(stderr, "usage: turns MODE [TIMES]\n");
	return 2;
}
