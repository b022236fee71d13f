// SPDX-License-Identifier: Apache-2.0
/* Unit tests of base/file.h and base/process.h.  They run in a directory of their own. */
#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/process.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

static struct rd_buf messages = RD_BUF_INIT;
static char directory[] = "/tmp/raddle-u-base-file-XXXXXX";

static void collect(void *context, enum rd_level level, const char *message)
{
	(void)level;
	rd_buf_addf(context, "%s\n", message);
}

static int enter(void **state)
{
	(void)state;
	rd_log_set(collect, &messages);
	return mkdtemp(directory) && chdir(directory) == 0 ? 0 : -1;
}

static int leave(void **state)
{
	(void)state;
	rd_log_set(NULL, NULL);
	rd_buf_release(&messages);
	return chdir("/") || rd_remove_tree(directory);
}

static int clear_messages(void **state)
{
	(void)state;
	rd_buf_clear(&messages);
	return 0;
}

static void assert_said(const char *part)
{
	if (!strstr(messages.data, part))
		fail_msg("'%s' is not in: %s", part, messages.data);
}

static void write_and_read(void **state)
{
	static const size_t sizes[] = {0, 1, 63, 64, 4096, 65536, 1000003};
	struct rd_buf in = RD_BUF_INIT, out = RD_BUF_INIT;
	struct stat st;

	(void)state;
	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		rd_buf_clear(&out);
		rd_buf_clear(&in);
		while (out.length < sizes[i])
			rd_buf_addc(&out, (char)(out.length * 7));
		assert_int_equal(rd_file_write("f", out.data, out.length), 0);
		rd_buf_adds(&in, "++");
		assert_int_equal(rd_file_read("f", &in), 0);
		assert_int_equal(in.length, 2 + sizes[i]);
		assert_memory_equal(in.data + 2, out.data, out.length + 1);
	}
	assert_int_equal(stat("f", &st), 0);
	assert_int_equal(st.st_mode & 0111, 0);
	rd_buf_release(&in);
	rd_buf_release(&out);
}

static void proc_files_have_no_size(void **state)
{
	struct rd_buf b = RD_BUF_INIT;

	(void)state;
	assert_int_equal(rd_file_read("/proc/self/status", &b), 0);
	assert_non_null(strstr(b.data, "VmSize:"));
	rd_buf_release(&b);
}

/* No temporary file is left, even if the rename fails. */
static void failed_write_leaves_nothing(void **state)
{
	(void)state;
	assert_int_equal(rd_mkdirs("w/taken/x"), 0);
	assert_int_equal(rd_file_write("w/taken", "a", 1), RD_ESYSTEM);
	assert_said("cannot write w/taken: Is a directory");
	assert_int_equal(rd_remove_tree("w/taken"), 0);
	assert_int_equal(rmdir("w"), 0);
}

static void assert_holds(const char *path, const char *content)
{
	struct rd_buf b = RD_BUF_INIT;

	assert_int_equal(rd_file_read(path, &b), 0);
	assert_string_equal(b.data, content);
	rd_buf_release(&b);
}

/* RLIMIT_FSIZE makes the write fail as on a full disk. */
static void replaced_whole_or_not_at_all(void **state)
{
	struct rlimit all, few;
	struct stat st;

	(void)state;
	assert_int_equal(rd_file_replace("r", "old", 3), 0);
	assert_int_equal(chmod("r", 0640), 0);
	assert_int_equal(symlink("r", "r-link"), 0);
	assert_int_equal(rd_file_replace("r-link", "new", 3), 0);
	assert_holds("r", "new");
	assert_int_equal(lstat("r-link", &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_int_equal(stat("r", &st), 0);
	assert_int_equal(st.st_mode & 0777, 0640);

	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &all), 0);
	few = all;
	few.rlim_cur = 2;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &few), 0);
	assert_int_equal(rd_file_replace("r", "newer", 5), RD_ESYSTEM);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &all), 0);
	assert_said("cannot write r: File too large");
	assert_holds("r", "new");

	assert_int_equal(rd_file_replace("/dev/null", "x", 1), 0);
	assert_int_equal(stat("/dev/null", &st), 0);
	assert_true(S_ISCHR(st.st_mode));
	assert_int_equal(unlink("r-link") + unlink("r"), 0);
}

static void missing_files_are_named(void **state)
{
	struct rd_buf b = RD_BUF_INIT;
	struct rd_map map;

	(void)state;
	assert_int_equal(rd_file_read("absent", &b), RD_ESYSTEM);
	assert_said("cannot open absent: No such file");
	clear_messages(NULL);
	assert_int_equal(rd_map_open(&map, "gone"), RD_ESYSTEM);
	assert_said("gone: ");
	clear_messages(NULL);
	assert_int_equal(rd_map_open(&map, "/dev/null"), RD_EFORMAT);
	assert_said("/dev/null: it is a device, not a file");
	rd_map_close(&map);
	rd_buf_release(&b);
}

