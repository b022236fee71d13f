/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each of four consumers waits for its own queue.  Only how often it waits depends on the schedule.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct node {
	struct node *next;
	int v;
	char pad[3];
};
struct queue {
	pthread_mutex_t m;
	pthread_cond_t c;
	struct node *head, *tail;
	int done;
	long sum;
};
static struct queue q[4];
static pthread_mutex_t total_lock = PTHREAD_MUTEX_INITIALIZER;
static void *consumer(void *arg)
{
	struct queue *me = arg;
	for (;;) {
		pthread_mutex_lock(&me->m);
		while (!me->head && !me->done)
			pthread_cond_wait(&me->c, &me->m);
		struct node *n = me->head;
		if (!n) {
			pthread_mutex_unlock(&me->m);
			break;
		}
		me->head = n->next;
		pthread_mutex_unlock(&me->m);
		me->sum += n->v;
		free(n);
	}
	return me;
}
int main(void)
{
	pthread_t t[4];
	long total = 0;
	for (int i = 0; i < 4; i++) {
		pthread_mutex_init(&q[i].m, NULL);
		pthread_cond_init(&q[i].c, NULL);
		pthread_create(&t[i], NULL, consumer, &q[i]);
	}
	for (int i = 0; i < 4; i++) {
		pthread_mutex_lock(&q[i].m);
		for (int k = 0; k < 20; k++) {
			struct node *n = malloc(sizeof *n);
			n->v = k * i;
			n->next = q[i].head;
			q[i].head = n;
		}
		q[i].done = 1;
		pthread_cond_signal(&q[i].c);
		pthread_mutex_unlock(&q[i].m);
	}
	for (int i = 0; i < 4; i++) {
		void *r;
		pthread_join(t[i], &r);
		total += ((struct queue *)r)->sum;
	}
	printf("%ld\n", total);
}
