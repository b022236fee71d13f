/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prices European options by the Black-Scholes formula; the options are divided among threads.
 *
 *	blackscholes [OPTIONS [ROUNDS [THREADS]]]	prints the prices
 */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int count = 40, rounds = 5, thread_count = 2;

struct option {
	float spot, strike, rate, volatility, time;
	int is_put;
};

static struct option *options;
static float *prices;

static float normal(float x)
{
	float positive = fabsf(x), k = 1.0f / (1.0f + 0.2316419f * positive);
	float sum = k * (0.319381530f +
			 k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f))));
	float tail = 0.39894228040f * expf(-0.5f * x * x) * sum;
	return x < 0 ? tail : 1.0f - tail;
}

static float price(const struct option *o)
{
	float root = sqrtf(o->time);
	float d1 = (logf(o->spot / o->strike) + (o->rate + 0.5f * o->volatility * o->volatility) * o->time) /
		   (o->volatility * root);
	float d2 = d1 - o->volatility * root;
	float future = o->strike * expf(-o->rate * o->time);
	if (o->is_put)
		return future * (1.0f - normal(d2)) - o->spot * (1.0f - normal(d1));
	return o->spot * normal(d1) - future * normal(d2);
}

static void *work(void *argument)
{
	int number = *(int *)argument;
	int first = count * number / thread_count, last = count * (number + 1) / thread_count;
	for (int n = 0; n < rounds; n++)
		for (int i = first; i < last; i++)
			prices[i] = price(&options[i]);
	return NULL;
}

/* The options are written to a file and read from it, as if a user had supplied them. */
static void read_options(void)
{
	size_t n = (size_t)count;
	FILE *f = tmpfile();
	if (f == NULL)
		abort();
	for (int i = 0; i < count; i++) {
		struct option o = {.spot = 40.0f + (float)(i % 17) * 5.0f,
				   .strike = 50.0f + (float)(i % 7) * 7.5f,
				   .rate = 0.02f + 0.01f * (float)(i % 5),
				   .volatility = 0.1f + 0.05f * (float)(i % 9),
				   .time = 0.25f * (float)(1 + i % 4),
				   .is_put = i % 2};
		if (fwrite(&o, sizeof o, 1, f) != 1)
			abort();
	}
	rewind(f);
	if (fread(options, sizeof *options, n, f) != n)
		abort();
	fclose(f);
}

int main(int argc, char **argv)
{
	pthread_t threads[64];
	int numbers[64];
	if (argc > 1)
		count = atoi(argv[1]);
	if (argc > 2)
		rounds = atoi(argv[2]);
	if (argc > 3)
		thread_count = atoi(argv[3]);
	options = malloc(sizeof *options * (size_t)count);
	prices = malloc(sizeof *prices * (size_t)count);
	read_options();
	for (int i = 0; i < thread_count; i++) {
		numbers[i] = i;
		if (pthread_create(&threads[i], NULL, work, &numbers[i]) != 0)
			abort();
	}
	for (int i = 0; i < thread_count; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < count; i++)
		printf("%.4f%c", (double)prices[i], i % 10 == 9 || i == count - 1 ? '\n' : ' ');
	free(options);
	free(prices);
	return 0;
}