static void directories_come_and_go(void **state)
{
	(void)state;
	assert_int_equal(rd_mkdirs("a//b/c/"), 0);
	assert_int_equal(rd_mkdirs("a/b/c"), 0);
	assert_int_equal(rd_mkdirs("/"), 0);
	assert_int_equal(rd_file_write("a/b/file", "x", 1), 0);
	assert_int_equal(symlink("/etc", "a/b/link"), 0);
	assert_int_equal(rd_mkdirs("a/b/file/d"), RD_ESYSTEM);
	assert_said("a/b/file/d: cannot create this directory");
	assert_int_equal(rd_remove_tree("a"), 0);
	assert_false(rd_file_exists("a"));
	assert_true(rd_file_exists("/etc/passwd"));
	assert_int_equal(rd_remove_tree("a"), 0);
	assert_int_equal(rd_mkdirs(""), RD_ESYSTEM);
}

static void mapping_shows_the_file(void **state)
{
	struct rd_map map;

	(void)state;
	assert_int_equal(rd_file_write("m", "content", 7), 0);
	assert_int_equal(rd_map_open(&map, "m"), 0);
	assert_int_equal(map.length, 7);
	assert_memory_equal(map.data, "content", 7);
	rd_map_close(&map);
	assert_int_equal(rd_file_write("m", "", 0), 0);
	assert_int_equal(rd_map_open(&map, "m"), 0);
	assert_int_equal(map.length, 0);
	rd_map_close(&map);
}

static void expect_cache(const char *expect)
{
	char *path = NULL, *wish = rd_xasprintf("%s/%s", directory, expect);
	struct stat st;

	assert_int_equal(rd_cache_dir(&path), 0);
	assert_string_equal(path, wish);
	assert_int_equal(stat(path, &st), 0);
	free(path);
	free(wish);
}

static void cache_follows_the_environment(void **state)
{
	char *home = rd_xasprintf("%s/home", directory), *path;

	(void)state;
	setenv("HOME", home, 1);
	unsetenv("XDG_CACHE_HOME");
	setenv("RADDLE_CACHE", "my/cache", 1);
	expect_cache("my/cache");
	unsetenv("RADDLE_CACHE");
	expect_cache("home/.cache/raddle");
	setenv("XDG_CACHE_HOME", "relative/is/ignored", 1);
	expect_cache("home/.cache/raddle");
	setenv("XDG_CACHE_HOME", home, 1);
	expect_cache("home/raddle");
	unsetenv("XDG_CACHE_HOME");
	setenv("HOME", "/proc/nowhere", 1);
	assert_int_equal(rd_cache_dir(&path), 0);
	assert_true(strncmp(path, "/tmp/raddle-", 12) == 0);
	free(path);
	free(home);
}

static void missing_support_file(void **state)
{
	char *path;

	(void)state;
	assert_int_equal(rd_support_file("no-such-file", &path), RD_ENOTFOUND);
	assert_said("/no-such-file: this part of Raddle is missing");
}

static int run_shell(const char *script, struct rd_buf *output)
{
	struct rd_argv a = RD_ARGV_INIT;
	int status;

	rd_argv_add(&a, "sh");
	rd_argv_add(&a, "-c");
	rd_argv_addf(&a, "%s", script);
	status = output ? rd_run_capture(a.items, 300000, output) : rd_run(a.items);
	rd_argv_release(&a);
	return status;
}

static void programs_run(void **state)
{
	struct rd_buf b = RD_BUF_INIT;

	(void)state;
	assert_int_equal(run_shell("exit 7", NULL), 7);
	assert_int_equal(run_shell("kill -KILL $$", NULL), 128 + SIGKILL);
	assert_int_equal(run_shell("echo out; echo err >&2", &b), 0);
	assert_string_equal(b.data, "out\nerr\n");
	rd_buf_clear(&b);
	assert_int_equal(run_shell("head -c 300000 /dev/zero; exit 3", &b), 3);
	assert_int_equal(b.length, 300000);
	rd_buf_clear(&b);
	/* the program that writes too much is ended */
	assert_int_equal(run_shell("cat /dev/zero", &b), RD_ELIMIT);
	assert_said("it writes more than 300000 bytes");
	rd_buf_release(&b);
}

static void programs_that_take_too_long(void **state)
{
	char *const slow[] = {(char[]){"sleep"}, (char[]){"1000"}, NULL};
	char *const quick[] = {(char[]){"true"}, NULL};

	(void)state;
	assert_int_equal(rd_run_until(slow, rd_now_ns() + 1), 128 + SIGTERM);
	assert_int_equal(rd_run_until(quick, rd_now_ns() + 1000000000000), 0);
}

