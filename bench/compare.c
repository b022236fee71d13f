// SPDX-License-Identifier: Apache-2.0
/*
 * Makes long traces for bench/compare, with threads that compute independently of each other.
 *
 *   compare call|loop|heap COUNT THREADS
 *
 *   call  a leaf function with two local arrays is called for each dozen records
 *   loop  each thread has one frame
 *   heap  a list grows and is released, so that many objects are live at once
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static long count;
static const char *mode;

static __attribute__((noinline)) void touch(long *a, long *b)
{
	a[0] = b[1] + 1;
	b[0] = a[1] + 2;
}

static __attribute__((noinline)) long leaf(long x)
{
	long a[2] = {x, x + 1}, b[2] = {x, x + 2};
	touch(a, b);
	return a[0] + b[0];
}

static long loop(long *cells, long n)
{
	long sum = 0;
	for (long i = 0; i < n; i++) {
		sum += cells[i % 1000];
		cells[i % 1000] = sum ^ i;
	}
	return sum;
}

struct node {
	struct node *next;
	long value;
};

static long heap(long n)
{
	struct node *list = NULL, *next;
	long sum = 0;
	for (long i = 0; i < n; i++) {
		next = malloc(sizeof *next);
		next->next = list;
		next->value = i;
		list = next;
	}
	for (; list; list = next) {
		next = list->next;
		sum += list->value;
		free(list);
	}
	return sum;
}

static void *work(void *argument)
{
	static long cells[64][1000];
	long me = (long)argument, sum = 0;
	if (!strcmp(mode, "loop"))
		sum = loop(cells[me], count);
	else if (!strcmp(mode, "heap"))
		sum = heap(count);
	else
		for (long i = 0; i < count; i++)
			sum += leaf(i + me);
	return (void *)sum;
}

int main(int argc, char **argv)
{
	pthread_t threads[64];
	long sum = 0, n;
	if (argc != 4)
		return 2;
	mode = argv[1];
	count = atol(argv[2]);
	n = atol(argv[3]);
	for (long i = 0; i < n; i++)
		pthread_create(&threads[i], NULL, work, (void *)i);
	for (long i = 0; i < n; i++) {
		void *result;
		pthread_join(threads[i], &result);
		sum += (long)result;
	}
	printf("%ld\n", sum);
	return 0;
}
