// expect: next_job k-witness-harmless -
// Kind f: next_job is looked at without the lock only to leave early; it never
// goes down and is tested again under the lock, so every job is done exactly
// once. The lines come in any order.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>

#define NWORKERS 4
#define NJOBS 12

pthread_mutex_t job_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t out_lock = PTHREAD_MUTEX_INITIALIZER;
int next_job; /* written under job_lock */

static int claim(void)
{
	int job = -1;
	if (next_job >= NJOBS) /* racy hint */
		return -1;
	pthread_mutex_lock(&job_lock);
	if (next_job < NJOBS)
		job = next_job++;
	pthread_mutex_unlock(&job_lock);
	return job;
}

static int fib(int n)
{
	int a = 0, b = 1;
	while (n-- > 0) {
		int c = a + b;
		a = b;
		b = c;
	}
	return a;
}

static void *worker(void *arg)
{
	int job;
	(void)arg;
	while ((job = claim()) >= 0) {
		int v = fib(job);
		pthread_mutex_lock(&out_lock);
		printf("job %d: fib=%d\n", job, v);
		pthread_mutex_unlock(&out_lock);
	}
	return NULL;
}

int main(void)
{
	pthread_t t[NWORKERS];
	for (int i = 0; i < NWORKERS; i++)
		pthread_create(&t[i], NULL, worker, NULL);
	for (int i = 0; i < NWORKERS; i++)
		pthread_join(t[i], NULL);
	puts("jobs finished");
	return 0;
}
