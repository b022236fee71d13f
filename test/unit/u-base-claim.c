// SPDX-License-Identifier: Apache-2.0
/* Unit tests of base/claim.h: two processes claim the same directory.  They synchronise by
 * messages, not by time. */
#include "base/claim.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

static char top[32], message[512];
static int messages;

static void keep_message(void *context, enum rd_level level, const char *text)
{
	(void)context;
	(void)level;
	messages++;
	snprintf(message, sizeof message, "%s", text);
}

static int set_up(void **state)
{
	(void)state;
	strcpy(top, "/tmp/u-claim-XXXXXX");
	message[0] = '\0';
	messages = 0;
	rd_log_set(keep_message, NULL);
	return mkdtemp(top) ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	rd_log_set(NULL, NULL);
	return rd_remove_tree(top);
}

/* Starts a process that claims the directory, reports that it has done so, and stays until it is
 * killed. */
static pid_t claim_in_another_process(const char *path)
{
	int says[2];
	char said = 0;
	pid_t pid;

	assert_int_equal(pipe(says), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		struct rd_claim claim = {0};

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		said = rd_claim(&claim, path, false) == 0;
		if (write(says[1], &said, 1) == 1)
			for (;;)
				pause();
		_exit(1);
	}
	close(says[1]);
	assert_int_equal(read(says[0], &said, 1), 1);
	assert_int_equal(said, 1);
	close(says[0]);
	return pid;
}

/* Kills the process, which then cannot release its claim.  Its lock ends with it. */
static void end(pid_t pid)
{
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void directories_are_made_and_marked(void **state)
{
	char *path = rd_xasprintf("%s/a/b", top);
	struct rd_claim claim = {0};

	(void)state;
	assert_false(rd_claim_marks(path));
	assert_int_equal(rd_claim(&claim, path, false), 0);
	assert_string_equal(claim.path, path);
	assert_true(rd_claim_marks(path));
	rd_claim_release(&claim);
	assert_null(claim.path);
	rd_claim_release(&claim); /* a second release does nothing */
	assert_true(rd_claim_marks(path));
	assert_int_equal(rd_claim(&claim, path, false), 0);
	rd_claim_release(&claim);
	free(path);
}

static void one_at_a_time(void **state)
{
	char *path = rd_xasprintf("%s/t", top);
	pid_t o = claim_in_another_process(path);
	struct rd_claim claim = {0};

	(void)state;
	assert_int_equal(rd_claim(&claim, path, false), RD_EUSAGE);
	assert_non_null(strstr(message, "another raddle is writing to it"));
	assert_null(claim.path);
	end(o);
	assert_int_equal(rd_claim(&claim, path, false), 0);
	rd_claim_release(&claim);
	free(path);
}

static void elsewhere_is_the_first_free_one(void **state)
{
	char *path = rd_xasprintf("%s/t", top), *second = rd_xasprintf("%s/t-2", top),
	     *third = rd_xasprintf("%s/t-3", top);
	pid_t o = claim_in_another_process(path), p = claim_in_another_process(second);
	struct rd_claim claim = {0};

	(void)state;
	assert_int_equal(rd_claim(&claim, path, true), 0);
	assert_string_equal(claim.path, third);
	assert_non_null(strstr(message, third));
	rd_claim_release(&claim);
	end(o);
	end(p);
	assert_int_equal(rd_claim(&claim, path, true), 0);
	assert_string_equal(claim.path, path);
	rd_claim_release(&claim);
	free(path);
	free(second);
	free(third);
}

/* If the lock file is a symbolic link, it is not followed: another user may have made it. */
static void links_are_not_followed(void **state)
{
	char *path = rd_xasprintf("%s/t", top), *file = rd_xasprintf("%s/t/" RD_CLAIM_FILE, top),
	     *victim = rd_xasprintf("%s/victim", top);
	struct rd_claim claim = {0};

	(void)state;
	assert_int_equal(mkdir(path, 0777), 0);
	assert_int_equal(symlink(victim, file), 0);
	assert_int_equal(rd_claim(&claim, path, false), RD_ESYSTEM);
	assert_false(rd_file_exists(victim));
	free(path);
	free(file);
	free(victim);
}

static void a_file_in_the_way_is_an_error(void **state)
{
	char *path = rd_xasprintf("%s/t", top);
	struct rd_claim claim = {0};

	(void)state;
	assert_int_equal(rd_file_write(path, "x", 1), 0);
	assert_int_equal(rd_claim(&claim, path, true), RD_ESYSTEM);
	assert_non_null(strstr(message, path));
	assert_int_equal(messages, 1);
	free(path);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(directories_are_made_and_marked), TEST(one_at_a_time),
		TEST(elsewhere_is_the_first_free_one), TEST(links_are_not_followed),
		TEST(a_file_in_the_way_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