static void files_are_read_up_to_a_size(void **state)
{
	struct rd_buf b = RD_BUF_INIT;
	char head[4];

	(void)state;
	assert_int_equal(rd_file_write("sized", "12345", 5), 0);
	assert_int_equal(rd_file_read_max("sized", 5, &b), 0);
	assert_string_equal(b.data, "12345");
	assert_int_equal(rd_file_read_max("sized", 4, &b), RD_ELIMIT);
	assert_int_equal(b.length, 5);
	assert_int_equal(rd_file_head("sized", head, 4), 4);
	assert_memory_equal(head, "1234", 4);
	assert_int_equal(rd_file_head("/dev/zero", head, 4), 0);
	assert_int_equal(rd_file_head("absent", head, 4), 0);
	/* the size that /proc reports is 0 */
	assert_int_equal(rd_file_read_max("/proc/self/maps", 10, &b), RD_ESYSTEM);
	assert_said("File too large");
	rd_buf_release(&b);
}

/* A pipe is read if it is given by its descriptor (/dev/fd/N), but not where a file is expected. */
static void pipes_that_are_handed_in(void **state)
{
	struct rd_buf b = RD_BUF_INIT;
	struct rd_map map;
	char name[32];
	int fds[2];

	(void)state;
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(write(fds[1], "hello", 5), 5);
	close(fds[1]);
	snprintf(name, sizeof name, "/dev/fd/%d", fds[0]);
	assert_int_equal(rd_map_open(&map, name), RD_EFORMAT);
	assert_int_equal(rd_file_read(name, &b), 0);
	assert_string_equal(b.data, "hello");
	close(fds[0]);
	assert_int_equal(mkfifo("fifo", 0600), 0);
	assert_int_equal(rd_file_read("fifo", &b), RD_EFORMAT);
	assert_int_equal(rd_map_open(&map, "fifo"), RD_EFORMAT);
	rd_buf_release(&b);
}

/* A cache directory that other users can write to is refused: they could make us run their
 * programs. */
static void caches_of_others_are_refused(void **state)
{
	char *path;

	(void)state;
	setenv("RADDLE_CACHE", "shared", 1);
	assert_int_equal(mkdir("shared", 0700), 0);
	assert_int_equal(rd_cache_dir(&path), 0);
	free(path);
	chmod("shared", 0770);
	assert_int_equal(rd_cache_dir(&path), RD_ESYSTEM);
	assert_said("shared: it can be written by others");
	chmod("shared", 01777);
	assert_int_equal(rd_cache_dir(&path), RD_ESYSTEM);
	chmod("shared", 0755);
	if (geteuid() == 0) {
		assert_int_equal(chown("shared", 12345, 12345), 0);
		assert_int_equal(rd_cache_dir(&path), RD_ESYSTEM);
		assert_said("shared: it belongs to another user");
	}
	unsetenv("RADDLE_CACHE");
}

static void programs_that_cannot_start(void **state)
{
	char *const argv[] = {(char[]){"/no/such/program"}, NULL};
	struct rd_buf b = RD_BUF_INIT;

	(void)state;
	assert_int_equal(rd_run(argv), RD_ESYSTEM);
	assert_said("cannot start /no/such/program: No such file");
	assert_int_equal(rd_run_capture(argv, 1000, &b), RD_ESYSTEM);
	rd_buf_release(&b);
}

static void spawn_elsewhere(void **state)
{
	char *const items[] = {(char[]){"pwd"}, (char[]){"-P"}, NULL};
	struct rd_argv a = RD_ARGV_INIT;
	struct rd_buf b = RD_BUF_INIT;
	int fd = open("pwd.txt", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	pid_t pid;

	(void)state;
	rd_argv_add_all(&a, items);
	assert_int_equal(a.count, 2);
	assert_int_equal(rd_spawn(a.items, "/usr", fd, &pid), 0);
	assert_int_equal(rd_wait(pid), 0);
	close(fd);
	assert_int_equal(rd_file_read("pwd.txt", &b), 0);
	assert_string_equal(b.data, "/usr\n");
	rd_buf_release(&b);
	rd_argv_release(&a);
}

static void own_path_is_that_of_the_test(void **state)
{
	char *path = rd_own_path();

	(void)state;
	assert_non_null(path);
	assert_int_equal(path[0], '/');
	assert_string_equal(rd_base_name(path), "u-base-file");
	assert_int_equal(access(path, X_OK), 0);
	free(path);
}

#define CASE(f) cmocka_unit_test_setup(f, clear_messages)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(write_and_read),
		CASE(proc_files_have_no_size),
		CASE(failed_write_leaves_nothing),
		CASE(replaced_whole_or_not_at_all),
		CASE(missing_files_are_named),
		CASE(directories_come_and_go),
		CASE(mapping_shows_the_file),
		CASE(cache_follows_the_environment),
		CASE(missing_support_file),
		CASE(programs_run),
		CASE(programs_that_take_too_long),
		CASE(files_are_read_up_to_a_size),
		CASE(pipes_that_are_handed_in),
		CASE(caches_of_others_are_refused),
		CASE(programs_that_cannot_start),
		CASE(spawn_elsewhere),
		CASE(own_path_is_that_of_the_test),
	};

	return cmocka_run_group_tests(tests, enter, leave);
}
