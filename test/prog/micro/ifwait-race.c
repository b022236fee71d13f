// SPDX-License-Identifier: Apache-2.0
// expect: race cell
// recorded: in the order that the barriers enforce.
/* As in ifwait-fine.c, but the second barrier is missing. */
#include "case.h"

struct barrier {
	pthread_mutex_t lock;
	pthread_cond_t all;
	int count;
};
static struct barrier first = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0};
static int cell, sum;
static void cross(struct barrier *b)
{
	pthread_mutex_lock(&b->lock);
	b->count++;
	if (b->count == 2) {
		b->count = 0;
		pthread_cond_broadcast(&b->all);
	} else {
		pthread_cond_wait(&b->all, &b->lock);
	}
	pthread_mutex_unlock(&b->lock);
}
THREAD(reader)
{
	cross(&first);
	sum = cell;
	return NULL;
}
THREAD(writer)
{
	cell = 1;
	cross(&first);
	cell = 2;
	return NULL;
}
int main(void)
{
	pthread_t a = start(reader, NULL), b = start(writer, NULL);
	join(a);
	join(b);
	return sum < 1;
}
