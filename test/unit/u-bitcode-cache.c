// SPDX-License-Identifier: Apache-2.0
/* Unit tests of bitcode/cache.h: storing, racing and trimming. */
#include "base/alloc.h"
#include "base/file.h"
#include "bitcode/cache.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

static char directory[] = "/tmp/raddle-u-bitcode-cache-XXXXXX";

static int enter(void **state)
{
	(void)state;
	return mkdtemp(directory) && setenv("RADDLE_CACHE", directory, 1) == 0 ? 0 : -1;
}

static int leave(void **state)
{
	(void)state;
	return rd_remove_tree(directory);
}

/* A unit of `size` bytes that was last used `age` seconds ago. */
static char *put_unit(struct bitcode_cache *c, const char *key, size_t size, int age)
{
	char *from = rd_xasprintf("%s/u.o", c->work), *to = bitcode_cache_unit(c, key, ".o");
	char *bytes = rd_xcalloc(1, size);
	struct timespec when[2] = {{.tv_sec = time(NULL) - age}, {.tv_sec = time(NULL) - age}};

	assert_int_equal(rd_file_write(from, bytes, size), 0);
	assert_int_equal(bitcode_cache_store(from, to), 0);
	assert_int_equal(utimensat(AT_FDCWD, to, when, 0), 0);
	free(bytes);
	free(from);
	return to;
}

static void trims_the_oldest(void **state)
{
	struct bitcode_cache c;
	char *old, *middle, *recent;

	(void)state;
	assert_int_equal(bitcode_cache_open(&c), 0);
	assert_int_equal(bitcode_cache_begin(&c), 0);
	old = put_unit(&c, "aa00", 1 << 20, 9000);
	middle = put_unit(&c, "ab00", 1 << 20, 8000);
	recent = put_unit(&c, "ac00", 1 << 20, 10);
	bitcode_cache_trim(&c, 4 << 20, 3600);
	assert_true(rd_file_exists(old));
	bitcode_cache_trim(&c, (2 << 20) + (64 << 10), 3600);
	assert_false(rd_file_exists(old));
	assert_true(rd_file_exists(middle));
	/* What was used just now stays, however small the limit. */
	bitcode_cache_trim(&c, 0, 3600);
	assert_false(rd_file_exists(middle));
	assert_true(rd_file_exists(recent));
	free(old);
	free(middle);
	free(recent);
	bitcode_cache_close(&c);
}

static void touching_saves(void **state)
{
	struct bitcode_cache c;
	char *one, *two;

	(void)state;
	assert_int_equal(bitcode_cache_open(&c), 0);
	assert_int_equal(bitcode_cache_begin(&c), 0);
	one = put_unit(&c, "ba00", 1 << 20, 9000);
	two = put_unit(&c, "bb00", 1 << 20, 8000);
	bitcode_cache_touch(one);
	bitcode_cache_trim(&c, 0, 3600);
	assert_true(rd_file_exists(one));
	assert_false(rd_file_exists(two));
	free(one);
	free(two);
	bitcode_cache_close(&c);
}

/* Two builds of one flavour: the first stays, the second is no error. */
static void second_tree_loses(void **state)
{
	struct bitcode_cache c;
	char *final, *stage, *file;
	struct rd_buf content = RD_BUF_INIT;
	char *work;

	(void)state;
	assert_int_equal(bitcode_cache_open(&c), 0);
	assert_int_equal(bitcode_cache_begin(&c), 0);
	final = bitcode_cache_flavour(&c, "k");
	stage = rd_xasprintf("%s/flavour", c.work);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(rd_mkdirs(stage), 0);
		file = rd_xasprintf("%s/name", stage);
		assert_int_equal(rd_file_write(file, i ? "second" : "first", i ? 6 : 5), 0);
		free(file);
		assert_int_equal(bitcode_cache_store_tree(stage, final), 0);
	}
	file = rd_xasprintf("%s/name", final);
	assert_int_equal(rd_file_read(file, &content), 0);
	assert_string_equal(content.data, "first");
	work = rd_xstrdup(c.work);
	bitcode_cache_close(&c);
	assert_false(rd_file_exists(work));
	free(work);
	free(file);
	free(final);
	free(stage);
	rd_buf_release(&content);
}

static void keys(void **state)
{
	char text[BITCODE_KEY_TEXT];

	(void)state;
	bitcode_key_text((XXH128_hash_t){.low64 = 0x12, .high64 = 0xab}, text);
	assert_string_equal(text, "00000000000000ab0000000000000012");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(trims_the_oldest),
		cmocka_unit_test(touching_saves),
		cmocka_unit_test(second_tree_loses),
		cmocka_unit_test(keys),
	};
	return cmocka_run_group_tests(tests, enter, leave);
}
