/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A shared list whose nodes come from an allocation wrapper and contain a function pointer.
 * Threads are created in a loop.  The golden facts depend on this program, so do not change it.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct node {
	int count;
	struct node *next;
	void (*act)(struct node *);
};

static struct node *head;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int hits;

static void up(struct node *n)
{
	n->count++;
	hits++;
}

static void down(struct node *n)
{
	n->count--;
}

static void *xmalloc(size_t n)
{
	void *p = malloc(n);
	if (!p)
		abort();
	return p;
}

static void *work(void *argument)
{
	struct node *n = xmalloc(sizeof *n);
	n->count = 0;
	n->act = argument ? up : down;
	pthread_mutex_lock(&lock);
	n->next = head;
	head = n;
	pthread_mutex_unlock(&lock);
	for (struct node *k = head; k; k = k->next)
		k->act(k);
	return n;
}

int main(int argc, char **argv)
{
	pthread_t t[3];
	(void)argc;
	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, work, argv);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	printf("%d\n", hits);
	return 0;
}
