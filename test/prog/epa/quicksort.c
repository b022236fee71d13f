/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parallel quicksort: a thread divides a large part in two and creates a thread for one of them.
 *
 *	quicksort [COUNT [SEED [SMALLEST]]]	prints a checksum, and where the order is wrong
 *
 * A part of fewer than SMALLEST numbers is sorted by one thread.  The numbers are read from a file
 * that the program itself writes.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define SMALL 32

static int smallest = SMALL;

struct part {
	int *first;
	int count;
};

static void swap(int *a, int *b)
{
	int t = *a;
	*a = *b;
	*b = t;
}

static int partition(int *v, int n)
{
	int pivot = v[n / 2], i = -1, j = n;
	for (;;) {
		do
			i++;
		while (v[i] < pivot);
		do
			j--;
		while (v[j] > pivot);
		if (i >= j)
			return j + 1;
		swap(&v[i], &v[j]);
	}
}

static void insertion(int *v, int n)
{
	for (int i = 1; i < n; i++)
		for (int k = i; k > 0 && v[k - 1] > v[k]; k--)
			swap(&v[k - 1], &v[k]);
}

static void *sort(void *argument)
{
	struct part *p = argument;
	pthread_t thread;
	if (p->count <= SMALL) {
		insertion(p->first, p->count);
		return NULL;
	}
	int at = partition(p->first, p->count);
	struct part left = {p->first, at}, right = {p->first + at, p->count - at};
	if (p->count < smallest) {
		sort(&left);
		sort(&right);
		return NULL;
	}
	if (pthread_create(&thread, NULL, sort, &left) != 0)
		abort();
	sort(&right);
	pthread_join(thread, NULL);
	return NULL;
}

/* Computes n pseudo-random numbers from the seed, writes them to a file and reads them again. */
static void make(int *numbers, size_t n, unsigned seed)
{
	FILE *f = tmpfile();
	if (f == NULL)
		abort();
	for (size_t i = 0; i < n; i++) {
		seed = seed * 1103515245u + 12345u;
		numbers[i] = (int)(seed >> 8) % 1000000;
	}
	if (fwrite(numbers, sizeof *numbers, n, f) != n)
		abort();
	rewind(f);
	if (fread(numbers, sizeof *numbers, n, f) != n)
		abort();
	fclose(f);
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 300;
	unsigned seed = argc > 2 ? (unsigned)atoi(argv[2]) : 1;
	if (argc > 3)
		smallest = atoi(argv[3]);
	struct part all = {malloc(sizeof(int) * (size_t)n), n};
	long sum = 0;
	make(all.first, (size_t)n, seed);
	sort(&all);
	for (int i = 0; i < n; i++) {
		sum += (long)all.first[i] * (i + 1);
		if (i != 0 && all.first[i - 1] > all.first[i])
			printf("wrong order at %d\n", i);
	}
	printf("%d numbers, sum %ld\n", n, sum);
	free(all.first);
	return 0;
}
