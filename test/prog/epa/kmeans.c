/* SPDX-License-Identifier: Apache-2.0 */
/*
 * K-means: each thread assigns its share of the points to the nearest centre; then the main thread
 * moves the centres.  This is repeated until nothing changes.
 *
 *	kmeans [POINTS [CENTRES [THREADS]]]	prints the centres
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define DIMENSIONS 3
#define ROUNDS_MAX 50

static int points_count = 200, centres_count = 5, thread_count = 4;
static int *points, *centres;
static int *nearest;
static int changed[64];

struct share {
	int first, last, number;
};

static unsigned square_distance(const int *a, const int *b)
{
	unsigned sum = 0;
	for (int i = 0; i < DIMENSIONS; i++)
		sum += (unsigned)((a[i] - b[i]) * (a[i] - b[i]));
	return sum;
}

static void *assign(void *argument)
{
	struct share *s = argument;
	changed[s->number] = 0;
	for (int i = s->first; i < s->last; i++) {
		unsigned least = square_distance(&points[i * DIMENSIONS], centres);
		int best = 0;
		for (int k = 1; k < centres_count; k++) {
			unsigned d = square_distance(&points[i * DIMENSIONS], &centres[k * DIMENSIONS]);
			if (d < least) {
				least = d;
				best = k;
			}
		}
		if (nearest[i] != best) {
			nearest[i] = best;
			changed[s->number]++;
		}
	}
	return NULL;
}

static void move_centres(void)
{
	for (int k = 0; k < centres_count; k++) {
		long sum[DIMENSIONS] = {0}, n = 0;
		for (int i = 0; i < points_count; i++) {
			if (nearest[i] != k)
				continue;
			n++;
			for (int d = 0; d < DIMENSIONS; d++)
				sum[d] += points[i * DIMENSIONS + d];
		}
		for (int d = 0; d < DIMENSIONS && n != 0; d++)
			centres[k * DIMENSIONS + d] = (int)(sum[d] / n);
	}
}

static int round_of_threads(void)
{
	pthread_t threads[64];
	struct share *shares = malloc(sizeof *shares * (size_t)thread_count);
	int all = 0;
	for (int i = 0; i < thread_count; i++) {
		shares[i] = (struct share){points_count * i / thread_count,
					   points_count * (i + 1) / thread_count, i};
		if (pthread_create(&threads[i], NULL, assign, &shares[i]) != 0)
			abort();
	}
	for (int i = 0; i < thread_count; i++) {
		pthread_join(threads[i], NULL);
		all += changed[i];
	}
	free(shares);
	return all;
}

int main(int argc, char **argv)
{
	unsigned seed = 7;
	if (argc > 1)
		points_count = atoi(argv[1]);
	if (argc > 2)
		centres_count = atoi(argv[2]);
	if (argc > 3)
		thread_count = atoi(argv[3]);
	points = malloc(sizeof *points * (size_t)(points_count * DIMENSIONS));
	centres = malloc(sizeof *centres * (size_t)(centres_count * DIMENSIONS));
	nearest = calloc((size_t)points_count, sizeof *nearest);
	for (int i = 0; i < points_count * DIMENSIONS; i++) {
		seed = seed * 1103515245u + 12345u;
		points[i] = (int)(seed >> 16) % 1000;
	}
	for (int i = 0; i < centres_count * DIMENSIONS; i++)
		centres[i] = points[i];
	for (int n = 0; n < ROUNDS_MAX && round_of_threads() != 0; n++)
		move_centres();
	for (int k = 0; k < centres_count; k++) {
		char line[64];
		int n = snprintf(line, sizeof line, "%d %d %d\n", centres[k * DIMENSIONS],
				 centres[k * DIMENSIONS + 1], centres[k * DIMENSIONS + 2]);
		fwrite(line, 1, (size_t)n, stdout);
	}
	free(points);
	free(centres);
	free(nearest);
	return 0;
}
