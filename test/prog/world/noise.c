// SPDX-License-Identifier: Apache-2.0
/*
 * A program whose output differs in each run, although its threads do not race: it prints the time,
 * random numbers and its process ID.  With an argument both threads count without a lock.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long counter;
static int careless;
static char text[2][400];

static void count(void)
{
	if (careless) {
		counter++;
		return;
	}
	pthread_mutex_lock(&lock);
	counter++;
	pthread_mutex_unlock(&lock);
}

static void *work(void *argument)
{
	char *to = argument;
	struct timespec mono, real;
	struct timeval day;
	unsigned long random[2];
	unsigned char more[4];

	clock_gettime(CLOCK_MONOTONIC, &mono);
	clock_gettime(CLOCK_REALTIME, &real);
	gettimeofday(&day, NULL);
	if (getrandom(random, sizeof random, 0) != sizeof random || getentropy(more, sizeof more))
		return NULL;
	count();
	snprintf(to, sizeof text[0], "%ld.%09ld %ld.%09ld %ld.%06ld %ld %lx %lx %02x%02x %d %d",
		 (long)mono.tv_sec, mono.tv_nsec, (long)real.tv_sec, real.tv_nsec, (long)day.tv_sec,
		 (long)day.tv_usec, (long)time(NULL), random[0], random[1], more[0], more[3], (int)getpid(),
		 (int)getppid());
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[2];

	(void)argv;
	careless = argc > 1;
	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, work, text[i]);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	printf("%s\n%s\n", text[0], text[1]);
	return counter == 0;
}
