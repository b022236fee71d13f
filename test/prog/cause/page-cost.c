// expect: lookups k-witness-harmless -
// expect: cost_total output-differs output
// Kind c: lookups is never printed; cost_total is printed and loses updates.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

#define ITER 10

long lookups;	/* statistics, never printed */
int cost_total; /* printed at the end */

__attribute__((noinline)) static int page_cost(int page)
{
	int c = 1;
	__asm__ volatile("" ::: "memory"); /* keep the load before the call */
	while (page > 1) {
		page = page % 2 ? 3 * page + 1 : page / 2;
		c++;
	}
	return c;
}

static void *lookup_thread(void *arg)
{
	int first = (int)(intptr_t)arg;
	for (int i = 0; i < ITER; i++) {
		int before;
		lookups++;				    /* racy, harmless */
		before = cost_total;			    /* racy read ... */
		cost_total = before + page_cost(first + i); /* ... racy write */
	}
	return NULL;
}

int main(void)
{
	pthread_t t[3];
	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, lookup_thread, (void *)(intptr_t)(1 + i * ITER));
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	printf("total cost %d\n", cost_total);
	return 0;
}
