/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocked matrix multiplication (Phoenix-like).  Threads take blocks of
 * the result from a counter under a mutex; SIZE is the number of rows.
 */
#include "kernel.h"

#define BLOCK 32

static struct kernel_args args;
static double *a, *b, *c;
static long next_block;
static pthread_mutex_t next_lock = PTHREAD_MUTEX_INITIALIZER;

static long take_block(void)
{
	pthread_mutex_lock(&next_lock);
	long block = next_block++;
	pthread_mutex_unlock(&next_lock);
	return block;
}

static long end_of(long start)
{
	return start + BLOCK < args.size ? start + BLOCK : args.size;
}

static void multiply_block(long row, long column)
{
	long n = args.size;
	for (long k = 0; k < n; k += BLOCK)
		for (long i = row; i < end_of(row); i++)
			for (long x = k; x < end_of(k); x++) {
				double factor = a[i * n + x];
				for (long j = column; j < end_of(column); j++)
					c[i * n + j] += factor * b[x * n + j];
			}
}

static void *work(void *self)
{
	(void)self;
	long side = (args.size + BLOCK - 1) / BLOCK;
	for (;;) {
		long block = take_block();
		if (block >= side * side)
			return NULL;
		multiply_block(block / side * BLOCK, block % side * BLOCK);
	}
}

int main(int argc, char **argv)
{
	args = kernel_args(argc, argv, 96, 896);
	long n = args.size;
	a = kernel_alloc(n * n, sizeof *a);
	b = kernel_alloc(n * n, sizeof *b);
	c = kernel_alloc(n * n, sizeof *c);
	for (long i = 0; i < n * n; i++) {
		a[i] = (double)(kernel_random(i) % 100);
		b[i] = (double)(kernel_random(i + n * n) % 100);
	}
	kernel_run(args.threads, work);
	uint64_t sum = 0;
	for (long i = 0; i < n * n; i++)
		sum = kernel_mix(sum, (uint64_t)c[i]);
	free(a);
	free(b);
	free(c);
	return kernel_report("matmul", sum);
}
