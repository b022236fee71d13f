// SPDX-License-Identifier: Apache-2.0
/* Matrices are arrays of rows on the heap; one thread computes each row of a product. */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 5 };
static double **a, **b, **c;

static double **make(double f)
{
	double **m = malloc(N * sizeof *m);
	for (int i = 0; i < N; i++) {
		m[i] = calloc(N, sizeof **m);
		for (int k = 0; k < N; k++)
			m[i][k] = f * sin(i + k);
	}
	return m;
}

static void *row(void *argument)
{
	double **at = argument;
	long i = at - c;
	for (int k = 0; k < N; k++)
		for (int j = 0; j < N; j++)
			c[i][k] += a[i][j] * b[j][k];
	return NULL;
}

int main(void)
{
	pthread_t t[N];
	double sum = 0;
	a = make(1);
	b = make(2);
	c = make(0);
	for (int i = 0; i < N; i++)
		pthread_create(&t[i], NULL, row, &c[i]);
	for (int i = 0; i < N; i++)
		pthread_join(t[i], NULL);
	for (int i = 0; i < N; i++)
		for (int k = 0; k < N; k++)
			sum += c[i][k] * (i + 1);
	printf("%.6f\n", sum);
	return 0;
}
