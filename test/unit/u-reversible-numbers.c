// SPDX-License-Identifier: Apache-2.0
/*
 * Unit tests of the numbers (q) that order events.  They are compared as numbers: equal ones hide
 * no conflict, and 10 comes after 9 (situations R10 and R11 of doc/design/situations.md).
 */
#include "epa-fixture.h"
#include "reversible/reversible.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#define STACK 0x7ffd00000000ull
#define STACKS 0x7f0000000000ull
#define SHARED (FIX_PROGRAM + 0x100)

static void create(struct fix *f, unsigned thread, uint64_t q)
{
	f->q = q - 1;
	FIX_EVENT(f, 0, RADDLE_THREAD_CREATE, thread, thread - 1, 0);
}

static void start(struct fix *f, unsigned thread, uint64_t q)
{
	f->q = q - 1;
	FIX_EVENT(f, thread, RADDLE_THREAD_START, 0, thread - 1, STACKS + thread * 0x100000, 0x10000,
		  1 + thread);
}

static enum rev_verdict verdict(struct fix *f)
{
	struct epa_source *source = fix_source(f);
	struct rev_options options = {0};
	struct rev_result *x;
	enum rev_verdict answer;
	assert_int_equal(rev_check(&x, source, &options), 0);
	answer = x->verdict;
	rev_result_free(x);
	epa_source_close(source);
	fix_release(f);
	return answer;
}

/* The starts of the two threads have the same number, and so have their ends.  So their stores may
 * happen in either order. */
static void equal_numbers(void **state)
{
	struct fix f;
	(void)state;
	fix_init(&f);
	fix_begin(&f, STACK, FIX_PROGRAM);
	create(&f, 1, 5);
	create(&f, 2, 6);
	for (unsigned i = 1; i <= 2; i++) {
		start(&f, i, 7);
		FIX(&f, i, FIX_STORE, SHARED, i);
		f.q = 8;
		FIX_EVENT(&f, i, RADDLE_THREAD_END, 0);
	}
	f.q = 20;
	FIX_EVENT(&f, 0, RADDLE_THREAD_JOIN, 1, 0);
	FIX_EVENT(&f, 0, RADDLE_THREAD_JOIN, 2, 0);
	FIX_EVENT(&f, 0, RADDLE_EXIT, 0);
	assert_int_equal(verdict(&f), REV_NO);
}

/* The numbers gain a digit between the creation and the start of a thread, and between its end and
 * the join. */
static void more_digits(void **state)
{
	for (uint64_t q = 9; q < 2000000; q = q * 10 + 9) {
		struct fix f;
		(void)state;
		fix_init(&f);
		fix_begin(&f, STACK, FIX_PROGRAM);
		FIX(&f, 0, FIX_STORE, SHARED, 1);
		create(&f, 1, q);
		start(&f, 1, q + 1);
		FIX(&f, 1, FIX_STORE, SHARED, 2);
		f.q = q * 10 + 8;
		FIX_EVENT(&f, 1, RADDLE_THREAD_END, 0);
		FIX_EVENT(&f, 0, RADDLE_THREAD_JOIN, 1, 0);
		FIX(&f, 0, FIX_LOAD, SHARED, 2);
		FIX_EVENT(&f, 0, RADDLE_EXIT, 0);
		assert_int_equal(verdict(&f), REV_YES);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equal_numbers),
		cmocka_unit_test(more_digits),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
