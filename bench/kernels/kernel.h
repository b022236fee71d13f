/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code that all benchmark kernels share: the parser of the command line (SIZE THREADS), threads
 * that call one function with their number, a small random generator, and the checksum.
 *
 * SIZE is `test` (a few milliseconds, for the test suite), `bench` (0.3 to 1 s without Raddle,
 * with two threads) or a number.  The checksum depends only on SIZE, not on the number of threads
 * or on timing.
 */
#ifndef KERNEL_H
#define KERNEL_H

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KERNEL_MAX_THREADS 64

struct kernel_args {
	long size;
	int threads;
};

static inline struct kernel_args kernel_args(int argc, char **argv, long test_size, long bench_size)
{
	struct kernel_args a = {test_size, 2};
	if (argc > 1 && !strcmp(argv[1], "bench"))
		a.size = bench_size;
	else if (argc > 1 && strcmp(argv[1], "test"))
		a.size = atol(argv[1]);
	if (argc > 2)
		a.threads = atoi(argv[2]);
	if (a.size < 1 || a.threads < 1 || a.threads > KERNEL_MAX_THREADS) {
		fprintf(stderr, "usage: %s [test|bench|SIZE] [THREADS]\n", argv[0]);
		exit(2);
	}
	return a;
}

static inline void *kernel_alloc(size_t count, size_t size)
{
	void *p = calloc(count, size);
	if (!p) {
		perror("calloc");
		exit(1);
	}
	return p;
}

/* splitmix64: each value depends only on the seed, so threads can fill their parts of an input
 * independently. */
static inline uint64_t kernel_random(uint64_t seed)
{
	uint64_t z = (seed + 1) * 0x9e3779b97f4a7c15ull;
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
	return z ^ (z >> 31);
}

static inline double kernel_random_real(uint64_t seed)
{
	return (double)(kernel_random(seed) >> 11) / 9007199254740992.0;
}

static inline uint64_t kernel_mix(uint64_t sum, uint64_t value)
{
	return (sum ^ value) * 0x100000001b3ull + 0x2545f4914f6cdd1dull;
}

/* The range of `total` items that thread `self` of `threads` works on. */
static inline long kernel_first(long total, int self, int threads)
{
	return total * self / threads;
}

static inline void kernel_run(int threads, void *(*body)(void *))
{
	pthread_t thread[KERNEL_MAX_THREADS];
	for (intptr_t i = 0; i < threads; i++) {
		int error = pthread_create(&thread[i], NULL, body, (void *)i);
		if (error) {
			fprintf(stderr, "pthread_create: %s\n", strerror(error));
			exit(1);
		}
	}
	for (int i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
}

static inline int kernel_report(const char *name, uint64_t sum)
{
	printf("%s %016" PRIx64 "\n", name, sum);
	return 0;
}

#endif
