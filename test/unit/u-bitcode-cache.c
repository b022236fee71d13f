// SPDX-License-Identifier: Apache-2.0
/* Unit tests of bitcode/cache-int.h: storing units, removing old ones, and two builds of one
 * flavour at a time. */
#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "bitcode/cache-int.h"

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

/* Stores a unit whose object has `size` bytes and that was last used `age` seconds ago.  Returns
 * its path without the suffix. */
static char *put_unit_stem(struct bitcode_cache *c, const char *key, size_t size, int age)
{
	static const char *const suffixes[] = {".o", ".sites", ".sum"};
	char *from = rd_xasprintf("%s/u", c->work), *to = bitcode_cache_unit(c, key), *path;
	char *bytes = rd_xcalloc(1, size);
	struct timespec when[2] = {{.tv_sec = time(NULL) - age}, {.tv_sec = time(NULL) - age}};

	for (int i = 0; i < 2; i++) {
		path = rd_xasprintf("%s%s", from, suffixes[i]);
		assert_int_equal(rd_file_write(path, bytes, i ? 10 : size), 0);
		free(path);
	}
	assert_int_equal(bitcode_cache_store_unit(from, to), 0);
	for (int i = 0; i < 3; i++) {
		path = rd_xasprintf("%s%s", to, suffixes[i]);
		assert_int_equal(utimensat(AT_FDCWD, path, when, 0), 0);
		free(path);
	}
	free(bytes);
	free(from);
	return to;
}

/* Does the same, but returns the path of the object. */
static char *put_unit(struct bitcode_cache *c, const char *key, size_t size, int age)
{
	char *stem = put_unit_stem(c, key, size, age), *object = rd_xasprintf("%s.o", stem);

	free(stem);
	return object;
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
	/* A unit that was used just now stays, however small the limit is. */
	bitcode_cache_trim(&c, 0, 3600);
	assert_false(rd_file_exists(middle));
	assert_true(rd_file_exists(recent));
	free(old);
	free(middle);
	free(recent);
	bitcode_cache_close(&c);
}

static void using_saves(void **state)
{
	struct bitcode_cache c;
	char *one, *two;

	(void)state;
	assert_int_equal(bitcode_cache_open(&c), 0);
	assert_int_equal(bitcode_cache_begin(&c), 0);
	one = put_unit_stem(&c, "ba00", 1 << 20, 9000);
	two = put_unit_stem(&c, "bb00", 1 << 20, 8000);
	assert_true(bitcode_cache_has_unit(&c, one));
	bitcode_cache_trim(&c, 0, 3600);
	assert_true(bitcode_cache_has_unit(&c, one));
	assert_false(bitcode_cache_has_unit(&c, two));
	free(one);
	free(two);
	bitcode_cache_close(&c);
}

static void quiet(void *context, enum rd_level level, const char *message)
{
	(void)level;
	(void)message;
	++*(int *)context;
}

/* Changes, shortens or removes a file.  Afterwards its entry must count as absent. */
static void damage(const char *path, int how)
{
	struct rd_buf b = RD_BUF_INIT;

	assert_int_equal(rd_file_read(path, &b), 0);
	if (how == 0)
		b.data[b.length / 2] ^= 1;
	if (how == 2)
		assert_int_equal(unlink(path), 0);
	else
		assert_int_equal(rd_file_write(path, b.data, b.length - (how == 1)), 0);
	rd_buf_release(&b);
}

static void damage_is_noticed(void **state)
{
	static const char *const files[] = {".o", ".sites", ".sum"};
	struct bitcode_cache c;
	int messages = 0;

	(void)state;
	rd_log_set(quiet, &messages);
	assert_int_equal(bitcode_cache_open(&c), 0);
	assert_int_equal(bitcode_cache_begin(&c), 0);
	for (int i = 0; i < 9; i++) {
		char *stem = put_unit_stem(&c, "ca00", 1000, 0),
		     *file = rd_xasprintf("%s%s", stem, files[i % 3]);
		char *stage = rd_xasprintf("%s/stage", c.work), *final = bitcode_cache_flavour(&c, "damaged");
		char *inner = rd_xasprintf("%s/lib", stage), *made = rd_xasprintf("%s/lib/x.so", stage);
		char *kept = rd_xasprintf("%s/lib/x.so", final);

		assert_true(bitcode_cache_has_unit(&c, stem));
		damage(file, i / 3);
		assert_false(bitcode_cache_has_unit(&c, stem));
		assert_int_equal(rd_mkdirs(inner), 0);
		assert_int_equal(rd_file_write(made, "library", 7), 0);
		assert_int_equal(bitcode_cache_store_tree(stage, final), 0);
		assert_true(bitcode_cache_has_flavour(&c, final));
		damage(kept, i / 3);
		assert_false(bitcode_cache_has_flavour(&c, final));
		assert_false(rd_file_exists(final));
		free(stem);
		free(file);
		free(stage);
		free(final);
		free(inner);
		free(made);
		free(kept);
	}
	rd_log_set(NULL, NULL);
	/* A unit without its hash counts as never stored, which is not worth a message. */
	assert_int_equal(messages, 9 + 9 - 1);
	bitcode_cache_close(&c);
}

/* If two builds store the same flavour, the first one stays, and the second one does not fail. */
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
		cmocka_unit_test(using_saves),
		cmocka_unit_test(damage_is_noticed),
		cmocka_unit_test(second_tree_loses),
		cmocka_unit_test(keys),
	};
	return cmocka_run_group_tests(tests, enter, leave);
}
