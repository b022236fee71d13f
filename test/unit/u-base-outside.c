// SPDX-License-Identifier: Apache-2.0
/* Unit tests of base/outside.h: which files can be opened, that opening them does not block, and
 * who may own them. */
#include "base/error.h"
#include "base/outside.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <cmocka.h>

static char directory[] = "/tmp/u-outside-XXXXXX", path[64], last[512];

static void collect(void *context, enum rd_level level, const char *message)
{
	(void)context;
	(void)level;
	snprintf(last, sizeof last, "%s", message);
}

static int prepare(void **state)
{
	(void)state;
	rd_log_set(collect, NULL);
	assert_non_null(mkdtemp(directory));
	snprintf(path, sizeof path, "%s/file", directory);
	return 0;
}

static int clean(void **state)
{
	(void)state;
	rd_log_set(NULL, NULL);
	unlink(path);
	return rmdir(directory);
}

static void make_file(off_t size)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, size), 0);
	close(fd);
}

static void expect_refusal(const char *name, int code, const char *words)
{
	last[0] = '\0';
	assert_int_equal(rd_outside_open(name, 100, NULL), code);
	assert_non_null(strstr(last, name));
	assert_non_null(strstr(last, words));
}

static void files_up_to_a_size(void **state)
{
	struct stat st;
	int fd;

	(void)state;
	make_file(100);
	fd = rd_outside_open(path, 100, &st);
	assert_true(fd >= 0);
	assert_int_equal(st.st_size, 100);
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	close(fd);
	make_file(101);
	expect_refusal(path, RD_ELIMIT, "101 bytes");
	make_file((off_t)1 << 40); /* sparse */
	expect_refusal(path, RD_ELIMIT, "at most 100");
	expect_refusal("/tmp/u-outside-absent", RD_ESYSTEM, "cannot open /tmp/u-outside-absent");
}

/* Other kinds of files are refused without waiting: a FIFO without a writer would block forever. */
static void what_is_no_file(void **state)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int s = socket(AF_UNIX, SOCK_STREAM, 0);

	(void)state;
	unlink(path);
	assert_int_equal(mkfifo(path, 0600), 0);
	expect_refusal(path, RD_EFORMAT, "a pipe");
	unlink(path);
	snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
	assert_int_equal(bind(s, (struct sockaddr *)&address, sizeof address), 0);
	expect_refusal(path, RD_EFORMAT, "a socket");
	close(s);
	expect_refusal("/dev/zero", RD_EFORMAT, "a device");
	expect_refusal("/dev/null", RD_EFORMAT, "a device");
	expect_refusal(directory, RD_EFORMAT, "a directory");
}

static void strangers(void **state)
{
	struct stat own = {.st_uid = geteuid(), .st_mode = S_IFREG | 0644};

	(void)state;
	assert_null(rd_untrusted_reason(&own));
	own.st_uid = 0;
	assert_null(rd_untrusted_reason(&own));
	own.st_uid = geteuid() + 1;
	assert_string_equal(rd_untrusted_reason(&own), "belongs to another user");
	own.st_uid = geteuid();
	own.st_mode = S_IFREG | 0664;
	assert_string_equal(rd_untrusted_reason(&own), "can be written by others");
	own.st_mode = S_IFDIR | 0777;
	assert_string_equal(rd_untrusted_reason(&own), "can be written by others");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(files_up_to_a_size),
		cmocka_unit_test(what_is_no_file),
		cmocka_unit_test(strangers),
	};

	return cmocka_run_group_tests(tests, prepare, clean);
}
