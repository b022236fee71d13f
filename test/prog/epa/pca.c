/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The first half of a principal component analysis: the means of the rows of a matrix and their
 * covariances, each computed by threads that process their own share of the rows.
 *
 *	pca [ROWS [COLUMNS [THREADS]]]	writes the covariances and prints sums of them
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static int rows = 20, columns = 30, thread_count = 4;
static int **matrix, *means, **covariance;

struct share {
	int first, last;
};

static void *find_means(void *argument)
{
	struct share *s = argument;
	for (int i = s->first; i < s->last; i++) {
		int sum = 0;
		for (int k = 0; k < columns; k++)
			sum += matrix[i][k];
		means[i] = sum / columns;
	}
	return NULL;
}

static void *find_covariances(void *argument)
{
	struct share *s = argument;
	for (int i = s->first; i < s->last; i++)
		for (int j = i; j < rows; j++) {
			int sum = 0;
			for (int k = 0; k < columns; k++)
				sum += (matrix[i][k] - means[i]) * (matrix[j][k] - means[j]);
			covariance[i][j] = covariance[j][i] = sum / (columns - 1);
		}
	return NULL;
}

static void in_threads(void *(*work)(void *))
{
	pthread_t *threads = malloc(sizeof *threads * (size_t)thread_count);
	struct share *shares = malloc(sizeof *shares * (size_t)thread_count);
	for (int i = 0; i < thread_count; i++) {
		shares[i] = (struct share){rows * i / thread_count, rows * (i + 1) / thread_count};
		if (pthread_create(&threads[i], NULL, work, &shares[i]) != 0)
			abort();
	}
	for (int i = 0; i < thread_count; i++)
		pthread_join(threads[i], NULL);
	free(shares);
	free(threads);
}

static int **new_matrix(int height, int width)
{
	int **m = malloc(sizeof *m * (size_t)height);
	for (int i = 0; i < height; i++)
		m[i] = calloc((size_t)width, sizeof **m);
	return m;
}

static void free_matrix(int **m, int height)
{
	for (int i = 0; i < height; i++)
		free(m[i]);
	free(m);
}

int main(int argc, char **argv)
{
	unsigned seed = 3;
	long trace = 0, sum = 0;
	if (argc > 1)
		rows = atoi(argv[1]);
	if (argc > 2)
		columns = atoi(argv[2]);
	if (argc > 3)
		thread_count = atoi(argv[3]);
	matrix = new_matrix(rows, columns);
	covariance = new_matrix(rows, rows);
	means = malloc(sizeof *means * (size_t)rows);
	for (int i = 0; i < rows; i++)
		for (int k = 0; k < columns; k++) {
			seed = seed * 1103515245u + 12345u;
			matrix[i][k] = (int)(seed >> 16) % 100;
		}
	in_threads(find_means);
	in_threads(find_covariances);
	for (int i = 0; i < rows; i++) {
		trace += covariance[i][i];
		for (int j = 0; j < rows; j++)
			sum += covariance[i][j];
	}
	for (int i = 0; i < rows; i++)
		fwrite(covariance[i], sizeof(int), (size_t)rows, stdout);
	printf("\ntrace %ld, sum %ld\n", trace, sum);
	free_matrix(matrix, rows);
	free_matrix(covariance, rows);
	free(means);
	return 0;
}
