/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clusters points around medians.  Rounds alternate between assignment (parallel over the points)
 * and recomputing the centres (one thread), with barriers and a condition that all threads read
 * (PARSEC streamcluster-like).  SIZE is the number of points.
 */
#include "kernel.h"

#define DIMENSIONS 16
#define CENTRES 24
#define ROUNDS 8

struct point {
	float at[DIMENSIONS];
	int centre;
};

static struct kernel_args args;
static struct point *points;
static float centre[CENTRES][DIMENSIONS];
static long moved[KERNEL_MAX_THREADS];
static bool finished;
static pthread_barrier_t barrier;

static float distance(const float *a, const float *b)
{
	float sum = 0;
	for (int d = 0; d < DIMENSIONS; d++)
		sum += (a[d] - b[d]) * (a[d] - b[d]);
	return sum;
}

static bool assign(struct point *p)
{
	int best = 0;
	float best_distance = distance(p->at, centre[0]);
	for (int c = 1; c < CENTRES; c++) {
		float candidate = distance(p->at, centre[c]);
		if (candidate < best_distance) {
			best = c;
			best_distance = candidate;
		}
	}
	bool changed = best != p->centre;
	p->centre = best;
	return changed;
}

static void recompute(void)
{
	static double sum[CENTRES][DIMENSIONS];
	static long members[CENTRES];
	memset(sum, 0, sizeof sum);
	memset(members, 0, sizeof members);
	for (long i = 0; i < args.size; i++) {
		members[points[i].centre]++;
		for (int d = 0; d < DIMENSIONS; d++)
			sum[points[i].centre][d] += points[i].at[d];
	}
	for (int c = 0; c < CENTRES; c++)
		for (int d = 0; d < DIMENSIONS; d++)
			if (members[c])
				centre[c][d] = (float)(sum[c][d] / (double)members[c]);
	long changes = 0;
	for (int t = 0; t < args.threads; t++)
		changes += moved[t];
	finished = changes == 0;
}

static void *work(void *argument)
{
	int self = (int)(intptr_t)argument;
	long first = kernel_first(args.size, self, args.threads);
	long end = kernel_first(args.size, self + 1, args.threads);
	for (int round = 0; round < ROUNDS; round++) {
		moved[self] = 0;
		for (long i = first; i < end; i++)
			moved[self] += assign(&points[i]);
		if (pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD)
			recompute();
		pthread_barrier_wait(&barrier);
		if (finished)
			break;
	}
	return NULL;
}

int main(int argc, char **argv)
{
	args = kernel_args(argc, argv, 1000, 160000);
	points = kernel_alloc(args.size, sizeof *points);
	for (long i = 0; i < args.size; i++)
		for (int d = 0; d < DIMENSIONS; d++)
			points[i].at[d] = (float)kernel_random_real(i * DIMENSIONS + d);
	for (int c = 0; c < CENTRES; c++)
		memcpy(centre[c], points[c * args.size / CENTRES].at, sizeof centre[c]);
	pthread_barrier_init(&barrier, NULL, args.threads);
	kernel_run(args.threads, work);
	pthread_barrier_destroy(&barrier);
	uint64_t sum = 0;
	for (long i = 0; i < args.size; i++)
		sum = kernel_mix(sum, points[i].centre);
	free(points);
	return kernel_report("kmedian", sum);
}
