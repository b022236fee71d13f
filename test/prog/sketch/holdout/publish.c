// SPDX-License-Identifier: Apache-2.0
/* The flag is set before the table that it announces exists, so a worker may find no table. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct table {
	int rows;
};

static struct table *table;
static volatile int ready;

static void *worker(void *unused)
{
	while (!ready)
		;
	printf("%d\n", table->rows);
	return unused;
}

int main(void)
{
	pthread_t t;

	pthread_create(&t, NULL, worker, NULL);
	ready = 1;
	table = calloc(1, sizeof *table);
	pthread_join(t, NULL);
	return 0;
}
