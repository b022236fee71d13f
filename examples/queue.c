// SPDX-License-Identifier: Apache-2.0
/*
 * A work queue: the main thread puts in numbers, workers take them out and count
 * the primes below them.  The queue is correct; a recording shows where the
 * workers wait.  Only `done` is wrong: the main thread reads it without the lock
 * to show how far the work has got.
 *
 * Usage: queue [WORKERS]
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { SLOTS = 8, JOBS = 64, WORKERS_MAX = 64 };

static struct queue {
	pthread_mutex_t lock;
	pthread_cond_t not_empty, not_full;
	int slots[SLOTS];
	int head, used;
	int closed;
} queue = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER, {0}, 0, 0, 0};

static struct {
	pthread_mutex_t lock;
	long primes;
	int done;
} result = {PTHREAD_MUTEX_INITIALIZER, 0, 0};

static void put(struct queue *q, int job)
{
	pthread_mutex_lock(&q->lock);
	while (q->used == SLOTS)
		pthread_cond_wait(&q->not_full, &q->lock);
	q->slots[(q->head + q->used++) % SLOTS] = job;
	pthread_cond_signal(&q->not_empty);
	pthread_mutex_unlock(&q->lock);
}

static void close_queue(struct queue *q)
{
	pthread_mutex_lock(&q->lock);
	q->closed = 1;
	pthread_cond_broadcast(&q->not_empty);
	pthread_mutex_unlock(&q->lock);
}

/* Returns 0 when the queue is closed and empty. */
static int take(struct queue *q)
{
	int job = 0;

	pthread_mutex_lock(&q->lock);
	while (!q->used && !q->closed)
		pthread_cond_wait(&q->not_empty, &q->lock);
	if (q->used) {
		job = q->slots[q->head];
		q->head = (q->head + 1) % SLOTS;
		q->used--;
		pthread_cond_signal(&q->not_full);
	}
	pthread_mutex_unlock(&q->lock);
	return job;
}

static long count_primes(int below)
{
	long count = 0;

	for (int n = 2; n < below; n++) {
		int d = 2;

		while (d * d <= n && n % d)
			d++;
		count += d * d > n;
	}
	return count;
}

static void *run_worker(void *unused)
{
	int job;

	(void)unused;
	while ((job = take(&queue))) {
		long primes = count_primes(job);

		pthread_mutex_lock(&result.lock);
		result.primes += primes;
		result.done++;
		pthread_mutex_unlock(&result.lock);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int workers = argc > 1 ? atoi(argv[1]) : 3;
	pthread_t threads[WORKERS_MAX];

	if (workers < 1 || workers > WORKERS_MAX)
		return 2;
	for (int i = 0; i < workers; i++)
		pthread_create(&threads[i], NULL, run_worker, NULL);
	for (int job = 1; job <= JOBS; job++) {
		put(&queue, 100 * job);
		if (job % 16 == 0)
			fprintf(stderr, "%d jobs given out, %d done\n", job, result.done);
	}
	close_queue(&queue);
	for (int i = 0; i < workers; i++)
		pthread_join(threads[i], NULL);
	printf("%d jobs, %ld primes\n", result.done, result.primes);
	return 0;
}
