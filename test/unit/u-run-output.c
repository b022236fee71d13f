// SPDX-License-Identifier: Apache-2.0
/*
 * Unit tests of run/streams.h and run/output.h.  What a program writes to streams and files is
 * captured, and is unchanged after it was stored on disk.  The next run starts empty.
 */
#include "base/alloc.h"
#include "base/file.h"
#include "base/process.h"
#include "base/scratch.h"
#include "run/input.h"
#include "run/output.h"
#include "run/streams.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char *scratch(void)
{
	char *directory;

	assert_int_equal(rd_scratch_open(&directory, NULL, "output"), 0);
	return directory;
}

static void put(int fd, const char *text)
{
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
}

static void check_read(const struct run_streams *s, int which, const char *expected)
{
	struct rd_buf text = RD_BUF_INIT;

	assert_int_equal(run_streams_read(s, which, &text), 0);
	assert_int_equal(text.length, strlen(expected));
	assert_memory_equal(text.data ? text.data : "", expected, text.length);
	rd_buf_release(&text);
}

/* Streams are in memory or in files of a directory.  Both kinds are empty for the next run. */
static void test_streams(void **state)
{
	char *directory = scratch();

	(void)state;
	for (int kept = 0; kept < 2; kept++) {
		struct run_input input;
		struct run_streams s;
		assert_int_equal(run_input_open(&input, directory), 0);
		assert_int_equal(run_streams_open(&s, &input, kept ? directory : NULL), 0);
		put(s.fds[STDOUT_FILENO], "one\n");
		put(s.fds[STDERR_FILENO], "error\n");
		put(s.fds[STDOUT_FILENO], "two\n");
		check_read(&s, STDOUT_FILENO, "one\ntwo\n");
		check_read(&s, STDERR_FILENO, "error\n");
		check_read(&s, STDOUT_FILENO, "one\ntwo\n"); /* a second read gives the same */
		run_streams_rewind(&s);
		check_read(&s, STDOUT_FILENO, "");
		check_read(&s, STDERR_FILENO, "");
		put(s.fds[STDOUT_FILENO], "3");
		check_read(&s, STDOUT_FILENO, "3");
		run_streams_close(&s);
		run_input_close(&input);
	}
	rd_scratch_close(directory);
}

/* Children of the program, and copies of its streams, write to the same place. */
static void test_streams_of_children(void **state)
{
	struct run_input input;
	struct run_streams s;
	char *directory = scratch();
	pid_t pid;

	(void)state;
	assert_int_equal(run_input_open(&input, directory), 0);
	assert_int_equal(run_streams_open(&s, &input, NULL), 0);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(rd_spawn((char *const[]){"sh", "-c", "echo a; (echo b); echo c >&2", NULL},
					  NULL, s.fds[STDOUT_FILENO], &pid),
				 0);
		assert_int_equal(rd_wait(pid), 0);
		check_read(&s, STDOUT_FILENO, "a\nb\nc\n");
		run_streams_rewind(&s);
	}
	run_streams_close(&s);
	run_input_close(&input);
	rd_scratch_close(directory);
}

/* ---- files in the directory of a run ---- */

static void make_files(const char *directory)
{
	char *path = rd_xasprintf("%s/sub/deeper", directory);

	assert_int_equal(rd_mkdirs(path), 0);
	free(path);
	path = rd_xasprintf("%s/result", directory);
	assert_int_equal(rd_file_write(path, "a\0b", 3), 0);
	free(path);
	path = rd_xasprintf("%s/sub/deeper/empty", directory);
	assert_int_equal(rd_file_write(path, "", 0), 0);
	free(path);
	path = rd_xasprintf("%s/sub/text", directory);
	assert_int_equal(rd_file_write(path, "text\n", 5), 0);
	free(path);
	path = rd_xasprintf("%s/link", directory);
	assert_int_equal(symlink("result", path), 0);
	free(path);
	path = rd_xasprintf("%s/away", directory);
	assert_int_equal(symlink("/no/such/file", path), 0);
	free(path);
	/* Opening the pipe would wait forever, so it must be skipped. */
	path = rd_xasprintf("%s/pipe", directory);
	assert_int_equal(mkfifo(path, 0600), 0);
	free(path);
}

static void check_files(const struct run_output *o)
{
	static const struct {
		const char *name, *data;
		size_t length;
	} expected[] = {
		{"away", "/no/such/file", 13}, {"link", "result", 6},	    {"pipe", "", 0},
		{"result", "a\0b", 3},	       {"sub/deeper/empty", "", 0}, {"sub/text", "text\n", 5}};

	assert_int_equal(o->count, 6);
	for (size_t i = 0; i < 6; i++) {
		assert_string_equal(o->files[i].name, expected[i].name);
		assert_int_equal(o->files[i].data.length, expected[i].length);
		if (expected[i].length)
			assert_memory_equal(o->files[i].data.data, expected[i].data, expected[i].length);
	}
}

static void test_gather_save_load(void **state)
{
	char *directory = scratch(), *kept = scratch(), *there = rd_xasprintf("%s/run", kept);
	struct run_output o, back;
	struct run_input input;
	struct run_streams s;

	(void)state;
	make_files(directory);
	assert_int_equal(run_input_open(&input, kept), 0);
	assert_int_equal(run_streams_open(&s, &input, NULL), 0);
	put(s.fds[STDOUT_FILENO], "out");
	put(s.fds[STDERR_FILENO], "err\n");
	assert_int_equal(run_output_gather(&o, &s, directory), 0);
	check_files(&o);
	assert_int_equal(run_output_save(&o, there), 0);
	assert_int_equal(run_output_load(&back, there), 0);
	check_files(&back);
	assert_string_equal(back.out.data, "out");
	assert_string_equal(back.err.data, "err\n");
	run_output_release(&back);
	run_output_release(&o);
	run_streams_close(&s);
	run_input_close(&input);
	rd_scratch_close(directory);
	rd_scratch_close(kept);
	free(there);
}

/* A run without a directory has only streams, which may be empty. */
static void test_nothing(void **state)
{
	char *kept = scratch(), *there = rd_xasprintf("%s/run", kept);
	struct run_output o, back;
	struct run_input input;
	struct run_streams s;

	(void)state;
	assert_int_equal(run_input_open(&input, kept), 0);
	assert_int_equal(run_streams_open(&s, &input, NULL), 0);
	assert_int_equal(run_output_gather(&o, &s, NULL), 0);
	assert_int_equal(o.count + o.out.length + o.err.length, 0);
	assert_int_equal(run_output_save(&o, there), 0);
	assert_int_equal(run_output_load(&back, there), 0);
	assert_int_equal(back.count + back.out.length + back.err.length, 0);
	run_output_release(&back);
	run_output_release(&o);
	run_streams_close(&s);
	run_input_close(&input);
	rd_scratch_close(kept);
	free(there);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_streams),
		cmocka_unit_test(test_streams_of_children),
		cmocka_unit_test(test_gather_save_load),
		cmocka_unit_test(test_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
