// SPDX-License-Identifier: Apache-2.0
/* Unit tests of how doctor/system.c checks resource limits.  Each test runs in a child process, and
 * only that process has the limits. */
#include "doctor/probe-int.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

struct limits {
	rlim_t files, size, memory; /* RLIM_INFINITY: unchanged */
};

struct said {
	enum doctor_status status;
	char found[128], means[128], advice[128];
};

static bool limit(int resource, rlim_t value, bool hard)
{
	struct rlimit l;

	if (value == RLIM_INFINITY)
		return true;
	if (getrlimit(resource, &l))
		return false;
	l.rlim_cur = value;
	if (hard)
		l.rlim_max = value;
	return setrlimit(resource, &l) == 0;
}

/* Returns what the check reports under these limits. */
static struct said probe(const struct limits *limits)
{
	struct said said = {0};
	int ends[2], status;
	pid_t pid;

	assert_int_equal(pipe(ends), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		struct doctor_item item = {.name = "limits"};

		if (!limit(RLIMIT_NOFILE, limits->files, true) || !limit(RLIMIT_FSIZE, limits->size, false) ||
		    !limit(RLIMIT_AS, limits->memory, false))
			_exit(1);
		doctor_limits(&item);
		said.status = item.status;
		snprintf(said.found, sizeof said.found, "%s", item.found);
		snprintf(said.means, sizeof said.means, "%s", item.means ? item.means : "");
		snprintf(said.advice, sizeof said.advice, "%s", item.advice ? item.advice : "");
		free(item.found);
		_exit(write(ends[1], &said, sizeof said) != sizeof said);
	}
	close(ends[1]);
	assert_int_equal(read(ends[0], &said, sizeof said), sizeof said);
	close(ends[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	return said;
}

static bool is_limited_here(void)
{
	struct rlimit files, size, memory;

	getrlimit(RLIMIT_NOFILE, &files);
	getrlimit(RLIMIT_FSIZE, &size);
	getrlimit(RLIMIT_AS, &memory);
	return files.rlim_max < 256 || size.rlim_cur != RLIM_INFINITY || memory.rlim_cur != RLIM_INFINITY;
}

static void without_limits_all_is_well(void **state)
{
	struct said said;

	(void)state;
	if (is_limited_here())
		skip();
	said = probe(&(struct limits){RLIM_INFINITY, RLIM_INFINITY, RLIM_INFINITY});
	assert_int_equal(said.status, DOCTOR_OK);
	assert_non_null(strstr(said.found, "open files, files and memory unlimited"));
	assert_string_equal(said.advice, "");
}

static void few_files_come_first(void **state)
{
	struct said said = probe(&(struct limits){100, 4 << 20, RLIM_INFINITY});

	(void)state;
	assert_int_equal(said.status, DOCTOR_LIMITED);
	assert_string_equal(said.found, "only 100 open files");
	assert_string_equal(said.advice, "ulimit -n 4096");
}

/* 256 files suffice for the files of a trace that are open at the same time, however many threads
 * there are. */
static void some_files_are_enough(void **state)
{
	struct said said;

	(void)state;
	if (is_limited_here())
		skip();
	said = probe(&(struct limits){256, RLIM_INFINITY, RLIM_INFINITY});
	assert_int_equal(said.status, DOCTOR_OK);
	assert_non_null(strstr(said.found, "256 open files"));
}

static void small_files_come_before_little_memory(void **state)
{
	struct said said = probe(&(struct limits){RLIM_INFINITY, 4 << 20, (rlim_t)1 << 46});

	(void)state;
	assert_int_equal(said.status, DOCTOR_LIMITED);
	assert_string_equal(said.found, "files of at most 4 MiB");
	assert_string_equal(said.advice, "ulimit -f unlimited");
	assert_non_null(strstr(said.means, "that large"));
}

static void little_memory_is_told(void **state)
{
	struct said said;

	(void)state;
	if (is_limited_here())
		skip();
	/* This is much more than the test needs, even with the shadow memory of a sanitizer. */
	said = probe(&(struct limits){RLIM_INFINITY, RLIM_INFINITY, (rlim_t)1 << 46});
	assert_int_equal(said.status, DOCTOR_LIMITED);
	assert_string_equal(said.found, "67108864 MiB of address space");
	assert_string_equal(said.advice, "ulimit -v unlimited");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_limits_all_is_well),
		cmocka_unit_test(few_files_come_first),
		cmocka_unit_test(some_files_are_enough),
		cmocka_unit_test(small_files_come_before_little_memory),
		cmocka_unit_test(little_memory_is_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
