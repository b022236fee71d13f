// SPDX-License-Identifier: Apache-2.0
/* Threads use thread-local variables of several kinds, also through pointers to them. */
#include <pthread.h>
#include <stdio.h>

static __thread int counter;
static _Thread_local struct {
	int *at;
	double mean;
} state;
static __thread char name[16];

static void bump(int *p, int by)
{
	*p += by;
}

static void *work(void *argument)
{
	long me = (long)argument;
	state.at = &counter;
	for (int i = 0; i < 12; i++) {
		bump(state.at, i * (int)me);
		state.mean = (state.mean * i + counter) / (i + 1);
	}
	snprintf(name, sizeof name, "t%d", counter);
	return (void *)((long)state.mean * 100 + name[1]);
}

int main(void)
{
	pthread_t t[3];
	work((void *)7);
	for (long i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, work, (void *)i);
	for (int i = 0; i < 3; i++) {
		void *r;
		pthread_join(t[i], &r);
		printf("%ld\n", (long)r);
	}
	printf("%d\n", counter);
	return 0;
}
