// SPDX-License-Identifier: Apache-2.0
/* Unit tests of rt/steer/expect.c: which signals other processes send, and which memory they share. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "rt/steer/expect-int.h"

#include <signal.h>

static uint64_t bit(int number)
{
	return 1ull << (number - 1);
}

static void test_signals(void **state)
{
	static const int outer[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGIO, 34, 64};
	static const int inner[] = {SIGSEGV, SIGBUS,  SIGFPE,  SIGILL,	SIGABRT,   SIGTRAP, SIGSYS, SIGPIPE,
				    SIGXCPU, SIGXFSZ, SIGALRM, SIGPROF, SIGVTALRM, SIGCHLD, 32,	    33};
	uint64_t all = 0, wanted = 0;

	(void)state;
	for (size_t i = 0; i < sizeof outer / sizeof *outer; i++) {
		assert_true(rt_expect_signals(bit(outer[i])) == bit(outer[i]));
		all |= bit(outer[i]);
		wanted |= bit(outer[i]);
	}
	for (size_t i = 0; i < sizeof inner / sizeof *inner; i++) {
		assert_true(rt_expect_signals(bit(inner[i])) == 0);
		all |= bit(inner[i]);
	}
	assert_true(rt_expect_signals(all) == wanted);
	assert_true(rt_expect_signals(0) == 0);
}

static void test_memory(void **state)
{
	static const char shared[] = "7f00a000-7f00c000 rw-s 00000000 00:01 5 /dev/zero (deleted)",
			  private[] = "7f00a000-7f00c000 rw-p 00000000 00:00 0",
			  read_only[] = "7f00a000-7f00c000 r--s 00000000 08:01 9 /tmp/file";

	(void)state;
	assert_true(rt_expect_is_shared(shared, 0x7f00a000));
	assert_true(rt_expect_is_shared(shared, 0x7f00bfff));
	assert_false(rt_expect_is_shared(shared, 0x7f009fff));
	assert_false(rt_expect_is_shared(shared, 0x7f00c000));
	assert_false(rt_expect_is_shared(private, 0x7f00a000));
	/* Another process may write to memory that this process can only read. */
	assert_true(rt_expect_is_shared(read_only, 0x7f00b000));
	assert_false(rt_expect_is_shared("", 0));
	assert_false(rt_expect_is_shared("7f00a000", 0x7f00a000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_signals),
		cmocka_unit_test(test_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
