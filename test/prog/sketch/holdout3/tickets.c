// SPDX-License-Identifier: Apache-2.0
/* The last ticket may be sold twice, if both sellers see that one is left.  Nothing crashes, but
 * the output is wrong. */
#include <pthread.h>
#include <stdio.h>

static volatile int left = 1;
static int sold[2];

static void *sell(void *mine)
{
	if (left > 0) {
		left = left - 1;
		*(int *)mine = 1;
	}
	return NULL;
}

int main(void)
{
	pthread_t a, b;

	pthread_create(&a, NULL, sell, &sold[0]);
	pthread_create(&b, NULL, sell, &sold[1]);
	pthread_join(a, NULL);
	pthread_join(b, NULL);
	printf("sold %d of 1\n", sold[0] + sold[1]);
	return 0;
}
