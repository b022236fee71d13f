// SPDX-License-Identifier: Apache-2.0
/* Messages go through chan.c.  With -DRACE a counter is shared without any order. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

void chan_put(void *p);
void *chan_get(void);

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
