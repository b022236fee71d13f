/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Depending on its argument, the program works for a short or long time, ends in one of many ways,
 * or prints what a program can see of its environment.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int cells[1 << 16];
static volatile int *nowhere;

/* The accessed cells are scattered, so that the trace does not compress well. */
static void work(unsigned from)
{
	pthread_mutex_lock(&mutex);
	for (unsigned i = 0; i < 4096; i++)
		cells[(from + i) * 2654435761u >> 16] += (int)i;
	pthread_mutex_unlock(&mutex);
}

static void *forever(void *argument)
{
	for (unsigned i = 0;; i++)
		work(i);
	return argument;
}

/* Works in three threads until it is killed, for a minute at most; prints its pid once it has
 * begun. */
static void endless(void)
{
	pthread_t t;

	alarm(60);
	for (int i = 0; i < 2; i++)
		pthread_create(&t, NULL, forever, NULL);
	work(0);
	printf("running %d\n", (int)getpid());
	fflush(stdout);
	forever(NULL);
}

static void work_alone(void)
{
	for (unsigned i = 0; i < 3000; i++)
		work(i);
}

static void *one_more(void *argument)
{
	work(1);
	return argument;
}

/* A second thread is joined only at the end, so that the accesses of each round are recorded. */
static void work_much(void)
{
	pthread_t t;

	if (pthread_create(&t, NULL, one_more, NULL))
		exit(1);
	work_alone();
	pthread_join(t, NULL);
}

static int deep(int n)
{
	work((unsigned)n);
	return n ? deep(n - 1) + 1 : 0;
}

/* Forks by a system call, without a library function. */
static int bare_fork(void)
{
	long pid = syscall(SYS_fork);
	int status = 0;

	for (unsigned i = 0; i < 200; i++)
		work(i);
	if (pid == 0)
		_exit(5);
	waitpid((pid_t)pid, &status, 0);
	return WEXITSTATUS(status);
}

static void look_around(char **environment)
{
	char path[4096], line[256];
	ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
	sigset_t mask;
	FILE *comm = fopen("/proc/self/comm", "r");

	path[n > 0 ? n : 0] = 0;
	printf("exe %s\n", path);
	if (comm && fgets(line, sizeof line, comm))
		printf("comm %s", line);
	printf("next descriptor %d\n", comm ? fileno(comm) : -1);
	for (; *environment; environment++)
		if (strncmp(*environment, "_=", 2))
			puts(*environment);
	sigprocmask(SIG_BLOCK, NULL, &mask);
	for (int i = 1; i < NSIG; i++) {
		struct sigaction action;
		if (sigismember(&mask, i) == 1)
			printf("blocked %d\n", i);
		if (!sigaction(i, NULL, &action) && action.sa_handler != SIG_DFL)
			printf("handled %d\n", i);
	}
	printf("group %d\n", getpgrp() == getpid());
}

/* Becomes a daemon, which works after its parent has ended, and then writes a file. */
static int leave_daemon(const char *file)
{
	FILE *out;

	if (daemon(1, 0))
		return 1;
	for (int i = 0; i < 20; i++) {
		work(0);
		usleep(20000);
	}
	out = fopen(file, "w");
	fputs("done\n", out);
	return fclose(out);
}

static void end_by(const char *how)
{
	if (!strcmp(how, "abort"))
		abort();
	if (!strcmp(how, "segv"))
		*nowhere = 1;
	if (!strcmp(how, "term"))
		raise(SIGTERM);
	if (!strcmp(how, "_exit"))
		_exit(17);
	if (!strcmp(how, "quick_exit"))
		quick_exit(18);
}

int main(int argc, char **argv, char **environment)
{
	int c;

	if (argc < 2)
		return 2;
	work(1);
	end_by(argv[1]);
	if (!strcmp(argv[1], "endless"))
		endless();
	if (!strcmp(argv[1], "look"))
		look_around(environment);
	if (!strcmp(argv[1], "daemon"))
		return leave_daemon(argv[2]);
	if (!strcmp(argv[1], "deep"))
		printf("%d\n", deep(20000));
	if (!strcmp(argv[1], "bare"))
		printf("%d\n", bare_fork());
	if (!strcmp(argv[1], "cat"))
		while ((c = getchar()) != EOF)
			putchar(c);
	if (!strcmp(argv[1], "work"))
		work_much();
	if (!strcmp(argv[1], "alone"))
		work_alone();
	puts("done");
	return 0;
}
