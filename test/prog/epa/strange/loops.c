// SPDX-License-Identifier: Apache-2.0
/* OpenMP runs a parallel loop with a static schedule. */
#include <stdio.h>

static double a[40], b[40];

int main(void)
{
	double sum = 0;
	for (int i = 0; i < 40; i++)
		a[i] = i * 0.5;
#pragma omp parallel for schedule(static) num_threads(3)
	for (int i = 0; i < 40; i++)
		b[i] = a[i] * a[i] + 1;
	for (int i = 0; i < 40; i++)
		sum += b[i];
	printf("%g\n", sum);
	return 0;
}
