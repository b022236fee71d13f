// SPDX-License-Identifier: Apache-2.0
/*
 * Before it creates threads, the program does something that would go wrong in a bad copy of the
 * frozen program (rt/steer/freeze.c): copied MODE FILE.  It exits with 1 if a copy differs.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, recursive;
static int counter;

static void *count(void *unused)
{
	for (int i = 0; i < 3; i++) {
		pthread_mutex_lock(&mutex);
		counter++;
		pthread_mutex_unlock(&mutex);
	}
	return unused;
}

static void need(int right, const char *what)
{
	if (right)
		return;
	fprintf(stderr, "wrong: %s\n", what);
	_exit(1);
}

static void run_threads(void)
{
	pthread_t t[2];

	for (int i = 0; i < 2; i++)
		need(!pthread_create(&t[i], NULL, count, NULL), "pthread_create()");
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	need(counter == 6, "the counter");
}

/* What stdio has buffered before the copy is read, or written, exactly once. */
static void use_stdio(const char *path)
{
	FILE *in = fopen(path, "r");
	char line[64];

	need(in && fgets(line, sizeof line, in) && !strcmp(line, "one\n"), "the first line");
	printf("begun\n");
	fflush(stdout);
	printf("buffered\n");
	run_threads();
	need(fgets(line, sizeof line, in) && !strcmp(line, "two\n"), "the second line");
	printf("ended\n");
	fclose(in);
}

/* The position of an open file is the same in each run. */
static void use_file(const char *path)
{
	int fd = open(path, O_RDONLY);
	char c[2];

	need(fd >= 0 && read(fd, &c[0], 1) == 1 && c[0] == 'o', "the first byte");
	run_threads();
	need(read(fd, &c[1], 1) == 1 && c[1] == 'n', "the second byte");
	close(fd);
}

static void use_input(void)
{
	char c[2];

	need(read(STDIN_FILENO, &c[0], 1) == 1 && c[0] == 'x', "the first byte of the input");
	run_threads();
	need(read(STDIN_FILENO, &c[1], 1) == 1 && c[1] == 'y', "the second byte of the input");
}

static volatile sig_atomic_t signalled;

static void note(int number)
{
	signalled = number;
}

/* The process sees the same IDs before and after the copy, and can send itself a signal. */
static void use_ids(void)
{
	pid_t pid = getpid(), tid = gettid();

	need(pid == tid, "the ID of the initial thread");
	run_threads();
	need(getpid() == pid && gettid() == tid, "an ID afterwards");
	signal(SIGUSR1, note);
	need(!kill(getpid(), SIGUSR1) && signalled == SIGUSR1, "a signal to itself");
}

/* The initial thread still owns a mutex that it locked before the copy. */
static void use_owner(void)
{
	pthread_mutexattr_t a;

	pthread_mutexattr_init(&a);
	pthread_mutexattr_settype(&a, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&recursive, &a);
	need(!pthread_mutex_lock(&recursive), "the first lock");
	run_threads();
	need(!pthread_mutex_trylock(&recursive), "the second lock");
	need(!pthread_mutex_unlock(&recursive) && !pthread_mutex_unlock(&recursive), "the release");
}

/* A child of a copy is an ordinary process. */
static void use_fork(void)
{
	pid_t parent = getpid(), child;
	int status = 1;

	run_threads();
	child = fork();
	if (child == 0)
		_exit(getpid() != parent && getpid() == gettid() ? 0 : 1);
	need(child > 0 && waitpid(child, &status, 0) == child && status == 0, "the child");
}

/* Nothing can be read back from a device that is only written to. */
static void use_null(void)
{
	FILE *out = fopen("/dev/null", "w");
	int fd = open("/dev/null", O_WRONLY | O_CREAT | O_TRUNC, 0600);

	need(out && fputs("x", out) >= 0 && !fflush(out) && fd >= 0, "/dev/null");
	run_threads();
	need(!fclose(out) && !close(fd), "/dev/null afterwards");
}

/* Only the first run finds no file, creates it and does more. */
static void use_first(const char *path)
{
	char name[256];
	int fd;

	snprintf(name, sizeof name, "%s.first", path);
	if (access(name, F_OK)) {
		fd = open(name, O_WRONLY | O_CREAT, 0600);
		need(fd >= 0 && !close(fd), "a new file");
		run_threads();
		counter = 0;
	}
	run_threads();
}

/* ---- in these cases a copy would not be right, so each run starts the program anew ---- */

static void use_pipe(void)
{
	char c = 0;
	int ends[2];

	need(!pipe(ends) && write(ends[1], "p", 1) == 1, "a pipe");
	run_threads();
	need(read(ends[0], &c, 1) == 1 && c == 'p', "what is in the pipe");
}

static void use_shared(void)
{
	int *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	need(shared != MAP_FAILED, "mmap()");
	run_threads();
	need(++*shared == 1, "shared memory");
}

static void use_child(void)
{
	pid_t child = fork();

	if (child == 0)
		_exit(0);
	run_threads();
	need(waitpid(child, NULL, 0) == child, "the child");
}

/* The same without libc, so that the runtime does not see it. */
static void use_bare(const char *path)
{
	char name[256];
	int fd;

	snprintf(name, sizeof name, "%s.%ld", path, (long)getpid());
	fd = (int)syscall(SYS_open, name, O_WRONLY | O_CREAT, 0600);
	need(fd >= 0 && !close(fd), "a new file");
	run_threads();
	need(!syscall(SYS_unlink, name), "the removal of the file");
}

/* The second copy would not find the file that the first one has removed. */
static void use_removed(const char *path)
{
	char name[256];
	FILE *f;

	snprintf(name, sizeof name, "%s.%ld", path, (long)getpid());
	f = fopen(name, "w");
	need(f && !fclose(f), "a new file");
	run_threads();
	need(!unlink(name), "the removal of the file");
}

static void use_timer(void)
{
	struct itimerval long_time = {.it_value = {.tv_sec = 1000}}, left;

	setitimer(ITIMER_REAL, &long_time, NULL);
	run_threads();
	need(!getitimer(ITIMER_REAL, &left) && left.it_value.tv_sec > 0, "the timer");
}

int main(int argc, char **argv)
{
	const char *mode = argc > 2 ? argv[1] : "";

	if (!strcmp(mode, "stdio"))
		use_stdio(argv[2]);
	else if (!strcmp(mode, "file"))
		use_file(argv[2]);
	else if (!strcmp(mode, "input"))
		use_input();
	else if (!strcmp(mode, "null"))
		use_null();
	else if (!strcmp(mode, "first"))
		use_first(argv[2]);
	else if (!strcmp(mode, "ids"))
		use_ids();
	else if (!strcmp(mode, "owner"))
		use_owner();
	else if (!strcmp(mode, "fork"))
		use_fork();
	else if (!strcmp(mode, "pipe"))
		use_pipe();
	else if (!strcmp(mode, "shared"))
		use_shared();
	else if (!strcmp(mode, "child"))
		use_child();
	else if (!strcmp(mode, "removed"))
		use_removed(argv[2]);
	else if (!strcmp(mode, "bare"))
		use_bare(argv[2]);
	else if (!strcmp(mode, "timer"))
		use_timer();
	else
		return 2;
	return 0;
}
