// SPDX-License-Identifier: Apache-2.0
/* Unit tests of base/progress.h on a pseudo-terminal and in a pipe.  The test does not wait for the
 * clock: it sets start times back. */
#include "base/progress.h"

#include "base/clock.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <cmocka.h>

#define LONG_AGO_NS 3600000000000ll
#define ERASE "\r\033[K"

static int saved, master, slave;

static int set_up(void **state)
{
	struct winsize size = {.ws_row = 25, .ws_col = 30};

	(void)state;
	saved = dup(STDERR_FILENO);
	master = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK);
	if (saved < 0 || master < 0 || grantpt(master) || unlockpt(master))
		return -1;
	slave = open(ptsname(master), O_RDWR | O_NOCTTY);
	return slave < 0 || ioctl(slave, TIOCSWINSZ, &size) || dup2(slave, STDERR_FILENO) < 0 ? -1 : 0;
}

static int tear_down(void **state)
{
	(void)state;
	dup2(saved, STDERR_FILENO);
	close(saved);
	close(slave);
	close(master);
	return 0;
}

/* Returns what was written to the terminal since the last call. */
static const char *shown(void)
{
	static char text[512];
	ssize_t n = read(master, text, sizeof text - 1);

	text[n > 0 ? n : 0] = '\0';
	return text;
}

static void nothing_at_first(void **state)
{
	struct rd_progress p;

	(void)state;
	rd_progress_start(&p, "runs", 100);
	rd_progress_update(&p, 1, NULL);
	assert_string_equal(shown(), "");
	rd_progress_end(&p);
	assert_string_equal(shown(), ""); /* there is nothing to erase */
}

static void a_line_when_it_takes_long(void **state)
{
	struct rd_progress p;

	(void)state;
	rd_progress_start(&p, "runs", 100);
	p.start_ns -= LONG_AGO_NS;
	rd_progress_update(&p, 42, NULL);
	assert_string_equal(shown(), ERASE "runs: 42 of 100");
	/* as if it had just been drawn, for longer than the test takes */
	p.drawn_ns = rd_now_ns() + LONG_AGO_NS;
	rd_progress_update(&p, 43, NULL);
	assert_string_equal(shown(), "");
	p.drawn_ns = rd_now_ns() - LONG_AGO_NS;
	rd_progress_update(&p, 44, "half");
	assert_string_equal(shown(), ERASE "runs: 44 of 100  half");
	rd_progress_end(&p);
	assert_string_equal(shown(), ERASE);
	rd_progress_update(&p, 45, NULL);
	assert_string_equal(shown(), "");
}

static void the_total_may_be_unknown(void **state)
{
	struct rd_progress p;

	(void)state;
	rd_progress_start(&p, "events", 0);
	p.start_ns -= LONG_AGO_NS;
	rd_progress_update(&p, 7, NULL);
	assert_string_equal(shown(), ERASE "events: 7");
	rd_progress_end(&p);
	shown();
}

/* A line longer than the terminal could not be erased, because it would wrap. */
static void lines_fit_the_terminal(void **state)
{
	struct rd_progress p;

	(void)state;
	rd_progress_start(&p, "runs", 0);
	p.start_ns -= LONG_AGO_NS;
	rd_progress_update(&p, 1, "a detail that is far longer than thirty columns");
	assert_int_equal(strlen(shown()), strlen(ERASE) + 29);
	rd_progress_end(&p);
	shown();
}

static void hidden_lines_come_back(void **state)
{
	struct rd_progress p;

	(void)state;
	rd_progress_say(&p, "building");
	assert_string_equal(shown(), ERASE "building ...");
	rd_progress_hide(&p);
	assert_string_equal(shown(), ERASE);
	p.drawn_ns -= LONG_AGO_NS;
	rd_progress_update(&p, 3, NULL);
	assert_string_equal(shown(), ERASE "building: 3");
	rd_progress_end(&p);
	shown();
}

static void nothing_in_a_pipe(void **state)
{
	struct rd_progress p;
	int ends[2], flags;
	char byte;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	flags = fcntl(ends[0], F_GETFL);
	assert_int_equal(fcntl(ends[0], F_SETFL, flags | O_NONBLOCK), 0);
	assert_int_equal(dup2(ends[1], STDERR_FILENO), STDERR_FILENO);
	rd_progress_say(&p, "building");
	rd_progress_start(&p, "runs", 9);
	p.start_ns -= LONG_AGO_NS;
	rd_progress_update(&p, 3, NULL);
	rd_progress_end(&p);
	assert_true(read(ends[0], &byte, 1) < 0);
	close(ends[0]);
	close(ends[1]);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(nothing_at_first),	      TEST(a_line_when_it_takes_long), TEST(the_total_may_be_unknown),
		TEST(lines_fit_the_terminal), TEST(hidden_lines_come_back),    TEST(nothing_in_a_pipe),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
