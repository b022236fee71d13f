/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads lock, wait and signal, but compute the same in every schedule: synchronisation determines
 * which thread uses shared data next.
 *
 *	handover [CELLS [ROUNDS [THREADS]]]	writes the cells and prints a total
 *
 * In each round, between two barriers, a thread works on another row of cells.  The log is written
 * under a mutex, each thread into its own part.  The factors are read under a read lock and changed
 * between rounds.  A chain of semaphores makes the threads add up one after the other.  Main holds
 * the mutex of the condition variable until it waits, so it waits once in every run.
 */
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS_MAX 16

static int cells = 40, rounds = 6, thread_count = 4;
static pthread_barrier_t begin, end;
static pthread_mutex_t log_mutex = PTHREAD_MUTEX_INITIALIZER, done_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t done_condition = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t factor_lock = PTHREAD_RWLOCK_INITIALIZER;
static sem_t turn[THREADS_MAX + 1];
static long *rows[THREADS_MAX], factors[THREADS_MAX], total, *log_of[THREADS_MAX];
static int done;

static long mix(long row, long factor)
{
	return (row * 31 + factor) % 1000003;
}

static void work_on(long *row, int thread, int round)
{
	long factor, sum = 0;
	pthread_rwlock_rdlock(&factor_lock);
	factor = factors[thread];
	pthread_rwlock_unlock(&factor_lock);
	for (int i = 0; i < cells; i++) {
		row[i] = mix(row[i], factor + i);
		sum += row[i];
	}
	pthread_mutex_lock(&log_mutex);
	log_of[thread][round] = sum;
	pthread_mutex_unlock(&log_mutex);
}

static void *work(void *argument)
{
	int thread = *(int *)argument;
	for (int round = 0; round < rounds; round++) {
		pthread_barrier_wait(&begin);
		work_on(rows[(thread + round) % thread_count], thread, round);
		pthread_barrier_wait(&end);
	}
	sem_wait(&turn[thread]);
	for (int round = 0; round < rounds; round++)
		total = mix(total, log_of[thread][round]);
	sem_post(&turn[thread + 1]);
	return NULL;
}

static void *finish(void *argument)
{
	sem_wait(&turn[thread_count]);
	pthread_mutex_lock(&done_mutex);
	done = *(int *)argument;
	pthread_cond_signal(&done_condition);
	pthread_mutex_unlock(&done_mutex);
	return NULL;
}

static void set_up(void)
{
	pthread_barrier_init(&begin, NULL, (unsigned)thread_count + 1);
	pthread_barrier_init(&end, NULL, (unsigned)thread_count + 1);
	for (int i = 0; i <= thread_count; i++)
		sem_init(&turn[i], 0, 0);
	for (int i = 0; i < thread_count; i++) {
		factors[i] = i + 1;
		rows[i] = malloc(sizeof *rows[i] * (size_t)cells);
		log_of[i] = calloc((size_t)rounds, sizeof *log_of[i]);
		for (int k = 0; k < cells; k++)
			rows[i][k] = i * cells + k;
	}
}

static void run_rounds(void)
{
	for (int round = 0; round < rounds; round++) {
		pthread_rwlock_wrlock(&factor_lock);
		for (int i = 0; i < thread_count; i++)
			factors[i] += round;
		pthread_rwlock_unlock(&factor_lock);
		pthread_barrier_wait(&begin);
		pthread_barrier_wait(&end);
	}
}

static void wait_for_the_end(void)
{
	pthread_t thread;
	int word = 1;
	pthread_mutex_lock(&done_mutex);
	if (pthread_create(&thread, NULL, finish, &word) != 0)
		abort();
	sem_post(&turn[0]);
	while (!done)
		pthread_cond_wait(&done_condition, &done_mutex);
	pthread_mutex_unlock(&done_mutex);
	pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS_MAX];
	int numbers[THREADS_MAX];
	if (argc > 1)
		cells = atoi(argv[1]);
	if (argc > 2)
		rounds = atoi(argv[2]);
	if (argc > 3)
		thread_count = atoi(argv[3]);
	if (thread_count > THREADS_MAX)
		return 2;
	set_up();
	for (int i = 0; i < thread_count; i++) {
		numbers[i] = i;
		if (pthread_create(&threads[i], NULL, work, &numbers[i]) != 0)
			abort();
	}
	run_rounds();
	wait_for_the_end();
	for (int i = 0; i < thread_count; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < thread_count; i++) {
		fwrite(rows[i], sizeof *rows[i], (size_t)cells, stdout);
		free(rows[i]);
		free(log_of[i]);
	}
	printf("\ntotal %ld\n", total);
	return 0;
}
