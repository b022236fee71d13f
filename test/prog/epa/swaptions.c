/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Monte Carlo prices of swaptions: each thread simulates rates for its share with its own random
 * generator and keeps the paths in matrices on the heap.
 *
 *	swaptions [SWAPTIONS [TRIALS [THREADS]]]	prints each price and its standard error,
 *							and then writes the array of swaptions
 */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define STEPS 11

static int count = 4, trials = 20, thread_count = 3;

struct swaption {
	double strike, maturity, start, price, error;
};

static struct swaption *swaptions;

static double uniform(unsigned *seed)
{
	*seed = *seed * 1664525u + 1013904223u;
	return (*seed >> 8) / 16777216.0;
}

static double gauss(unsigned *seed)
{
	double sum = 0;
	for (int i = 0; i < 12; i++)
		sum += uniform(seed);
	return sum - 6.0;
}

static void simulate(double **path, const struct swaption *s, unsigned *seed)
{
	double step = s->maturity / STEPS;
	path[0][0] = s->start;
	for (int i = 1; i < STEPS; i++) {
		path[i][0] = path[i - 1][0] + 0.1 * (0.05 - path[i - 1][0]) * step +
			     0.01 * sqrt(step) * gauss(seed);
		path[i][1] = path[i - 1][1] + path[i][0] * step;
	}
}

static void price(struct swaption *s, unsigned seed)
{
	double sum = 0, squares = 0;
	double **path = malloc(sizeof *path * STEPS);
	for (int i = 0; i < STEPS; i++)
		path[i] = calloc(2, sizeof **path);
	for (int t = 0; t < trials; t++) {
		double gain;
		simulate(path, s, &seed);
		gain = path[STEPS - 1][0] - s->strike;
		gain = gain > 0 ? gain * exp(-path[STEPS - 1][1]) : 0;
		sum += gain;
		squares += gain * gain;
	}
	s->price = sum / trials;
	s->error = sqrt((squares - sum * sum / trials) / (trials - 1.0)) / sqrt((double)trials);
	for (int i = 0; i < STEPS; i++)
		free(path[i]);
	free(path);
}

static void *work(void *argument)
{
	int number = *(int *)argument;
	for (int i = count * number / thread_count; i < count * (number + 1) / thread_count; i++)
		price(&swaptions[i], 12345u + (unsigned)i);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[64];
	int numbers[64];
	if (argc > 1)
		count = atoi(argv[1]);
	if (argc > 2)
		trials = atoi(argv[2]);
	if (argc > 3)
		thread_count = atoi(argv[3]);
	swaptions = calloc((size_t)count, sizeof *swaptions);
	for (int i = 0; i < count; i++)
		swaptions[i] =
			(struct swaption){.strike = 0.04 + 0.002 * i, .maturity = 1.0 + i % 3, .start = 0.05};
	for (int i = 0; i < thread_count; i++) {
		numbers[i] = i;
		if (pthread_create(&threads[i], NULL, work, &numbers[i]) != 0)
			abort();
	}
	for (int i = 0; i < thread_count; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < count; i++)
		printf("swaption %d: price %.8f, error %.8f\n", i, swaptions[i].price, swaptions[i].error);
	fwrite(swaptions, sizeof *swaptions, (size_t)count, stdout);
	free(swaptions);
	return 0;
}
