// SPDX-License-Identifier: Apache-2.0
/*
 * `raddle explore --ctest`: each test of a CMake build directory is explored, one after another, by a raddle
 * of its own, where and with the environment that ctest would give it.  In: a build directory.  Out: what
 * each exploration says, in DIR/TEST, and a summary.
 *
 * A test that could not be explored is told and is no success: the program may not have been built by
 * raddle-cc.
 */
#include "cmd/explore.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "base/interrupt.h"
#include "base/option.h"
#include "base/process.h"
#include "cmd/cmd.h"
#include "explore/ctest.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define STEP_MS 100 /* between two looks at the process */

struct suite {
	struct ctest tests;
	struct rd_arena *arena;
	char raddle[PATH_MAX], output[PATH_MAX];
	size_t explored, failed, unexplored;
	int stopped; /* the signal that ended it; 0: none did */
};

static int list_tests(struct suite *s)
{
	struct rd_argv argv = RD_ARGV_INIT;
	struct rd_buf text = RD_BUF_INIT;
	int status, err = RD_OK;
	const char *said;

	rd_argv_add(&argv, "ctest");
	rd_argv_add(&argv, "--test-dir");
	rd_argv_add(&argv, opt.ctest);
	rd_argv_add(&argv, "--show-only=json-v1");
	if (opt.tests_regex) {
		rd_argv_add(&argv, "-R");
		rd_argv_add(&argv, opt.tests_regex);
	}
	status = rd_run_capture(argv.items, RD_TEXT_MAX, &text);
	said = text.data + strspn(text.data, "\n");
	if (status < 0)
		err = rd_fail(RD_ETOOL, "explore: ctest cannot be run; is CMake installed?");
	else if (status)
		err = rd_fail(RD_ETOOL, "explore: %s: ctest ended with status %d: %.*s", opt.ctest, status,
			      (int)strcspn(said, "\n"), said);
	if (!err)
		err = ctest_parse(&s->tests, text.data, text.length, opt.ctest, s->arena);
	if (!err && !s->tests.count)
		err = rd_fail(RD_EUSAGE, "explore: %s: ctest knows no test%s", opt.ctest,
			      opt.tests_regex ? " of that name" : " there");
	rd_argv_release(&argv);
	rd_buf_release(&text);
	return err;
}

/* ---- one test ---- */

static void add_text(struct rd_argv *argv, const char *option, const char *value)
{
	if (value)
		rd_argv_addf(argv, "--%s=%s", option, value);
}

static void add_number(struct rd_argv *argv, const char *option, uint64_t value, const char *unit)
{
	if (value && value != RD_OPTION_UNSET)
		rd_argv_addf(argv, "--%s=%" PRIu64 "%s", option, value, unit);
}

static void add_flag(struct rd_argv *argv, const char *option, bool set)
{
	if (set)
		rd_argv_addf(argv, "--%s", option);
}

static bool is_variable(const char *text)
{
	return strchr(text, '=') && text[0] != '-';
}

/* What a replay needs beside the command that the report has. */
static void say_surroundings(const struct ctest_test *t)
{
	if (t->directory)
		fprintf(stderr, "== replay them in %s\n", t->directory);
	for (size_t i = 0; i < t->variable_count; i++)
		if (is_variable(t->environment[i]))
			fprintf(stderr, "== replay them with the variable %s\n", t->environment[i]);
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
	add_number(argv, "schedules", opt.schedules_most, "");
	add_number(argv, "seed", opt.explore_seed, "");
	add_number(argv, "jobs", opt.jobs, "");
	add_number(argv, "timeout", opt.timeout, "ms");
	add_number(argv, "time", opt.class_time, "ms");
	add_text(argv, "strategy", opt.strategy);
	add_text(argv, "fail-if", opt.fail_if);
	add_text(argv, "with", opt.with);
	add_text(argv, "setup", opt.setup);
	add_text(argv, "plugins", opt.plugins);
	add_flag(argv, "all", opt.go_on);
	add_flag(argv, "quiet", opt.quiet);
	add_flag(argv, "verbose", opt.verbose);
	rd_argv_add(argv, "--");
	for (size_t i = 0; i < t->word_count; i++)
		rd_argv_add(argv, t->command[i]);
}

/* Whoever ends us by a signal other than that of a terminal, which the exploration gets too, ends it. */
static int await(struct suite *s, pid_t pid)
{
	struct rd_interrupt signals;
	int status, sent;

	rd_interrupt_begin(&signals);
	while (waitpid(pid, &status, WNOHANG) == 0) {
		sent = rd_interrupt_wait(&signals, STEP_MS);
		if (sent)
			s->stopped = sent;
		if (sent && sent != SIGINT)
			kill(pid, sent);
	}
	rd_interrupt_end(&signals);
	return WIFEXITED(status) ? WEXITSTATUS(status) : CMD_FAILED;
}

static int explore_test(struct suite *s, const struct ctest_test *t)
{
	struct rd_argv argv = RD_ARGV_INIT;
	pid_t pid;
	int status = CMD_FAILED;

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
	int status = CMD_FAILED;

	if (!opt.quiet)
		fprintf(stderr, "%s== %zu of %zu: %s\n", number ? "\n" : "", number + 1, s->tests.count,
			t->name);
	if (!t->word_count)
		rd_fail(RD_ENOTFOUND, "explore: test %s has not been built", t->name);
	else if (t->will_fail)
		rd_fail(RD_EUSAGE, "explore: test %s is meant to fail", t->name);
	else if (!rd_mkdirs(folder))
		status = explore_test(s, t);
	s->explored += status != CMD_FAILED;
	s->failed += status == CMD_FOUND;
	s->unexplored += status == CMD_FAILED;
	if (status == CMD_FOUND && !opt.quiet) {
		fprintf(stderr, "== %s fails; its schedules are in %s\n", t->name, folder);
		say_surroundings(t);
	}
	free(folder);
}

/* ---- the whole ---- */

static int open_output(struct suite *s, const char *wish)
{
	int err = rd_mkdirs(wish);

	if (!err && !realpath(wish, s->output))
		err = rd_fail_errno("%s", wish);
	if (!err && !realpath("/proc/self/exe", s->raddle))
		err = rd_fail_errno("explore: cannot find out where raddle is");
	return err;
}

/* Tests read nothing, as with ctest. */
static int close_input(void)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	if (fd < 0 || dup2(fd, STDIN_FILENO) < 0)
		return rd_fail_errno("/dev/null");
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
	if (!opt.quiet) {
		fprintf(stderr,
			"\nRaddle: %zu of %zu tests fail in a schedule that was explored; %zu could not be "
			"explored",
			s->failed, s->tests.count, s->unexplored);
		fprintf(stderr, disabled ? ", %zu are disabled\n" : "\n", disabled);
	}
	if (s->stopped)
		return rd_fail(RD_ESYSTEM, "explore: stopped by a signal (%s)", strsignal(s->stopped));
	return s->unexplored || !s->explored ? RD_ENOTFOUND : RD_OK;
}

int cmd_explore_ctest(const char *directory)
{
	struct suite s = {.arena = rd_arena_new()};
	int err = list_tests(&s);

	if (!err)
		err = open_output(&s, directory);
	if (!err)
		err = close_input();
	if (!err)
		err = explore_tests(&s);
	rd_arena_free(s.arena);
	return s.failed ? CMD_FOUND : err ? CMD_FAILED : CMD_OK;
}
