// SPDX-License-Identifier: Apache-2.0
/* When the wait times out, the program behaves as if the answer had come. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t answered = PTHREAD_COND_INITIALIZER;
static int *answer;

static void *server(void *unused)
{
	int *made = malloc(sizeof *made);

	*made = 42;
	pthread_mutex_lock(&lock);
	answer = made;
	pthread_cond_signal(&answered);
	pthread_mutex_unlock(&lock);
	return unused;
}

int main(void)
{
	pthread_t t;
	struct timespec limit;

	clock_gettime(CLOCK_REALTIME, &limit);
	limit.tv_sec += 1;
	pthread_create(&t, NULL, server, NULL);
	pthread_mutex_lock(&lock);
	if (!answer)
		pthread_cond_timedwait(&answered, &lock, &limit);
	printf("%d\n", *answer);
	pthread_mutex_unlock(&lock);
	pthread_join(t, NULL);
	return 0;
}
