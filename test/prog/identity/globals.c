// SPDX-License-Identifier: Apache-2.0
// objects: count.calls hits rows[].sum
/* Threads change a global, a static variable of a function, and members of an array's elements. */
#include <pthread.h>

struct row {
	int key;
	long sum;
};

int hits;
static struct row rows[4];

static void count(void)
{
	static int calls;

	calls++;
}

static void *work(void *argument)
{
	(void)argument;
	for (int i = 0; i < 4; i++) {
		rows[i].sum += i;
		hits++;
		count();
	}
	return NULL;
}

int main(void)
{
	pthread_t threads[3];

	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
	return hits > 12;
}
