// SPDX-License-Identifier: Apache-2.0
/* Uses OpenMP constructs in which threads wait, with libomp (test/cli/one-lib.sh). */
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
	int sum = 0, order = 0, tasks = 0;

#pragma omp parallel num_threads(3)
	{
#pragma omp critical
		order++;
#pragma omp barrier
		if (order != 3)
			abort();
#pragma omp for reduction(+ : sum)
		for (int i = 0; i < 10; i++)
			sum += i;
#pragma omp single
		for (int i = 0; i < 4; i++)
#pragma omp task
#pragma omp atomic
			tasks++;
	}
#pragma omp parallel for num_threads(2) schedule(dynamic, 1) reduction(+ : sum)
	for (int i = 0; i < 6; i++)
		sum += 1;
	printf("%d %d\n", sum, tasks);
	return sum != 51 || tasks != 4;
}
