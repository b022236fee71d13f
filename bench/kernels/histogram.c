/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Colour histogram of a generated picture: per-thread counts that are merged
 * under a mutex after each band (Phoenix-like).  SIZE is the number of
 * pixels in thousands.
 */
#include "kernel.h"

#define BANDS 64
#define PASSES 4

struct pixel {
	uint8_t red, green, blue;
};

static struct kernel_args args;
static long pixels;
static struct pixel *picture;
static long total[3][256];
static pthread_mutex_t total_lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_long next_band;

static void merge(long (*counts)[256])
{
	pthread_mutex_lock(&total_lock);
	for (int colour = 0; colour < 3; colour++)
		for (int value = 0; value < 256; value++)
			total[colour][value] += counts[colour][value];
	pthread_mutex_unlock(&total_lock);
}

static void *work(void *self)
{
	(void)self;
	long(*counts)[256] = kernel_alloc(3, sizeof *counts);
	for (;;) {
		long band = atomic_fetch_add(&next_band, 1);
		if (band >= BANDS * PASSES)
			break;
		memset(counts, 0, 3 * sizeof *counts);
		long end = kernel_first(pixels, band % BANDS + 1, BANDS);
		for (long i = kernel_first(pixels, band % BANDS, BANDS); i < end; i++) {
			counts[0][picture[i].red]++;
			counts[1][picture[i].green]++;
			counts[2][picture[i].blue]++;
		}
		merge(counts);
	}
	free(counts);
	return NULL;
}

int main(int argc, char **argv)
{
	args = kernel_args(argc, argv, 100, 40000);
	pixels = args.size * 1000;
	picture = kernel_alloc(pixels, sizeof *picture);
	for (long i = 0; i < pixels; i++) {
		uint64_t r = kernel_random(i);
		picture[i] =
			(struct pixel){(uint8_t)r, (uint8_t)(r >> 8 & r >> 16), (uint8_t)(r >> 24 | r >> 32)};
	}
	kernel_run(args.threads, work);
	uint64_t sum = 0;
	for (int colour = 0; colour < 3; colour++)
		for (int value = 0; value < 256; value++)
			sum = kernel_mix(sum, total[colour][value]);
	free(picture);
	return kernel_report("histogram", sum);
}
