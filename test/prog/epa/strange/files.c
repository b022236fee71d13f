// SPDX-License-Identifier: Apache-2.0
/* Each thread writes its own file and reads it back, first as numbers, then as lines. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void *work(void *argument)
{
	long me = (long)argument, sum = 0, x, y;
	char path[32], *line = NULL;
	size_t size = 0;
	FILE *f;
	snprintf(path, sizeof path, "part-%ld.txt", me);
	f = fopen(path, "w+");
	if (!f)
		return NULL;
	for (int i = 0; i < 8; i++)
		fprintf(f, "%d %ld\n", i, i * me);
	rewind(f);
	for (int i = 0; i < 4 && fscanf(f, "%ld %ld\n", &x, &y) == 2; i++)
		sum += x * y;
	while (getline(&line, &size, f) > 0)
		sum = sum * 3 + line[2];
	free(line);
	fclose(f);
	unlink(path);
	return (void *)sum;
}

int main(void)
{
	pthread_t t[3];
	for (long i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, work, (void *)(i + 1));
	for (int i = 0; i < 3; i++) {
		void *r;
		pthread_join(t[i], &r);
		printf("%ld\n", (long)r);
	}
	return 0;
}
