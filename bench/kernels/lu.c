/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocked LU factorisation without pivoting (SPLASH-like).  Blocks are assigned to threads in a
 * two-dimensional scatter.  Barriers separate the phases of each step.  Each block is contiguous
 * in memory.  SIZE is the number of blocks per side.
 */
#include "kernel.h"

#define B 16

typedef double block[B][B];

static struct kernel_args args;
static block *matrix;
static pthread_barrier_t barrier;

static block *at(long i, long j)
{
	return &matrix[i * args.size + j];
}

static bool mine(long i, long j, int self)
{
	return (i + j) % args.threads == self;
}

static void factor_diagonal(block *d)
{
	for (int k = 0; k < B; k++)
		for (int i = k + 1; i < B; i++) {
			(*d)[i][k] /= (*d)[k][k];
			for (int j = k + 1; j < B; j++)
				(*d)[i][j] -= (*d)[i][k] * (*d)[k][j];
		}
}

static void solve_row(block *d, block *r)
{
	for (int k = 0; k < B; k++)
		for (int i = k + 1; i < B; i++)
			for (int j = 0; j < B; j++)
				(*r)[i][j] -= (*d)[i][k] * (*r)[k][j];
}

static void solve_column(block *d, block *c)
{
	for (int i = 0; i < B; i++)
		for (int k = 0; k < B; k++) {
			(*c)[i][k] /= (*d)[k][k];
			for (int j = k + 1; j < B; j++)
				(*c)[i][j] -= (*c)[i][k] * (*d)[k][j];
		}
}

static void update(block *x, block *c, block *r)
{
	for (int i = 0; i < B; i++)
		for (int k = 0; k < B; k++)
			for (int j = 0; j < B; j++)
				(*x)[i][j] -= (*c)[i][k] * (*r)[k][j];
}

static void step(long k, int self)
{
	if (mine(k, k, self))
		factor_diagonal(at(k, k));
	pthread_barrier_wait(&barrier);
	for (long i = k + 1; i < args.size; i++) {
		if (mine(k, i, self))
			solve_row(at(k, k), at(k, i));
		if (mine(i, k, self))
			solve_column(at(k, k), at(i, k));
	}
	pthread_barrier_wait(&barrier);
	for (long i = k + 1; i < args.size; i++)
		for (long j = k + 1; j < args.size; j++)
			if (mine(i, j, self))
				update(at(i, j), at(i, k), at(k, j));
	pthread_barrier_wait(&barrier);
}

static void *work(void *self)
{
	for (long k = 0; k < args.size; k++)
		step(k, (int)(intptr_t)self);
	return NULL;
}

int main(int argc, char **argv)
{
	args = kernel_args(argc, argv, 8, 72);
	matrix = kernel_alloc(args.size * args.size, sizeof *matrix);
	for (long n = 0; n < args.size * args.size; n++)
		for (int i = 0; i < B; i++)
			for (int j = 0; j < B; j++) {
				bool diagonal = n / args.size == n % args.size && i == j;
				matrix[n][i][j] = kernel_random_real(n * B * B + i * B + j) +
						  (diagonal ? 4.0 * B * args.size : 0);
			}
	pthread_barrier_init(&barrier, NULL, args.threads);
	kernel_run(args.threads, work);
	pthread_barrier_destroy(&barrier);
	uint64_t sum = 0;
	for (long n = 0; n < args.size * args.size; n++)
		for (int i = 0; i < B; i++)
			sum = kernel_mix(sum, (uint64_t)(int64_t)(matrix[n][i][B - 1 - i] * 1e6));
	free(matrix);
	return kernel_report("lu", sum);
}
