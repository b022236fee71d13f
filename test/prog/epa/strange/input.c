// SPDX-License-Identifier: Apache-2.0
/* Main reads lines from standard input, and two threads scan them for numbers. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *lines[32];
static int count;

static void *work(void *argument)
{
	long from = (long)argument, sum = 0;
	for (long i = from; i < count; i += 2) {
		int a = 0, b = 0;
		if (sscanf(lines[i], "%d,%d", &a, &b) == 2)
			sum += a * b;
		else
			sum += (long)strlen(lines[i]);
	}
	return (void *)sum;
}

int main(void)
{
	char buffer[128];
	pthread_t t[2];
	while (count < 32 && fgets(buffer, sizeof buffer, stdin))
		lines[count++] = strdup(buffer);
	for (int i = count; i < 12; i++) {
		snprintf(buffer, sizeof buffer, i % 3 ? "%d,%d" : "line %d %d", i, i + 1);
		lines[count++] = strdup(buffer);
	}
	for (long i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, work, (void *)i);
	for (int i = 0; i < 2; i++) {
		void *r;
		pthread_join(t[i], &r);
		printf("%ld\n", (long)r);
	}
	for (int i = 0; i < count; i++)
		free(lines[i]);
	return 0;
}
