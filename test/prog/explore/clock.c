// SPDX-License-Identifier: Apache-2.0
/*
 * Threads whose path depends on the time: clock MODE.  The exit status is 1 if a deadline passes that
 * is far away.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MS 1000000ll
#define FAR (5000 * MS) /* a deadline that no correct run reaches */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static int counter, late;
static atomic_int done;
static const char *mode;

static long long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 * MS + t.tv_nsec;
}

static void step(void)
{
	pthread_mutex_lock(&mutex);
	counter++;
	pthread_mutex_unlock(&mutex);
}

/* Works for a short time. */
static void *branch(void *unused)
{
	for (long long end = now() + 20000; now() < end;)
		step();
	return unused;
}

static void *poll_clock(void *unused)
{
	for (long long end = now() + 20 * MS; now() < end;)
		;
	return unused;
}

static void *sleep_until(void *unused)
{
	for (long long end = now() + 20 * MS; now() < end;)
		usleep(1000);
	return unused;
}

static void *sleep_absolute(void *unused)
{
	struct timespec end;

	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec++;
	while (now() < end.tv_sec * 1000 * MS + end.tv_nsec)
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &end, NULL);
	return unused;
}

static void *wait_until(void *unused)
{
	struct timeval day;
	struct timespec end;

	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += 2;
	pthread_mutex_lock(&mutex);
	do {
		pthread_cond_timedwait(&cond, &mutex, &end);
		counter++;
		gettimeofday(&day, NULL);
	} while (day.tv_sec < end.tv_sec || (day.tv_sec == end.tv_sec && day.tv_usec * 1000 < end.tv_nsec));
	pthread_mutex_unlock(&mutex);
	return unused;
}

/* One thread works, the other one looks now and then whether it is done. */
static void *watch(void *first)
{
	long long end = now() + FAR;

	if (first) {
		for (int i = 0; i < 1500; i++)
			step();
		done = 1;
	}
	while (!done && !late) {
		usleep(10000);
		late = now() > end;
	}
	return NULL;
}

/* A child takes real time, which the deadline must give it. */
static void *watch_child(void *first)
{
	long long end = now() + FAR;
	pid_t child = first ? fork() : 0;

	if (first && child == 0) {
		usleep(20000);
		_exit(0);
	}
	while (!done && !late) {
		if (first && waitpid(child, NULL, WNOHANG) == child)
			done = 1;
		usleep(10000);
		late = now() > end;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void *(*run)(void *);
	} modes[] = {{"branch", branch},	   {"poll", poll_clock}, {"sleep", sleep_until},
		     {"absolute", sleep_absolute}, {"wait", wait_until}, {"watch", watch},
		     {"child", watch_child}};
	long long begun = now();
	pthread_t threads[2];

	mode = argc > 1 ? argv[1] : "branch";
	for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
		if (!strcmp(mode, modes[i].name)) {
			pthread_create(&threads[0], NULL, modes[i].run, &counter);
			pthread_create(&threads[1], NULL, modes[i].run, NULL);
		}
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	printf("%d steps in %lld ns\n", counter, now() - begun);
	return late;
}
