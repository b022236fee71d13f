// SPDX-License-Identifier: Apache-2.0
/*
 * Explores the tests of a CMake build directory one after another.  Each test gets a separate
 * raddle process, with the working directory and environment that ctest would use.  In: a build
 * directory.  Out: the report of each exploration, in DIR/TEST, and a summary.
 *
 * A test that could not be explored, for example because its program was not built by raddle-cc, is
 * reported and does not count as a success.
 */
#include "explore/ctest-run.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/process.h"
#include "explore/ctest-int.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* maximum delay before a signal is passed on, in milliseconds; chosen by hand */
#define STEP_MS 100

/* Exit statuses of `raddle explore`. */
enum { CTEST_FAILS = 1, CTEST_UNEXPLORED = 2 };

struct suite {
	const struct ctest_run *how;
	struct ctest_result *result;
	struct ctest tests;
	struct rd_arena *arena;
	char *raddle, output[PATH_MAX];
	int stopped; /* the signal that ended the exploration, or 0 */
};

static int list_tests(struct suite *s)
{
	struct rd_argv argv = RD_ARGV_INIT;
	struct rd_buf text = RD_BUF_INIT;
	int status, err = RD_OK;
	const char *said;

	rd_argv_add(&argv, "ctest");
	rd_argv_add(&argv, "--test-dir");
	rd_argv_add(&argv, s->how->build);
	rd_argv_add(&argv, "--show-only=json-v1");
	if (s->how->regex) {
		rd_argv_add(&argv, "-R");
		rd_argv_add(&argv, s->how->regex);
	}
	status = rd_run_capture(argv.items, RD_TEXT_MAX, &text);
	said = text.data + strspn(text.data, "\n");
	if (status < 0)
		err = rd_fail(RD_ETOOL, "explore: ctest cannot be run; is CMake installed?");
	else if (status)
		err = rd_fail(RD_ETOOL, "explore: %s: ctest ended with status %d: %.*s", s->how->build,
			      status, (int)strcspn(said, "\n"), said);
	if (!err)
		err = ctest_parse(&s->tests, text.data, text.length, s->how->build, s->arena);
	if (!err && !s->tests.count)
		err = rd_fail(RD_EUSAGE, "explore: %s: ctest lists no test%s", s->how->build,
			      s->how->regex ? " with such a name" : "");
	rd_argv_release(&argv);
	rd_buf_release(&text);
	return err;
}

/* ---- one test ---- */

static bool is_variable(const char *text)
{
	return strchr(text, '=') && text[0] != '-';
}

/* Prints the directory and environment of the test.  A replay needs them besides the command, which
 * is in the report. */
static void say_surroundings(const struct ctest_test *t, FILE *out)
{
	if (t->directory)
		fprintf(out, "== replay them in %s\n", t->directory);
	for (size_t i = 0; i < t->variable_count; i++)
		if (is_variable(t->environment[i]))
			fprintf(out, "== replay them with the variable %s\n", t->environment[i]);
}

static void make_command(const struct suite *s, const struct ctest_test *t, struct rd_argv *argv)
{
	rd_argv_add(argv, "env");
	for (size_t i = 0; i < t->variable_count; i++)
		if (is_variable(t->environment[i]))
			rd_argv_add(argv, t->environment[i]);
	rd_argv_add(argv, s->raddle);
	rd_argv_add(argv, "explore");
	rd_argv_addf(argv, "--output=%s/%s", s->output, t->folder);
	rd_argv_addf(argv, "--json=%s/%s/findings.json", s->output, t->folder);
	rd_argv_addf(argv, "--coverage=%s/%s/coverage.html", s->output, t->folder);
	rd_argv_add_all(argv, s->how->options);
	rd_argv_add(argv, "--");
	for (size_t i = 0; i < t->word_count; i++)
		rd_argv_add(argv, t->command[i]);
}

/* Passes signals on to the exploration, except SIGINT, which the terminal sends to both
 * processes. */
