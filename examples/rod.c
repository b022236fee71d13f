// SPDX-License-Identifier: Apache-2.0
/*
 * Computes how warm a rod that is hot at one end becomes.  Each thread computes its part of the
 * rod; a barrier separates the steps, so every schedule gives the same numbers.
 * An example for `raddle inject`, `raddle compare` and `raddle reversible`.
 *
 *	raddle cc -g -O1 -pthread rod.c -o rod
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define CELLS 24
#define THREADS 3

static double rod[2][CELLS + 2]; /* this step and the next one, with a cell beyond each end */
static pthread_barrier_t step_done;
static int steps = 20;

static void warm(const double *now, double *next, int first, int end)
{
	for (int i = first; i < end; i++)
		next[i] = now[i] + (now[i - 1] - 2 * now[i] + now[i + 1]) / 4;
}

static void *run_part(void *argument)
{
	int part = (int)(size_t)argument;
	int first = 1 + part * (CELLS / THREADS), end = first + CELLS / THREADS;

	for (int step = 0; step < steps; step++) {
		warm(rod[step % 2], rod[(step + 1) % 2], first, end);
		pthread_barrier_wait(&step_done);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[THREADS];

	if (argc > 1)
		steps = atoi(argv[1]);
	rod[0][0] = rod[1][0] = 100;
	pthread_barrier_init(&step_done, NULL, THREADS);
	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, run_part, (void *)(size_t)i) != 0)
			return 2;
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 1; i <= CELLS; i++)
		printf("%.1f%c", rod[steps % 2][i], i < CELLS ? ' ' : '\n');
	return 0;
}
