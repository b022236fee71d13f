/* SPDX-License-Identifier: Apache-2.0 */
/* Quicksort in which each part has its own thread,
 * even a part of one number.  So most threads do
 * almost nothing.
 *
 *	parts [COUNT]	prints the numbers in order */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct part {
	int *numbers;
	int first, last;
};

static void swap(int *a, int *b)
{
	int t = *a;
	*a = *b;
	*b = t;
}

static int partition(int *numbers, int first, int last)
{
	int pivot = numbers[last], at = first;
	for (int i = first; i < last; i++)
		if (numbers[i] < pivot)
			swap(&numbers[at++], &numbers[i]);
	swap(&numbers[at], &numbers[last]);
	return at;
}

static void *sort(void *argument)
{
	const struct part *p = argument;
	pthread_t threads[2];
	if (p->first >= p->last)
		return NULL;
	int at = partition(p->numbers, p->first, p->last);
	struct part parts[2] = {{p->numbers, p->first, at - 1}, {p->numbers, at + 1, p->last}};
	for (int i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, sort, &parts[i]) != 0)
			abort();
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return NULL;
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 10;
	int *numbers = malloc(sizeof *numbers * (size_t)count);
	unsigned seed = 1;
	for (int i = 0; i < count; i++) {
		seed = seed * 1103515245u + 12345u;
		numbers[i] = (int)(seed >> 16) % 1000;
	}
	struct part all = {numbers, 0, count - 1};
	sort(&all);
	for (int i = 0; i < count; i++)
		printf("%d\n", numbers[i]);
	free(numbers);
	return 0;
}
