/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes: fork(), an exec that fails, an exec in a child, vfork(), _exit().
 *
 * T_0: thread-start fork exec fork exit
 * fork-0 T_0: thread-start mutex-lock mutex-unlock exit
 * fork-1 T_0: thread-start thread-create thread-join fork exec
 * fork-1 T_0_0: thread-start mutex-lock mutex-unlock thread-end
 * fork-1/fork-0 T_0: thread-start exit
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void *lock(void *unused)
{
	pthread_mutex_lock(&mutex);
	pthread_mutex_unlock(&mutex);
	return unused;
}

static int wait_for(pid_t pid)
{
	int status;
	waitpid(pid, &status, 0);
	return WEXITSTATUS(status);
}

int main(void)
{
	pthread_t t;
	pid_t pid = fork();

	if (pid == 0) {
		lock(NULL);
		_exit(3);
	}
	printf("%d\n", wait_for(pid));
	execl("/nonexistent/program", "program", "argument", (char *)NULL);
	perror("exec");
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		pthread_create(&t, NULL, lock, NULL);
		pthread_join(t, NULL);
		pid = fork();
		if (pid == 0)
			exit(4);
		if (wait_for(pid) == 4)
			execlp("sh", "sh", "-c", "echo $0 $RADDLE_SESSION_FD; exit 5", "word", (char *)NULL);
		exit(6);
	}
	printf("%d\n", wait_for(pid));
	pid = vfork();
	if (pid == 0) {
		execl("/bin/echo", "echo", "vfork", (char *)NULL);
		_exit(7);
	}
	printf("%d\n", wait_for(pid));
	return 0;
}
