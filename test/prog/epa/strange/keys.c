// SPDX-License-Identifier: Apache-2.0
/* Each thread has thread-specific data, whose destructor stores a result. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int ended[4];

struct state {
	int me;
	int sum;
};

static void destroy(void *p)
{
	struct state *s = p;
	ended[s->me] = s->sum;
	free(s);
}

static void make_key(void)
{
	pthread_key_create(&key, destroy);
}

static void add(int x)
{
	struct state *s = pthread_getspecific(key);
	s->sum += x;
}

static void *work(void *argument)
{
	struct state *s = malloc(sizeof *s);
	pthread_once(&once, make_key);
	s->me = (int)(long)argument;
	s->sum = 0;
	pthread_setspecific(key, s);
	for (int i = 0; i < 9; i++)
		add(i * s->me);
	return NULL;
}

int main(void)
{
	pthread_t t[4];
	pthread_once(&once, make_key);
	for (long i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, work, (void *)i);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	printf("%d %d %d %d\n", ended[0], ended[1], ended[2], ended[3]);
	return 0;
}
