/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Red-black successive over-relaxation of a square grid.  Each thread has a band of rows.  Each
 * sweep has two barriers, and computes a residual that every thread reads (SPLASH-like).  SIZE is
 * the grid's side; the number of sweeps is fixed.
 */
#include "kernel.h"
#include <math.h>

#define SWEEPS 60

static struct kernel_args args;
static double **grid;
static double partial[KERNEL_MAX_THREADS], residual;
static pthread_barrier_t barrier;

static double relax(long first, long end, long colour)
{
	double change = 0;
	for (long i = first; i < end; i++) {
		double *up = grid[i - 1], *row = grid[i], *down = grid[i + 1];
		for (long j = 1 + (i + colour) % 2; j <= args.size; j += 2) {
			double value = 0.25 * (up[j] + down[j] + row[j - 1] + row[j + 1]);
			double delta = 1.4 * (value - row[j]);
			row[j] += delta;
			change += fabs(delta);
		}
	}
	return change;
}

static void *work(void *argument)
{
	int self = (int)(intptr_t)argument;
	long first = 1 + kernel_first(args.size, self, args.threads);
	long end = 1 + kernel_first(args.size, self + 1, args.threads);
	for (int sweep = 0; sweep < SWEEPS; sweep++) {
		partial[self] = relax(first, end, 0);
		pthread_barrier_wait(&barrier);
		partial[self] += relax(first, end, 1);
		if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD) {
			residual = 0;
			for (int t = 0; t < args.threads; t++)
				residual += partial[t];
		}
		pthread_barrier_wait(&barrier);
		if (residual == 0)
			break;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	args = kernel_args(argc, argv, 96, 1536);
	long side = args.size + 2;
	grid = kernel_alloc(side, sizeof *grid);
	for (long i = 0; i < side; i++) {
		grid[i] = kernel_alloc(side, sizeof **grid);
		for (long j = 0; j < side; j++)
			grid[i][j] = kernel_random_real(i * side + j);
	}
	pthread_barrier_init(&barrier, NULL, args.threads);
	kernel_run(args.threads, work);
	pthread_barrier_destroy(&barrier);
	uint64_t sum = 0;
	for (long i = 0; i < side; i++) {
		for (long j = 0; j < side; j++)
			sum = kernel_mix(sum, (uint64_t)(grid[i][j] * 1e9));
		free(grid[i]);
	}
	free(grid);
	return kernel_report("ocean", sum);
}
