// SPDX-License-Identifier: Apache-2.0
/* Unit tests of variable-length numbers.  Numbers of all lengths are read back, also by a slow
 * reader.  Truncated and overlong ones are reported. */
#include "base/varint.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

/* The slow reader: takes the bytes as digits of base 128. */
static unsigned __int128 slow(const uint8_t *p, size_t length)
{
	return length ? (p[0] & 0x7f) + 128 * slow(p + 1, length - 1) : 0;
}

static void check(uint64_t v)
{
	struct rd_buf b = RD_BUF_INIT;
	const uint8_t *p, *end;
	uint64_t got;

	rd_varint_put(&b, v);
	p = (const uint8_t *)b.data;
	end = p + b.length;
	assert_true(slow(p, b.length) == v);
	for (const uint8_t *cut = p; cut < end; cut++) {
		const uint8_t *at = p;

		assert_int_equal(rd_varint_get(&at, cut, &got), RD_VARINT_CUT);
	}
	assert_int_equal(rd_varint_get(&p, end, &got), RD_VARINT_OK);
	assert_true(got == v && p == end);
	assert_true(rd_unzigzag(rd_zigzag(v)) == v);
	rd_buf_release(&b);
}

static void test_numbers(void **state)
{
	(void)state;
	for (unsigned shift = 0; shift < 64; shift++)
		for (int more = -1; more <= 1; more++)
			check((1ull << shift) + (uint64_t)more);
	assert_int_equal(rd_zigzag((uint64_t)-1), 1);
	assert_int_equal(rd_zigzag(1), 2);
}

static void test_long(void **state)
{
	uint8_t bytes[12] = {0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 2};
	const uint8_t *p = bytes;
	uint64_t v;

	(void)state;
	assert_int_equal(rd_varint_get(&p, bytes + sizeof bytes, &v), RD_VARINT_LONG);
	bytes[9] = 1;
	p = bytes;
	assert_int_equal(rd_varint_get(&p, bytes + sizeof bytes, &v), RD_VARINT_OK);
	assert_true(v == 1ull << 63);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_long),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
