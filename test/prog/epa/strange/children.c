// SPDX-License-Identifier: Apache-2.0
/* Three child processes, one after another, change their own copies of a table and return sums. */
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

static int table[10];

static int child(int n)
{
	int sum = 0;
	for (int i = 0; i < 10; i++)
		table[i] += i * n;
	for (int i = 0; i < 10; i++)
		sum = (sum * 3 + table[i]) % 97;
	return sum;
}

int main(void)
{
	int sum = 0, status;
	for (int n = 1; n <= 3; n++) {
		pid_t pid = fork();
		if (pid == 0)
			_exit(child(n));
		if (pid < 0 || waitpid(pid, &status, 0) != pid)
			return 2;
		sum = sum * 100 + (WIFEXITED(status) ? WEXITSTATUS(status) : 99);
	}
	printf("%d %d\n", sum, table[9]);
	return 0;
}
