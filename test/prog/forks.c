// SPDX-License-Identifier: Apache-2.0
/* Processes that a program forks.  `race`: a child whose threads race.  `abort`:
 * a child that aborts.  `daemon FILE`: a race, and a daemon that leaves its
 * session and parent, appends its pid to FILE and keeps running.  With a third
 * argument, a FIFO, the daemon first serves a byte from it, with two threads
 * that race.  The first process keeps running as long as the file `hold`
 * exists. */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int total, other;

static void *add(void *where)
{
	++*(int *)where;
	return NULL;
}

static void race(int *where)
{
	pthread_t threads[2];

	for (int i = 0; i < 2; i++)
		pthread_create(&threads[i], NULL, add, where);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
}

static void serve(const char *path)
{
	char byte;
	int fd = open(path, O_RDONLY);

	if (read(fd, &byte, 1) == 1)
		race(&other);
	close(fd);
	close(open("served", O_CREAT | O_WRONLY, 0600));
}

/* A pipe through which the first process waits until the daemon has written its pid. */
static int ready[2];

static void be_daemon(char **argv)
{
	FILE *out;

	setsid();
	if (fork())
		_exit(0);
	out = fopen(argv[2], "a");
	fprintf(out, "%d\n", (int)getpid());
	fclose(out);
	close(ready[0]);
	close(ready[1]);
	if (argv[3])
		serve(argv[3]);
	for (;;)
		pause();
}

int main(int argc, char **argv)
{
	pid_t pid;

	char byte;

	if (argc < 2 || pipe(ready))
		return 2;
	pid = fork();
	if (pid == 0 && strcmp(argv[1], "daemon") == 0)
		be_daemon(argv);
	if (pid == 0) {
		race(&total);
		if (strcmp(argv[1], "abort") == 0)
			abort();
		return 0;
	}
	waitpid(pid, NULL, 0);
	close(ready[1]);
	if (read(ready[0], &byte, 1))
		return 3;
	if (strcmp(argv[1], "daemon") == 0)
		race(&total);
	while (access("hold", F_OK) == 0)
		usleep(10000);
	return 0;
}
