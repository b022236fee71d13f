// SPDX-License-Identifier: Apache-2.0
/* Threads compute with long double, __int128, complex numbers and vectors. */
#include <complex.h>
#include <pthread.h>
#include <stdio.h>

typedef float four __attribute__((vector_size(16)));

static void *work(void *argument)
{
	double *out = argument;
	long double x = *out;
	double complex z = *out + 1.5 * I;
	unsigned __int128 big = 1;
	four v = {1, 2, 3, 4}, w = {(float)*out, 0.5f, 2, 1};
	for (int i = 0; i < 8; i++) {
		x = x * 1.0625L + i;
		z = z * z / 3 + 0.25;
		big = big * 1000003 + (unsigned)i;
		v = v * w + (four){1, 0, 1, 0};
	}
	*out = (double)x + creal(z) + cimag(z) + (double)(big % 10007) + v[0] + v[3];
	return NULL;
}

int main(void)
{
	pthread_t t[3];
	double x[3] = {0.5, 1, -0.75};
	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, work, &x[i]);
	for (int i = 0; i < 3; i++) {
		pthread_join(t[i], NULL);
		printf("%.6g\n", x[i]);
	}
	return 0;
}
