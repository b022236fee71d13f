// SPDX-License-Identifier: Apache-2.0
/* Sends messages through chan.c.  With -DRACE two threads change a counter without order; with
 * -DLOAD the program loads chan.c's library at run time. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef LOAD
#include <dlfcn.h>

static void (*chan_put)(void *p);
static void *(*chan_get)(void);

static void load(void)
{
	void *library = dlopen("./libchan.so", RTLD_NOW);

	if (!library)
		exit(3);
	chan_put = (void (*)(void *))dlsym(library, "chan_put");
	chan_get = (void *(*)(void))dlsym(library, "chan_get");
}
#else
void chan_put(void *p);
void *chan_get(void);

static void load(void)
{
}
#endif

struct message {
	int a, b;
};

static int counter;

static void *produce(void *p)
{
#ifdef RACE
	counter++;
#endif
	for (int i = 0; i < 20; i++) {
		struct message *m = malloc(sizeof *m);

		m->a = i;
		m->b = 2 * i;
		chan_put(m);
	}
	return p;
}

int main(void)
{
	pthread_t thread;
	long sum = 0;

	load();
	pthread_create(&thread, NULL, produce, NULL);
#ifdef RACE
	counter++;
#endif
	for (int i = 0; i < 20; i++) {
		struct message *m = chan_get();

		sum += m->a + m->b;
		free(m);
	}
	pthread_join(thread, NULL);
	printf("%ld %d\n", sum, counter);
	return 0;
}
