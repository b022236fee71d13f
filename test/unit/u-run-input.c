// SPDX-License-Identifier: Apache-2.0
/* Unit tests of run/input.h: whatever standard input is, each run of a program gets the same
 * bytes. */
#include "run/input.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#define LENGTH 200000 /* more than a pipe holds */

static char top[32], *spool, *file;
static char *bytes;
static int saved;

static void ignore(void *context, enum rd_level level, const char *text)
{
	(void)context;
	(void)level;
	(void)text;
}

static int set_up(void **state)
{
	(void)state;
	strcpy(top, "/tmp/u-input-XXXXXX");
	if (!mkdtemp(top))
		return -1;
	rd_log_set(ignore, NULL);
	spool = rd_xasprintf("%s/spool", top);
	file = rd_xasprintf("%s/file", top);
	bytes = rd_xmalloc(LENGTH);
	for (size_t i = 0; i < LENGTH; i++)
		bytes[i] = (char)(i * 7 ^ i >> 8);
	saved = dup(STDIN_FILENO);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	dup2(saved, STDIN_FILENO);
	close(saved);
	free(spool);
	free(file);
	free(bytes);
	rd_log_set(NULL, NULL);
	return rd_remove_tree(top);
}

/* Reads until the end, or `most` bytes.  Returns how many bytes it read. */
static size_t read_all(int fd, char *to, size_t most)
{
	size_t length = 0;
	ssize_t n;

	while (length < most && (n = read(fd, to + length, most - length)) > 0)
		length += (size_t)n;
	return length;
}

static void check_again(const struct run_input *in, const char *expected, size_t length)
{
	char *got = rd_xmalloc(LENGTH + 1);

	for (int run = 0; run < 3; run++) {
		int fd = run_input_again(in);

		assert_true(fd >= 0);
		assert_int_equal(read_all(fd, got, LENGTH + 1), length);
		assert_memory_equal(got, expected, length);
		close(fd);
	}
	free(got);
}

static void open_as_stdin(const char *path)
{
	int fd = open(path, O_RDONLY);

	assert_true(fd >= 0);
	assert_int_equal(dup2(fd, STDIN_FILENO), STDIN_FILENO);
	close(fd);
}

static void files_are_read_again(void **state)
{
	struct run_input in;
	char *got = rd_xmalloc(LENGTH);

	(void)state;
	assert_int_equal(rd_file_write(file, bytes, LENGTH), 0);
	open_as_stdin(file);
	assert_int_equal(run_input_open(&in, spool), 0);
	assert_int_equal(in.first, STDIN_FILENO);
	assert_string_equal(in.shown, file);
	/* the first run reads a part of it */
	assert_int_equal(read_all(in.first, got, 1000), 1000);
	run_input_first_ended(&in);
	check_again(&in, bytes, LENGTH);
	assert_false(rd_file_exists(spool));
	run_input_close(&in);
	free(got);
}

/* If the beginning of the file was read before, all runs get the rest.  That cannot be shown as `<
 * FILE`. */
static void files_are_read_from_where_we_got_them(void **state)
{
	struct run_input in;

	(void)state;
	assert_int_equal(rd_file_write(file, bytes, LENGTH), 0);
	open_as_stdin(file);
	assert_int_equal(lseek(STDIN_FILENO, 1234, SEEK_SET), 1234);
	assert_int_equal(run_input_open(&in, spool), 0);
	assert_null(in.shown);
	check_again(&in, bytes + 1234, LENGTH - 1234);
	run_input_close(&in);
}

/* If a file was removed or replaced, its name is not shown, but its bytes are still read. */
static void a_name_is_not_guessed(void **state)
{
	char *deleted = rd_xasprintf("%s (deleted)", file);
	struct run_input in;

	(void)state;
	assert_int_equal(rd_file_write(file, bytes, LENGTH), 0);
	open_as_stdin(file);
	assert_int_equal(unlink(file), 0);
	assert_int_equal(rd_file_write(file, "x", 1), 0);
	/* the name that the kernel now shows */
	assert_int_equal(rd_file_write(deleted, "x", 1), 0);
	assert_int_equal(run_input_open(&in, spool), 0);
	assert_null(in.shown);
	run_input_close(&in);
	free(deleted);
}

/* Starts a process that writes everything into a pipe, which becomes our standard input. */
static pid_t pipe_as_stdin(void)
{
	int ends[2];
	pid_t pid;

	assert_int_equal(pipe(ends), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		close(ends[0]);
		_exit(rd_write_all(ends[1], bytes, LENGTH) != 0);
	}
	close(ends[1]);
	assert_int_equal(dup2(ends[0], STDIN_FILENO), STDIN_FILENO);
	close(ends[0]);
	return pid;
}

static void pipes_are_copied(void **state)
{
	struct run_input in;
	char *got = rd_xmalloc(LENGTH + 1);
	pid_t writer = pipe_as_stdin();
	int status;

	(void)state;
	assert_int_equal(run_input_open(&in, spool), 0);
	assert_int_not_equal(in.first, STDIN_FILENO);
	assert_string_equal(in.shown, spool);
	assert_int_equal(read_all(in.first, got, LENGTH + 1), LENGTH);
	assert_memory_equal(got, bytes, LENGTH);
	run_input_first_ended(&in);
	assert_int_equal(waitpid(writer, &status, 0), writer);
	assert_int_equal(status, 0);
	check_again(&in, bytes, LENGTH);
	run_input_close(&in);
	free(got);
}

/* If the first run reads only a little, later runs get a prefix of the input that is at least as
 * long. */
static void a_run_that_stops_reading_ends_the_copy(void **state)
{
	struct run_input in;
	char *got = rd_xmalloc(LENGTH + 1);
	pid_t writer = pipe_as_stdin();
	size_t length;
	int fd;

	(void)state;
	assert_int_equal(run_input_open(&in, spool), 0);
	assert_int_equal(read_all(in.first, got, 10), 10);
	run_input_first_ended(&in);
	fd = run_input_again(&in);
	assert_true(fd >= 0);
	length = read_all(fd, got, LENGTH + 1);
	assert_true(length >= 10 && length <= LENGTH);
	assert_memory_equal(got, bytes, length);
	close(fd);
	run_input_close(&in);
	dup2(saved, STDIN_FILENO); /* closes the last reader of the pipe, so that the writer ends */
	assert_int_equal(waitpid(writer, NULL, 0), writer);
	free(got);
}

static void devices_are_opened_again(void **state)
{
	struct run_input in;

	(void)state;
	open_as_stdin("/dev/null");
	assert_int_equal(run_input_open(&in, spool), 0);
	check_again(&in, "", 0);
	run_input_close(&in);
}

static void no_input_is_an_error(void **state)
{
	struct run_input in;

	(void)state;
	close(STDIN_FILENO);
	assert_true(run_input_open(&in, spool) < 0);
	run_input_close(&in);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(files_are_read_again),
		TEST(files_are_read_from_where_we_got_them),
		TEST(a_name_is_not_guessed),
		TEST(pipes_are_copied),
		TEST(a_run_that_stops_reading_ends_the_copy),
		TEST(devices_are_opened_again),
		TEST(no_input_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
