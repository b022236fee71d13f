/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parallel radix sort: per-thread counts, a prefix sum by one thread, and a scatter into shared
 * memory, with barriers between the phases (SPLASH-like).  SIZE is the number of keys in thousands.
 */
#include "kernel.h"

#define BITS 8
#define BUCKETS (1 << BITS)

static struct kernel_args args;
static long keys;
static uint32_t *from, *to;
static long place[KERNEL_MAX_THREADS][BUCKETS];
static pthread_barrier_t barrier;

static void count(int self, int shift, long first, long end)
{
	memset(place[self], 0, sizeof place[self]);
	for (long i = first; i < end; i++)
		place[self][from[i] >> shift & (BUCKETS - 1)]++;
}

static void prefix_sum(void)
{
	long position = 0;
	for (int bucket = 0; bucket < BUCKETS; bucket++)
		for (int t = 0; t < args.threads; t++) {
			long n = place[t][bucket];
			place[t][bucket] = position;
			position += n;
		}
}

static void *work(void *argument)
{
	int self = (int)(intptr_t)argument;
	long first = kernel_first(keys, self, args.threads), end = kernel_first(keys, self + 1, args.threads);
	for (int shift = 0; shift < 32; shift += BITS) {
		count(self, shift, first, end);
		pthread_barrier_wait(&barrier);
		if (self == 0)
			prefix_sum();
		pthread_barrier_wait(&barrier);
		for (long i = first; i < end; i++)
			to[place[self][from[i] >> shift & (BUCKETS - 1)]++] = from[i];
		if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD) {
			uint32_t *sorted = to;
			to = from;
			from = sorted;
		}
		pthread_barrier_wait(&barrier);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	args = kernel_args(argc, argv, 40, 16000);
	keys = args.size * 1000;
	from = kernel_alloc(keys, sizeof *from);
	to = kernel_alloc(keys, sizeof *to);
	for (long i = 0; i < keys; i++)
		from[i] = (uint32_t)kernel_random(i);
	pthread_barrier_init(&barrier, NULL, args.threads);
	kernel_run(args.threads, work);
	pthread_barrier_destroy(&barrier);
	uint64_t sum = 0;
	for (long i = 0; i < keys; i++) {
		if (i && from[i - 1] > from[i]) {
			fprintf(stderr, "radix: not sorted at %ld\n", i);
			return 1;
		}
		sum = kernel_mix(sum, from[i]);
	}
	free(from);
	free(to);
	return kernel_report("radix", sum);
}
