// SPDX-License-Identifier: Apache-2.0
/*
 * Unit tests of certificates that prove something other than they should: what the solver proved
 * about one pair must not be used for another.
 */
#include "epa-fixture.h"
#include "reversible/certificate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stdlib.h>

#define STACK 0x7ffd00000000ull
#define STACKS 0x7f0000000000ull
#define SHARED (FIX_PROGRAM + 0x100)
#define GO (FIX_PROGRAM + 0x200)
#define OTHER (FIX_PROGRAM + 0x240)
#define MANY 65537u

/* Threads 1 and 2 write the same variable after their first operation.  Thread 3 waits until thread
 * 1 has continued, and has so many operations that number 65537 occurs. */
static struct epa_source *make_race(struct fix *f)
{
	fix_init(f);
	fix_begin(f, STACK, FIX_PROGRAM);
	FIX_EVENT(f, 0, RADDLE_SEM_INIT, GO, 0, 0);
	FIX_EVENT(f, 0, RADDLE_SEM_INIT, OTHER, 0, 0);
	for (unsigned i = 1; i <= 3; i++)
		FIX_EVENT(f, 0, RADDLE_THREAD_CREATE, i, i - 1, 0);
	for (unsigned i = 1; i <= 3; i++)
		FIX_EVENT(f, i, RADDLE_THREAD_START, 0, i - 1, STACKS + i * 0x100000, 0x10000, 1 + i);
	FIX(f, 1, FIX_STORE, SHARED, 1);
	FIX(f, 2, FIX_STORE, SHARED, 2);
	FIX_EVENT(f, 1, RADDLE_SEM_POST, GO, 0);
	FIX_EVENT(f, 3, RADDLE_SEM_WAIT, GO, 0);
	for (unsigned i = 2; i < MANY + 1; i++)
		FIX_EVENT(f, 3, RADDLE_SEM_POST, OTHER, 0);
	for (unsigned i = 1; i <= 3; i++)
		FIX_EVENT(f, i, RADDLE_THREAD_END, 0);
	for (unsigned i = 1; i <= 3; i++)
		FIX_EVENT(f, 0, RADDLE_THREAD_JOIN, i, 0);
	FIX_EVENT(f, 0, RADDLE_EXIT, 0);
	return fix_source(f);
}

/* Returns why the checker refuses the steps of this run, after one proved pair was added. */
static char *refusal(struct epa_source *source, const struct rev_pair *pair)
{
	struct rev_options options = {.log = true};
	struct rd_buf text = RD_BUF_INIT;
	struct rev_certificate c;
	struct rev_result *x;
	char *why = NULL;

	assert_int_equal(rev_check(&x, source, &options), 0);
	assert_int_equal(x->verdict, REV_NO);
	assert_int_equal(x->reversal_count, 1);
	assert_true(x->reversals[0].pair.t == 1 && x->reversals[0].pair.s == 1);
	assert_true(x->reversals[0].pair.u == 2 && x->reversals[0].pair.r == 1);
	rev_certificate_write(x, "trace", &text);
	assert_int_equal(rev_certificate_parse(&c, text.data, text.length, "certificate"), 0);
	free(c.proved);
	c.proved = rd_xcalloc(1, sizeof *c.proved);
	c.proved[0] = *pair;
	c.proved_count = 1;
	assert_int_equal(rev_certificate_check(&c, source, 10000, &why), 0);
	rev_certificate_release(&c);
	rd_buf_release(&text);
	rev_result_free(x);
	return why;
}

static void expect(const struct rev_pair *pair, const char *words)
{
	struct fix f;
	struct epa_source *source = make_race(&f);
	char *why = refusal(source, pair);

	assert_non_null(why);
	if (!strstr(why, words))
		fail_msg("%s", why);
	free(why);
	epa_source_close(source);
	fix_release(&f);
}

/* The statement is true, but about another pair.  If 16-bit numbers overflowed, it would become
 * that of the race. */
static void another_pair(void **state)
{
	(void)state;
	expect(&(struct rev_pair){.t = 1, .s = 1, .u = 3, .r = MANY}, "nothing orders");
}

static void no_such_operation(void **state)
{
	(void)state;
	expect(&(struct rev_pair){.t = 1, .s = 1, .u = 2, .r = 100}, "not in the trace");
	expect(&(struct rev_pair){.t = 1, .s = 1, .u = 2, .r = 0}, "not in the trace");
}

static void not_true(void **state)
{
	(void)state;
	expect(&(struct rev_pair){.t = 1, .s = 1, .u = 2, .r = 1}, "does not prove");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(another_pair),
		cmocka_unit_test(no_such_operation),
		cmocka_unit_test(not_true),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
