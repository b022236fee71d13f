// SPDX-License-Identifier: Apache-2.0
/*
 * Unit tests of the reversibility check with a large block that one thread releases and another
 * uses, anywhere in the block, before or after the release.  The check must see all these uses, but
 * only those of the same allocation.
 */
#include "epa-fixture.h"
#include "reversible/certificate.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stdlib.h>

#define STACK 0x7ffd00000000ull
#define STACKS 0x7f0000000000ull
#define BLOCK 0x602000000000ull
#define SIZE 0x200000ull

static void begin(struct fix *f)
{
	fix_init(f);
	fix_begin(f, STACK, FIX_PROGRAM);
	FIX_EVENT(f, 0, RADDLE_ALLOC, BLOCK, SIZE, RADDLE_ALLOC_MALLOC);
	for (unsigned i = 1; i <= 2; i++) {
		FIX_EVENT(f, 0, RADDLE_THREAD_CREATE, i, i - 1, 0);
		FIX_EVENT(f, i, RADDLE_THREAD_START, 0, i - 1, STACKS + i * 0x100000, 0x10000, 1 + i);
	}
}

/* Returns the verdict.  If it is yes, its certificate must be valid. */
static enum rev_verdict end(struct fix *f)
{
	struct epa_source *source;
	struct rev_options options = {.log = true};
	struct rd_buf text = RD_BUF_INIT;
	struct rev_certificate c;
	struct rev_result *x;
	enum rev_verdict verdict;
	char *why = NULL;
	for (unsigned i = 1; i <= 2; i++)
		FIX_EVENT(f, i, RADDLE_THREAD_END, 0);
	for (unsigned i = 1; i <= 2; i++)
		FIX_EVENT(f, 0, RADDLE_THREAD_JOIN, i, 0);
	FIX_EVENT(f, 0, RADDLE_EXIT, 0);
	source = fix_source(f);
	assert_int_equal(rev_check(&x, source, &options), 0);
	verdict = x->verdict;
	rev_certificate_write(x, "trace", &text);
	assert_int_equal(rev_certificate_parse(&c, text.data, text.length, "certificate"), 0);
	assert_int_equal(rev_certificate_check(&c, source, 0, &why), 0);
	assert_int_equal(why == NULL, verdict == REV_YES);
	free(why);
	rev_certificate_release(&c);
	rd_buf_release(&text);
	rev_result_free(x);
	epa_source_close(source);
	fix_release(f);
	return verdict;
}

static const uint64_t places[] = {0, 8, 65528, 65536, 70000, SIZE - 8};
#define PLACES (sizeof places / sizeof *places)

static void used_before(void **state)
{
	struct fix f;
	(void)state;
	for (size_t i = 0; i < PLACES; i++) {
		begin(&f);
		FIX(&f, 1, FIX_LOAD, BLOCK + places[i], 1);
		FIX_EVENT(&f, 2, RADDLE_FREE, BLOCK);
		assert_int_equal(end(&f), REV_NO);
	}
}

static void used_after(void **state)
{
	struct fix f;
	(void)state;
	for (size_t i = 0; i < PLACES; i++) {
		begin(&f);
		FIX_EVENT(&f, 2, RADDLE_FREE, BLOCK);
		FIX_EVENT(&f, 1, RADDLE_SEM_INIT, FIX_PROGRAM + 0x200, 0,
			  1); /* a later operation, which orders nothing */
		FIX(&f, 1, FIX_LOAD, BLOCK + places[i], 1);
		assert_int_equal(end(&f), REV_NO);
	}
}

/* If the block was used before its release, some pages of the shadow memory exist already. */
static void used_before_and_after(void **state)
{
	struct fix f;
	(void)state;
	for (size_t i = 0; i < PLACES; i++) {
		begin(&f);
		FIX(&f, 2, FIX_STORE, BLOCK + (places[i] & ~511ull) + 256, 1);
		FIX_EVENT(&f, 2, RADDLE_FREE, BLOCK);
		FIX_EVENT(&f, 1, RADDLE_SEM_INIT, FIX_PROGRAM + 0x200, 0, 1);
		FIX(&f, 1, FIX_LOAD, BLOCK + places[i], 1);
		assert_int_equal(end(&f), REV_NO);
	}
}

static void lives_again(void **state)
{
	struct fix f;
	(void)state;
	for (size_t i = 0; i < PLACES; i++) {
		uint64_t start = places[i] & ~511ull;
		begin(&f);
		FIX_EVENT(&f, 2, RADDLE_FREE, BLOCK);
		FIX_EVENT(&f, 1, RADDLE_ALLOC, BLOCK + start, 512, RADDLE_ALLOC_MALLOC);
		FIX(&f, 1, FIX_STORE, BLOCK + start, 1);
		FIX(&f, 1, FIX_LOAD, BLOCK + start + 504, 1);
		assert_int_equal(end(&f), REV_YES);

		/* Memory after the new block still belongs to the old one. */
		begin(&f);
		FIX_EVENT(&f, 2, RADDLE_FREE, BLOCK);
		FIX_EVENT(&f, 1, RADDLE_ALLOC, BLOCK + 4096, 4096, RADDLE_ALLOC_MALLOC);
		FIX(&f, 1, FIX_LOAD, BLOCK + 8192 + start % (SIZE - 8192), 1);
		assert_int_equal(end(&f), REV_NO);
	}
}

static void own_block(void **state)
{
	struct fix f;
	(void)state;
	begin(&f);
	FIX(&f, 2, FIX_STORE, BLOCK + 100000, 1);
	FIX_EVENT(&f, 2, RADDLE_FREE, BLOCK);
	FIX(&f, 2, FIX_LOAD, BLOCK + 200000, 1);
	assert_int_equal(end(&f), REV_YES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(used_before),
		cmocka_unit_test(used_after),
		cmocka_unit_test(used_before_and_after),
		cmocka_unit_test(lives_again),
		cmocka_unit_test(own_block),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