static int await(struct suite *s, pid_t pid)
{
	struct rd_interrupt signals;
	int status, sent;
	pid_t ended;

	rd_interrupt_begin(&signals);
	while ((ended = waitpid(pid, &status, WNOHANG)) == 0) {
		sent = rd_interrupt_wait(&signals, STEP_MS);
		if (sent)
			s->stopped = sent;
		if (sent && sent != SIGINT)
			kill(pid, sent);
	}
	rd_interrupt_end(&signals);
	if (ended < 0) {
		rd_fail_errno("explore: cannot wait for the exploration of a test");
		return CTEST_UNEXPLORED;
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : CTEST_UNEXPLORED;
}

static int explore_test(struct suite *s, const struct ctest_test *t)
{
	struct rd_argv argv = RD_ARGV_INIT;
	pid_t pid;
	int status = CTEST_UNEXPLORED;

	make_command(s, t, &argv);
	if (!rd_spawn(argv.items, t->directory, -1, &pid))
		status = await(s, pid);
	rd_argv_release(&argv);
	return status;
}

static void do_test(struct suite *s, size_t number)
{
	const struct ctest_test *t = &s->tests.tests[number];
	char *folder = rd_xasprintf("%s/%s", s->output, t->folder);
	int status = CTEST_UNEXPLORED;

	if (s->how->said)
		fprintf(s->how->said, "%s== %zu of %zu: %s\n", number ? "\n" : "", number + 1, s->tests.count,
			t->name);
	if (!t->word_count)
		rd_fail(RD_ENOTFOUND, "explore: test %s has not been built", t->name);
	else if (t->will_fail)
		rd_fail(RD_EUSAGE, "explore: test %s is not explored, because it is meant to fail", t->name);
	else if (!rd_mkdirs(folder))
		status = explore_test(s, t);
	s->result->explored += status != CTEST_UNEXPLORED;
	s->result->failed += status == CTEST_FAILS;
	s->result->unexplored += status == CTEST_UNEXPLORED;
	if (status == CTEST_FAILS && s->how->said) {
		fprintf(s->how->said, "== %s fails; its schedules are in %s\n", t->name, folder);
		say_surroundings(t, s->how->said);
	}
	free(folder);
}

/* ---- all tests ---- */

static int open_output(struct suite *s, const char *wish)
{
	int err = rd_mkdirs(wish);

	if (!err && !realpath(wish, s->output))
		err = rd_fail_errno("cannot find the directory %s", wish);
	if (!err && !(s->raddle = rd_own_path()))
		err = RD_ESYSTEM;
	return err;
}

/* Makes standard input empty, because tests get no input, as with ctest. */
static int close_input(void)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	if (fd < 0 || dup2(fd, STDIN_FILENO) < 0)
		return rd_fail_errno("cannot open /dev/null");
	close(fd);
	return RD_OK;
}

static int explore_tests(struct suite *s)
{
	size_t disabled = 0;

	for (size_t i = 0; i < s->tests.count && !s->stopped; i++) {
		disabled += s->tests.tests[i].disabled;
		if (!s->tests.tests[i].disabled)
			do_test(s, i);
	}
	if (s->how->said) {
		fprintf(s->how->said,
			"\nRaddle: %zu of %zu tests fail in a schedule that was explored; %zu could not be "
			"explored",
			s->result->failed, s->tests.count, s->result->unexplored);
		fprintf(s->how->said, disabled ? ", %zu are disabled\n" : "\n", disabled);
	}
	if (s->stopped)
		return rd_fail(RD_ESYSTEM, "explore: stopped by a signal (%s)", strsignal(s->stopped));
	return s->result->unexplored || !s->result->explored ? RD_ENOTFOUND : RD_OK;
}

int ctest_explore(const struct ctest_run *how, struct ctest_result *result)
{
	struct suite s = {.how = how, .result = result, .arena = rd_arena_new()};
	int err;

	RD_ASSERT(how->build && how->output && how->options);
	*result = (struct ctest_result){0};
	err = list_tests(&s);
	if (!err)
		err = open_output(&s, how->output);
	if (!err)
		err = close_input();
	if (!err)
		err = explore_tests(&s);
	free(s.raddle);
	rd_arena_free(s.arena);
	return err;
}
