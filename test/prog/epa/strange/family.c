// SPDX-License-Identifier: Apache-2.0
/* A forked child computes with a thread of its own and sends the result back through a pipe. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static long table[20];

static void *work(void *argument)
{
	long from = (long)argument;
	for (long i = from; i < from + 10; i++)
		table[i] = i * i + 1;
	return NULL;
}

static long child(void)
{
	pthread_t t;
	long sum = 0;
	pthread_create(&t, NULL, work, (void *)10);
	work(NULL);
	pthread_join(t, NULL);
	for (int i = 0; i < 20; i++)
		sum = sum * 3 % 100003 + table[i];
	return sum;
}

int main(void)
{
	int ends[2], status;
	long sum = 0;
	if (pipe(ends))
		return 2;
	pid_t pid = fork();
	if (pid == 0) {
		sum = child();
		if (write(ends[1], &sum, sizeof sum) != sizeof sum)
			_exit(3);
		_exit(0);
	}
	close(ends[1]);
	if (read(ends[0], &sum, sizeof sum) != sizeof sum)
		sum = -1;
	waitpid(pid, &status, 0);
	printf("%ld %d\n", sum, WIFEXITED(status) ? WEXITSTATUS(status) : -1);
	return 0;
}
