// SPDX-License-Identifier: Apache-2.0
/* Threads use variable-length arrays, alloca() and recursion. */
#include <alloca.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static long fill(int n, int depth)
{
	int row[n];
	char *text = alloca((size_t)n + 1);
	long sum = 0;
	memset(text, 'a' + depth, (size_t)n);
	text[n] = 0;
	for (int i = 0; i < n; i++) {
		int small[i % 3 + 1];
		small[i % 3] = i * depth;
		row[i] = small[i % 3] + text[i];
	}
	for (int i = 0; i < n; i++)
		sum += row[i];
	return depth ? sum + fill(n / 2 + 1, depth - 1) : sum;
}

static void *work(void *argument)
{
	int *n = argument;
	return (void *)fill(*n, 4);
}

int main(void)
{
	pthread_t t[3];
	int n[3] = {5, 9, 17};
	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, work, &n[i]);
	for (int i = 0; i < 3; i++) {
		void *r;
		pthread_join(t[i], &r);
		printf("%ld\n", (long)r);
	}
	return 0;
}
