// SPDX-License-Identifier: Apache-2.0
/* Pipes connect a chain of threads; each thread reads numbers, changes them and passes them on. */
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

struct stage {
	int in, out, add;
};

static void *work(void *argument)
{
	struct stage *s = argument;
	int x;
	while (read(s->in, &x, sizeof x) == sizeof x) {
		x = x * 2 + s->add;
		if (write(s->out, &x, sizeof x) != sizeof x)
			break;
	}
	close(s->out);
	return NULL;
}

int main(void)
{
	int ends[4][2], x;
	long sum = 0;
	pthread_t t[3];
	struct stage stages[3];
	for (int i = 0; i < 4; i++)
		if (pipe(ends[i]))
			return 2;
	for (int i = 0; i < 3; i++) {
		stages[i] = (struct stage){ends[i][0], ends[i + 1][1], i + 1};
		pthread_create(&t[i], NULL, work, &stages[i]);
	}
	for (int i = 0; i < 10; i++)
		if (write(ends[0][1], &i, sizeof i) != sizeof i)
			return 3;
	close(ends[0][1]);
	while (read(ends[3][0], &x, sizeof x) == sizeof x)
		sum = sum * 3 % 100003 + x;
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	printf("%ld\n", sum);
	return 0;
}
