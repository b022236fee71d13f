// SPDX-License-Identifier: Apache-2.0
/* Threads compute a grid in several steps, which barriers separate. */
#include <pthread.h>
#include <stdio.h>

enum { N = 12, THREADS = 3 };
static double grid[2][N + 2];
static pthread_barrier_t barrier;

static void *work(void *argument)
{
	long me = (long)argument;
	for (int step = 0; step < 6; step++) {
		const double *from = grid[step % 2];
		double *to = grid[1 - step % 2];
		for (long i = 1 + me * (N / THREADS); i <= (me + 1) * (N / THREADS); i++)
			to[i] = (from[i - 1] + 2 * from[i] + from[i + 1]) / 4;
		pthread_barrier_wait(&barrier);
	}
	return NULL;
}

int main(void)
{
	pthread_t t[THREADS];
	double sum = 0;
	for (int i = 0; i < N + 2; i++)
		grid[0][i] = i * i % 7;
	grid[1][0] = grid[0][0];
	grid[1][N + 1] = grid[0][N + 1];
	pthread_barrier_init(&barrier, NULL, THREADS);
	for (long i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, work, (void *)i);
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	for (int i = 0; i < N + 2; i++)
		sum += grid[0][i] * i;
	printf("%.5f\n", sum);
	return 0;
}
