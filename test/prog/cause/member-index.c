// SPDX-License-Identifier: Apache-2.0
// A racy index leaves an array inside a structure and damages the next member, which is not printed.
// expect: next spec-violated memory-error
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
struct table {
	short names[4];
	short locked;
	short more[8];
};
static struct table *table;
static int next = 3;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int done;
static void *add(void *arg)
{
	pthread_mutex_lock(&lock);
	done++;
	pthread_mutex_unlock(&lock);
	if (next < 4)
		table->names[next++] = (short)(long)arg;
	return NULL;
}
int main(void)
{
	pthread_t a, b;
	table = calloc(1, sizeof *table);
	pthread_create(&a, NULL, add, (void *)1L);
	pthread_create(&b, NULL, add, (void *)2L);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	printf("%d\n", done);
	return 0;
}
