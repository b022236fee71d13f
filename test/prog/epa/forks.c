/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two forked children each add numbers in a thread and send the sum to their parent, which prints
 * it.  The parent aborts if a child fails.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int numbers[16];

static void *add(void *argument)
{
	long *sum = argument;
	for (int i = 0; i < 16; i++)
		*sum += numbers[i] * (i + 1);
	return NULL;
}

/* Runs in a child: a thread of the child adds the numbers, and the child sends the sum. */
static void work(int out, int factor)
{
	pthread_t thread;
	long sum = factor;
	for (int i = 0; i < 16; i++)
		numbers[i] *= factor;
	if (pthread_create(&thread, NULL, add, &sum) || pthread_join(thread, NULL))
		_exit(3);
	if (write(out, &sum, sizeof sum) != sizeof sum)
		_exit(4);
	_exit(0);
}

int main(void)
{
	for (int i = 0; i < 16; i++)
		numbers[i] = i;
	for (int child = 0; child < 2; child++) {
		int ends[2], status;
		long sum = 0;
		if (pipe(ends))
			return 2;
		pid_t pid = fork();
		if (pid == 0)
			work(ends[1], child + 2);
		close(ends[1]);
		if (read(ends[0], &sum, sizeof sum) != sizeof sum)
			printf("child %d wrote nothing\n", child);
		close(ends[0]);
		waitpid(pid, &status, 0);
		if (!WIFEXITED(status) || WEXITSTATUS(status))
			abort();
		printf("%d: %ld\n", child, sum);
	}
	return 0;
}
