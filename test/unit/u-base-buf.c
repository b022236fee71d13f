// SPDX-License-Identifier: Apache-2.0
/* Unit tests of base/buf.h and base/alloc.h. */
#include "base/alloc.h"
#include "base/buf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void empty_buffer_is_a_string(void **state)
{
	struct rd_buf b = RD_BUF_INIT;

	(void)state;
	assert_string_equal(b.data, "");
	rd_buf_add(&b, "x", 0);
	rd_buf_clear(&b);
	assert_int_equal(b.capacity, 0);
	rd_buf_release(&b);
	assert_string_equal(b.data, "");
}

static void buffer_grows_and_stays_terminated(void **state)
{
	struct rd_buf b = RD_BUF_INIT;

	(void)state;
	for (int i = 0; i < 10000; i++) {
		rd_buf_addc(&b, (char)('a' + i % 26));
		assert_int_equal(b.data[b.length], 0);
	}
	assert_int_equal(b.length, 10000);
	for (int i = 0; i < 10000; i++)
		assert_int_equal(b.data[i], 'a' + i % 26);
	rd_buf_clear(&b);
	assert_string_equal(b.data, "");
	assert_true(b.capacity > 10000);
	rd_buf_release(&b);
}

static void buffer_keeps_binary_bytes(void **state)
{
	struct rd_buf b = RD_BUF_INIT;

	(void)state;
	rd_buf_add(&b, "a\0b", 3);
	rd_buf_adds(&b, "c");
	assert_int_equal(b.length, 4);
	assert_memory_equal(b.data, "a\0bc", 5);
	rd_buf_release(&b);
}

/* Texts longer than the free space are formatted twice.  The lengths go across that limit. */
static void formatting_fits_every_length(void **state)
{
	char expect[400];

	(void)state;
	for (int n = 0; n < 300; n++) {
		struct rd_buf b = RD_BUF_INIT;

		rd_buf_addf(&b, "%d:%*s", n, n, "");
		snprintf(expect, sizeof expect, "%d:%*s", n, n, "");
		assert_string_equal(b.data, expect);
		assert_int_equal(b.length, strlen(expect));
		rd_buf_addf(&b, "%s", expect);
		assert_int_equal(b.length, 2 * strlen(expect));
		rd_buf_release(&b);
	}
}

static void detach_gives_the_string_away(void **state)
{
	struct rd_buf b = RD_BUF_INIT;
	char *s = rd_buf_detach(&b);

	(void)state;
	assert_string_equal(s, "");
	free(s);
	rd_buf_adds(&b, "hello");
	s = rd_buf_detach(&b);
	assert_string_equal(s, "hello");
	assert_string_equal(b.data, "");
	assert_int_equal(b.length, 0);
	free(s);
}

static void reserve_gives_room(void **state)
{
	struct rd_buf b = RD_BUF_INIT;

	(void)state;
	for (size_t n = 0; n < 2000; n += 7) {
		rd_buf_reserve(&b, n);
		assert_true(b.capacity - b.length > n);
		memset(b.data + b.length, 'x', n);
		b.length += n / 2;
		b.data[b.length] = '\0';
	}
	rd_buf_release(&b);
}

static void grow_keeps_elements(void **state)
{
	uint32_t *items = NULL;
	size_t capacity = 0;

	(void)state;
	for (uint32_t i = 0; i < 5000; i++) {
		RD_GROW(items, capacity, i + 1u);
		assert_true(capacity > i);
		items[i] = i * 3;
	}
	for (uint32_t i = 0; i < 5000; i++)
		assert_int_equal(items[i], i * 3);
	free(items);
}

static void arena_is_zeroed_and_aligned(void **state)
{
	struct rd_arena *arena = rd_arena_new();

	(void)state;
	for (size_t n = 0; n < 3000; n += 13) {
		unsigned char *p = rd_arena_alloc(arena, n);

		assert_int_equal((uintptr_t)p % 16, 0);
		for (size_t i = 0; i < n; i++) {
			assert_int_equal(p[i], 0);
			p[i] = 0xee;
		}
	}
	assert_non_null(memset(rd_arena_alloc(arena, 1 << 20), 1, 1 << 20));
	assert_string_equal(rd_arena_strndup(arena, "threads", 6), "thread");
	assert_string_equal(rd_arena_strndup(arena, "ab", 10), "ab");
	assert_string_equal(rd_arena_strndup(arena, NULL, 0), "");
	rd_arena_free(arena);
	rd_arena_free(NULL);
}

static void small_helpers(void **state)
{
	char *s = rd_xasprintf("%s-%d", "t", 7);

	(void)state;
	assert_string_equal(s, "t-7");
	free(s);
	s = rd_xstrndup("abc", 2);
	assert_string_equal(s, "ab");
	free(s);
	free(rd_xmalloc(0));
	free(rd_xcalloc(0, 8));
}

static void a_shell_reads_words_back(void **state)
{
	static const char *const table[][2] = {
		{"./a.out", "./a.out"}, {"", "''"}, {"a b", "'a b'"}, {"it's", "'it'\\''s'"}, {"$x", "'$x'"}};
	struct rd_buf b = RD_BUF_INIT;
	(void)state;
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		rd_buf_clear(&b);
		rd_buf_add_shell(&b, table[i][0]);
		assert_string_equal(b.data, table[i][1]);
	}
	rd_buf_release(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(empty_buffer_is_a_string),
		cmocka_unit_test(buffer_grows_and_stays_terminated),
		cmocka_unit_test(buffer_keeps_binary_bytes),
		cmocka_unit_test(formatting_fits_every_length),
		cmocka_unit_test(detach_gives_the_string_away),
		cmocka_unit_test(reserve_gives_room),
		cmocka_unit_test(grow_keeps_elements),
		cmocka_unit_test(arena_is_zeroed_and_aligned),
		cmocka_unit_test(small_helpers),
		cmocka_unit_test(a_shell_reads_words_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
