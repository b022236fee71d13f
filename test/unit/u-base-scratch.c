// SPDX-License-Identifier: Apache-2.0
/* Unit tests of base/scratch.h: directories are removed however the process that made them ends.
 * Also tests the search in PATH (base/file.h), inside such a directory. */
#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "base/scratch.h"

#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static void fill(const char *directory)
{
	char *deep = rd_xasprintf("%s/a/b", directory), *file = rd_xasprintf("%s/a/b/c", directory);

	assert_int_equal(rd_mkdirs(deep), RD_OK);
	assert_int_equal(rd_file_write(file, "x", 1), RD_OK);
	free(deep);
	free(file);
}

static void test_close(void **state)
{
	char *first, *second, *copy;

	(void)state;
	assert_int_equal(rd_scratch_open(&first, NULL, "u-scratch"), RD_OK);
	fill(first);
	assert_int_equal(rd_scratch_open(&second, first, "inner"), RD_OK);
	assert_memory_equal(first, second, strlen(first));
	fill(second);
	copy = rd_xstrdup(second);
	rd_scratch_close(second);
	assert_false(rd_file_exists(copy));
	assert_true(rd_file_exists(first));
	free(copy);
	copy = rd_xstrdup(first);
	rd_scratch_close(first);
	assert_false(rd_file_exists(copy));
	free(copy);
	rd_scratch_close(NULL);
}

static void count_message(void *context, enum rd_level level, const char *message)
{
	(void)level;
	(void)message;
	++*(int *)context;
}

static void test_no_parent(void **state)
{
	char *path = NULL;
	int messages = 0;

	(void)state;
	rd_log_set(count_message, &messages);
	assert_int_equal(rd_scratch_open(&path, "/proc/nowhere", "x"), RD_ESYSTEM);
	rd_log_set(NULL, NULL);
	assert_int_equal(messages, 1);
	assert_null(path);
}

static void keep_message(void *context, enum rd_level level, const char *message)
{
	(void)level;
	snprintf(context, 64, "%s", message);
}

static void test_long_name(void **state)
{
	char name[5000], message[64] = "", *path = NULL;

	(void)state;
	memset(name, 'x', sizeof name - 1);
	name[sizeof name - 1] = '\0';
	rd_log_set(keep_message, message);
	assert_int_equal(rd_scratch_open(&path, NULL, name), RD_ELIMIT);
	rd_log_set(NULL, NULL);
	assert_non_null(strstr(message, rd_tmp_dir()));
	assert_null(path);
}

/* Runs in the process that a signal will end.  Makes three directories and closes the second one.
 * A forked process closes the first one and ends, but both other directories must remain. */
static _Noreturn void make_and_wait(int out)
{
	char *paths[3];
	pid_t pid;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (int i = 0; i < 3; i++) {
		if (rd_scratch_open(&paths[i], NULL, "u-scratch"))
			_exit(2);
		fill(paths[i]);
	}
	rd_scratch_close(paths[1]);
	pid = fork();
	if (pid == 0) {
		rd_scratch_close(paths[0]);
		raise(SIGTERM);
	}
	waitpid(pid, NULL, 0);
	if (!rd_file_exists(paths[0]) || !rd_file_exists(paths[2]))
		_exit(3);
	dprintf(out, "%s %s", paths[0], paths[2]);
	close(out);
	for (;;)
		pause();
}

static void end_by(int number)
{
	char text[256] = "", *second;
	int ends[2], status;
	ssize_t n, length = 0;
	pid_t pid;

	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0)
		make_and_wait(ends[1]);
	close(ends[1]);
	while ((n = read(ends[0], text + length, sizeof text - 1 - (size_t)length)) > 0)
		length += n;
	close(ends[0]);
	second = strchr(text, ' ');
	assert_non_null(second);
	*second++ = '\0';
	assert_true(rd_file_exists(text) && rd_file_exists(second));
	kill(pid, number);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), number);
	assert_false(rd_file_exists(text));
	assert_false(rd_file_exists(second));
}

static void test_signals(void **state)
{
	(void)state;
	end_by(SIGTERM);
	end_by(SIGINT);
	end_by(SIGHUP);
}

static void handler(int number)
{
	(void)number;
}

/* Signals that were ignored or had a handler keep their disposition; all others get the default one
 * back. */
