// SPDX-License-Identifier: Apache-2.0
/* Calls functions of GCC's OpenMP library, which waits by futex calls of its own
 * (test/cli/one-lib.sh), as code compiled by GCC would call them. */
#include <stdio.h>
#include <stdlib.h>

void GOMP_parallel(void (*run)(void *), void *data, unsigned threads, unsigned flags);
void GOMP_barrier(void);
void GOMP_critical_start(void);
void GOMP_critical_end(void);

static int sum;

static void run(void *data)
{
	for (int i = 0; i < 3; i++) {
		GOMP_critical_start();
		sum++;
		GOMP_critical_end();
		GOMP_barrier();
		if (sum < 3 * (i + 1))
			abort();
	}
	(void)data;
}

int main(void)
{
	GOMP_parallel(run, NULL, 3, 0);
	GOMP_parallel(run, NULL, 3, 0);
	printf("%d\n", sum);
	return sum != 18;
}
