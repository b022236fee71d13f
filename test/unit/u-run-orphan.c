// SPDX-License-Identifier: Apache-2.0
/*
 * Unit tests of run/orphan.h: daemons, grandchildren and children without a waiting parent are
 * ended, however they tried to escape.  Each case is a separate process, so that it adopts only its
 * own descendants.
 */
#include "run/orphan.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

/* Stays until it is killed.  Reports by `ready` that it has started. */
static _Noreturn void stay(int ready)
{
	for (int s = 1; s < 32; s++)
		signal(s, SIG_IGN);
	if (write(ready, "x", 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

/* Becomes a daemon: starts a new session, and the parent ends. */
static _Noreturn void daemonise(int ready)
{
	setsid();
	if (fork() == 0) {
		setpgid(0, 0);
		stay(ready);
	}
	_exit(0);
}

static pid_t start(void (*what)(int ready), int ready)
{
	pid_t pid = fork();

	if (pid == 0)
		what(ready);
	return pid;
}

static void plain(int ready)
{
	stay(ready);
}

static void twice(int ready)
{
	if (fork() == 0)
		daemonise(ready);
	stay(ready);
}

/* The name of the file that libomp leaves when it is killed.  It is in memory that all processes
 * share, so that the process that creates the file can store it. */
static char *left;
enum { LEFT_SIZE = 64 };

static void registered(int ready)
{
	int fd;

	snprintf(left, LEFT_SIZE, "/dev/shm/__KMP_REGISTERED_LIB_%d_%d", (int)getpid(), (int)getuid());
	fd = open(left, O_CREAT | O_EXCL | O_WRONLY, 0600);
	if (fd < 0)
		_exit(1);
	stay(ready);
}

static bool read_bytes(int fd, int count)
{
	char byte;

	while (count > 0 && read(fd, &byte, 1) == 1)
		count--;
	return count == 0;
}

/* Runs `starts` in a process that adopts orphans, and ends them all once they have started.
 * Returns how that process ended: 0 if no child is left and the pipe is closed, since no process
 * has it open any more. */
static int in_a_process(void (*const *starts)(int ready), int expected)
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0) {
		int ends[2];
		char byte;

		if (pipe(ends))
			_exit(1);
		run_orphans_adopt();
		for (; *starts; starts++)
			start(*starts, ends[1]);
		close(ends[1]);
		if (!read_bytes(ends[0], expected))
			_exit(2);
		run_orphans_end(NULL, 0);
		if (waitpid(-1, NULL, WNOHANG) >= 0 || errno != ECHILD)
			_exit(3);
		_exit(read(ends[0], &byte, 1) == 0 ? 0 : 4);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void children_are_ended(void **state)
{
	(void)state;
	assert_int_equal(in_a_process((void (*const[])(int)){plain, plain, NULL}, 2), 0);
}

static void daemons_are_ended(void **state)
{
	(void)state;
	assert_int_equal(in_a_process((void (*const[])(int)){daemonise, NULL}, 1), 0);
	assert_int_equal(in_a_process((void (*const[])(int)){twice, daemonise, plain, NULL}, 4), 0);
}

static void nothing_of_libomp_is_left(void **state)
{
	(void)state;
	left = mmap(NULL, LEFT_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(left != MAP_FAILED);
	assert_int_equal(in_a_process((void (*const[])(int)){registered, NULL}, 1), 0);
	assert_true(*left);
	assert_int_equal(access(left, F_OK), -1);
	munmap(left, LEFT_SIZE);
}

static void nothing_is_nothing(void **state)
{
	(void)state;
	assert_int_equal(in_a_process((void (*const[])(int)){NULL}, 0), 0);
}

/* One process may be left running. */
static void all_but_one(void **state)
{
	pid_t pid = fork();
	int status;

	(void)state;
	assert_true(pid >= 0);
	if (pid == 0) {
		int ends[2];
		pid_t kept, others;
		bool alone;

		if (pipe(ends))
			_exit(1);
		run_orphans_adopt();
		kept = start(plain, ends[1]);
		others = start(daemonise, ends[1]);
		if (kept < 0 || others < 0 || !read_bytes(ends[0], 2))
			_exit(2);
		run_orphans_end(&kept, 1);
		alone = kill(kept, 0) == 0 && waitpid(-1, NULL, WNOHANG) == 0;
		kill(kept, SIGKILL);
		alone &= waitpid(-1, NULL, 0) == kept && waitpid(-1, NULL, 0) < 0;
		_exit(alone ? 0 : 3);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(children_are_ended),
		cmocka_unit_test(daemons_are_ended),
		cmocka_unit_test(nothing_of_libomp_is_left),
		cmocka_unit_test(nothing_is_nothing),
		cmocka_unit_test(all_but_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