static void test_dispositions(void **state)
{
	struct sigaction now;
	char *path;

	(void)state;
	signal(SIGHUP, SIG_IGN);
	signal(SIGINT, handler);
	assert_int_equal(rd_scratch_open(&path, NULL, "u-scratch"), RD_OK);
	sigaction(SIGHUP, NULL, &now);
	assert_true(now.sa_handler == SIG_IGN);
	sigaction(SIGINT, NULL, &now);
	assert_true(now.sa_handler == handler);
	sigaction(SIGTERM, NULL, &now);
	assert_true(now.sa_handler != SIG_DFL);
	rd_scratch_close(path);
	sigaction(SIGTERM, NULL, &now);
	assert_true(now.sa_handler == SIG_DFL);
	sigaction(SIGINT, NULL, &now);
	assert_true(now.sa_handler == handler);
	signal(SIGHUP, SIG_DFL);
	signal(SIGINT, SIG_DFL);
}

/* ---- the search in PATH ---- */

static void assert_finds(const char *path, const char *name, const char *expected)
{
	char *found;

	setenv("PATH", path, 1);
	found = rd_find_program(name);
	if (expected)
		assert_string_equal(found, expected);
	else
		assert_null(found);
	free(found);
}

static void make(const char *path, mode_t mode)
{
	assert_int_equal(rd_file_write(path, "x", 1), RD_OK);
	assert_int_equal(chmod(path, mode), 0);
}

static void test_path(void **state)
{
	char *old = rd_xstrdup(getenv("PATH")), *directory, *found;

	(void)state;
	assert_int_equal(rd_scratch_open(&directory, NULL, "u-scratch"), RD_OK);
	assert_int_equal(chdir(directory), 0);
	assert_int_equal(rd_mkdirs("one/tool"), RD_OK);
	assert_int_equal(rd_mkdirs("two"), RD_OK);
	make("here", 0755);
	make("two/tool", 0755);
	make("one/data", 0644);
	make("two/data", 0755);
	assert_finds("one:two", "tool", "two/tool"); /* a directory is not a program */
	assert_finds("one:two", "data", "two/data"); /* nor is a file that cannot be executed */
	assert_finds("one:two", "here", NULL);
	assert_finds("one::two", "here", "./here");
	assert_finds(":one", "here", "./here");
	assert_finds("one:", "here", "./here");
	assert_finds("", "here", "./here");
	assert_finds("one:/", "here", NULL);
	assert_finds("one", "some/where", "some/where");
	unsetenv("PATH");
	assert_non_null(found = rd_find_program("sh"));
	free(found);
	setenv("PATH", old, 1);
	assert_int_equal(chdir("/"), 0);
	rd_scratch_close(directory);
	free(old);
}

/* Runs in a process that is killed.  Writes the path of its directory. */
static _Noreturn void make_and_stay(int out)
{
	char *path;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (rd_scratch_open(&path, NULL, "u-scratch-left"))
		_exit(2);
	fill(path);
	dprintf(out, "%s", path);
	close(out);
	for (;;)
		pause();
}

/* The directory of a process that was killed is removed when the next one is opened, but not that of a
 * process that lives, nor one that only has a similar name. */
static void test_leftovers(void **state)
{
	char path[PATH_MAX] = "", *own, *similar = rd_xasprintf("%s/u-scratch-left-result", rd_tmp_dir());
	int out[2];
	pid_t pid;

	(void)state;
	assert_int_equal(pipe(out), 0);
	pid = fork();
	if (pid == 0)
		make_and_stay(out[1]);
	close(out[1]);
	assert_true(read(out[0], path, sizeof path - 1) > 0);
	close(out[0]);
	assert_int_equal(rd_mkdirs(similar), RD_OK);
	assert_int_equal(rd_scratch_open(&own, NULL, "u-scratch-left"), RD_OK);
	assert_true(rd_file_exists(path));
	rd_scratch_close(own);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	assert_true(rd_file_exists(path));
	assert_int_equal(rd_scratch_open(&own, NULL, "u-scratch-left"), RD_OK);
	assert_false(rd_file_exists(path));
	assert_true(rd_file_exists(similar));
	rd_scratch_close(own);
	rd_remove_tree(similar);
	free(similar);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_close),	     cmocka_unit_test(test_leftovers),
		cmocka_unit_test(test_no_parent),    cmocka_unit_test(test_signals),
		cmocka_unit_test(test_dispositions), cmocka_unit_test(test_path),
		cmocka_unit_test(test_long_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
