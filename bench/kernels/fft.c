/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Iterative radix-2 Fourier transform and its inverse, with a barrier after each stage
 * (SPLASH-like).  SIZE is the logarithm of the number of points.
 */
#include "kernel.h"
#include <math.h>

struct point {
	double re, im;
};

static struct kernel_args args;
static long points;
static struct point *data, *root;
static pthread_barrier_t barrier;

static long reversed(long i)
{
	long r = 0;
	for (long bit = 0; bit < args.size; bit++)
		r |= (i >> bit & 1) << (args.size - 1 - bit);
	return r;
}

static void permute(int self)
{
	long end = kernel_first(points, self + 1, args.threads);
	for (long i = kernel_first(points, self, args.threads); i < end; i++) {
		long r = reversed(i);
		if (i < r) {
			struct point p = data[i];
			data[i] = data[r];
			data[r] = p;
		}
	}
}

static void butterfly(long i, long half, double direction)
{
	long k = i % half;
	struct point *low = &data[(i / half) * 2 * half + k];
	struct point *high = low + half;
	struct point w = root[k * (points / 2 / half)];
	w.im *= direction;
	struct point t = {high->re * w.re - high->im * w.im, high->re * w.im + high->im * w.re};
	high->re = low->re - t.re;
	high->im = low->im - t.im;
	low->re += t.re;
	low->im += t.im;
}

static void transform(int self, double direction)
{
	permute(self);
	pthread_barrier_wait(&barrier);
	for (long half = 1; half < points; half *= 2) {
		long end = kernel_first(points / 2, self + 1, args.threads);
		for (long i = kernel_first(points / 2, self, args.threads); i < end; i++)
			butterfly(i, half, direction);
		pthread_barrier_wait(&barrier);
	}
}

static void *work(void *argument)
{
	int self = (int)(intptr_t)argument;
	transform(self, 1);
	transform(self, -1);
	return NULL;
}

int main(int argc, char **argv)
{
	args = kernel_args(argc, argv, 12, 20);
	points = 1l << args.size;
	data = kernel_alloc(points, sizeof *data);
	root = kernel_alloc(points / 2 + 1, sizeof *root);
	for (long i = 0; i < points; i++)
		data[i].re = (double)(kernel_random(i) % 1000);
	for (long i = 0; i < points / 2; i++) {
		root[i].re = cos(2 * 3.14159265358979323846 * (double)i / (double)points);
		root[i].im = -sin(2 * 3.14159265358979323846 * (double)i / (double)points);
	}
	pthread_barrier_init(&barrier, NULL, args.threads);
	kernel_run(args.threads, work);
	pthread_barrier_destroy(&barrier);
	uint64_t sum = 0;
	for (long i = 0; i < points; i++)
		sum = kernel_mix(sum, (uint64_t)llround(data[i].re / (double)points));
	free(data);
	free(root);
	return kernel_report("fft", sum);
}
