/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of the code that all runtimes share (rt/common/): which bytes a watchpoint can watch,
 * traps that no watchpoint caused, the lookup of real functions, and assertions.
 */
#include "rt/common/bug.h"
#include "rt/common/exported.c"
#include "rt/common/resolve.c"
#include "rt/common/watchpoint.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include <cmocka.h>

/* The length of a watchpoint is the largest of 8, 4, 2 and 1 that divides the address and does not
 * exceed the requested length. */
static void watched_bytes_are_aligned(void **state)
{
	(void)state;
	for (uintptr_t address = 64; address < 80; address++)
		for (uint64_t size = 1; size <= 40; size++) {
			uint64_t expected = 1;

			for (uint64_t n = 2; n <= 8; n *= 2)
				if (size >= n && address % n == 0)
					expected = n;
			assert_int_equal(rt_watchpoint_length(address, size), expected);
		}
}

static volatile int hits, others;

static bool hit(uint64_t data, const void *context)
{
	(void)data;
	(void)context;
	hits++;
	return true;
}

static void other(int number)
{
	(void)number;
	others++;
}

static void other_traps_reach_their_handler(void **state)
{
	struct sigaction action = {.sa_handler = other}, now;

	(void)state;
	hits = others = 0;
	assert_int_equal(sigaction(SIGTRAP, &action, NULL), 0);
	assert_true(rt_watchpoint_catch(hit));
	raise(SIGTRAP);
	assert_int_equal(others, 1);
	assert_int_equal(hits, 0);
	assert_int_equal(sigaction(SIGTRAP, &traps.before, &now), 0);
	assert_ptr_equal(now.sa_sigaction, trapped);
}

/* The system may refuse watchpoints.  If it does not, a write is a hit. */
static void a_write_is_a_hit(void **state)
{
	static volatile uint64_t variable;
	struct rt_watched watched = {.address = (uintptr_t)&variable, .length = 8, .data = 77};
	int w = rt_watchpoint_open(77);

	(void)state;
	if (w < 0)
		skip();
	hits = 0;
	assert_true(rt_watchpoint_catch(hit));
	if (rt_watchpoint_move(w, &watched)) {
		variable = 1;
		assert_int_equal(hits, 1);
		rt_watchpoint_disable(w);
		variable = 2;
		assert_int_equal(hits, 1);
	}
	rt_watchpoint_close(w);
	signal(SIGTRAP, SIG_DFL);
}

static void names_of_libraries_are_found(void **state)
{
	(void)state;
	assert_true(rt_is_exported("malloc"));
	assert_true(rt_is_exported("pthread_cond_wait"));
	assert_false(rt_is_exported("no_library_has_this"));
	assert_false(rt_is_exported("main"));
	assert_null(rt_find_real("no_library_has_this"));
	assert_ptr_equal(rt_find_real("malloc"), dlsym(RTLD_NEXT, "malloc"));
}

static void what_is_not_found_stays(void **state)
{
	struct {
		void *first, *second;
	} to = {&to, &to};
	static const struct rt_function table[] = {{"free", 0}, {"no_library_has_this", sizeof(void *)}};

	(void)state;
	rt_find_all(table, 2, &to);
	assert_ptr_equal(to.first, dlsym(RTLD_NEXT, "free"));
	assert_ptr_equal(to.second, &to);
}

static void resolving_is_not_entered_twice(void **state)
{
	(void)state;
	assert_true(rt_resolve_begin());
	assert_false(rt_resolve_begin());
	rt_resolve_end();
	assert_true(rt_resolve_begin());
	rt_resolve_end();
}

/* A failed assertion prints one line and raises SIGABRT, even if the program handles that
 * signal. */
static void a_broken_invariant_is_reported(void **state)
{
	char text[512];
	int ends[2], status;
	ssize_t n;
	pid_t child;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	child = fork();
	if (!child) {
		signal(SIGABRT, SIG_IGN);
		dup2(ends[1], 2);
		RT_ASSERT(1 + 1 == 2);
		RT_ASSERT(1 + 1 == 3);
		_exit(0);
	}
	close(ends[1]);
	n = read(ends[0], text, sizeof text - 1);
	assert_true(n > 0);
	text[n] = 0;
	assert_non_null(strstr(text, "u-rt-common.c:"));
	assert_non_null(strstr(text, "1 + 1 == 3\n"));
	assert_null(strstr(text, "== 2"));
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
	close(ends[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(watched_bytes_are_aligned),
					   cmocka_unit_test(other_traps_reach_their_handler),
					   cmocka_unit_test(a_write_is_a_hit),
					   cmocka_unit_test(names_of_libraries_are_found),
					   cmocka_unit_test(what_is_not_found_stays),
					   cmocka_unit_test(resolving_is_not_entered_twice),
					   cmocka_unit_test(a_broken_invariant_is_reported)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
