// expect: release_calls k-witness-harmless -
// expect: job spec-violated memory-error
// Kind c: release_calls is never printed; the reference count in the shared
// heap block is a plain int, so two threads can both see 0 and free twice (and
// one can read the count after the free).
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define NTHREADS 3

struct job {
	char payload[48];
	int refs;
};

struct job *job; /* set before the threads, never changed */
pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
int log_lines;	    /* guarded by log_lock */
long release_calls; /* statistics, never printed */

static void log_release(void)
{
	pthread_mutex_lock(&log_lock);
	log_lines++;
	pthread_mutex_unlock(&log_lock);
}

static void job_release(struct job *j)
{
	release_calls++;       /* racy, harmless */
	j->refs = j->refs - 1; /* racy */
	log_release();
	if (j->refs == 0) /* racy second look */
		free(j);
}

static void *worker(void *arg)
{
	job_release(arg);
	return NULL;
}

int main(void)
{
	pthread_t t[NTHREADS];
	job = calloc(1, sizeof *job);
	snprintf(job->payload, sizeof job->payload, "resize image");
	job->refs = NTHREADS;
	for (int i = 0; i < NTHREADS; i++)
		pthread_create(&t[i], NULL, worker, job);
	for (int i = 0; i < NTHREADS; i++)
		pthread_join(t[i], NULL);
	printf("released, %d log lines\n", log_lines);
	return 0;
}
