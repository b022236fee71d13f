// SPDX-License-Identifier: Apache-2.0
/* Unit tests of a classification in shards: how the jobs of a cluster get its command line, and how
 * their results are merged. */
#include "finding-fixture.h"
#include "golden.h"

#include "base/error.h"
#include "base/scratch.h"
#include "classify/shards.h"

#include <fcntl.h>
#include <unistd.h>

static char *directory, here[4096];
static int input;

static int begin(void **state)
{
	(void)state;
	input = dup(STDIN_FILENO);
	return !getcwd(here, sizeof here) || rd_scratch_open(&directory, NULL, "raddle-u-shards");
}

static int end(void **state)
{
	(void)state;
	dup2(input, STDIN_FILENO);
	close(input);
	rd_scratch_close(directory);
	return chdir(here);
}

/* Makes the text the standard input. */
static void type(const char *text)
{
	int fd[2];

	assert_int_equal(pipe(fd), 0);
	assert_int_equal(write(fd[1], text, strlen(text)), (ssize_t)strlen(text));
	close(fd[1]);
	dup2(fd[0], STDIN_FILENO);
	close(fd[0]);
}

static void words_directory_and_input_come_back(void **state)
{
	char *words[] = {(char[]){"classify"}, (char[]){"two words"}, (char[]){""}, (char[]){"--"}, NULL};
	struct classify_shard s = {.directory = directory};
	struct rd_argv again = RD_ARGV_INIT;
	char now[4096], text[16] = "";

	(void)state;
	type("input\n");
	assert_int_equal(classify_shards_save(directory, words), RD_OK);
	assert_int_equal(chdir("/"), 0);
	type("other\n");
	assert_int_equal(classify_shard_load(&s, &again), RD_OK);
	assert_string_equal(getcwd(now, sizeof now), here);
	assert_int_equal(again.count, 4);
	for (size_t i = 0; i < again.count; i++)
		assert_string_equal(again.items[i], words[i]);
	assert_false(s.terminal);
	assert_int_equal(read(STDIN_FILENO, text, sizeof text - 1), 6);
	assert_string_equal(text, "input\n");
	rd_argv_release(&again);
}

static void damaged_commands(void **state)
{
	struct classify_shard s = {.directory = directory};
	struct rd_argv again = RD_ARGV_INIT;
	char *path = rd_xasprintf("%s/command", directory);

	(void)state;
	rd_log_set(rd_log_discard, NULL);
	assert_true(classify_shard_load(&s, &again) < 0); /* the file does not exist */
	/* the last word has no zero byte */
	assert_int_equal(rd_file_write(path, "/\0classify", 10), RD_OK);
	assert_true(classify_shard_load(&s, &again) < 0);
	assert_int_equal(rd_file_write(path, "/", 2), RD_OK); /* a directory, but no words */
	assert_true(classify_shard_load(&s, &again) < 0);
	rd_log_set(NULL, NULL);
	rd_argv_release(&again);
	free(path);
}

/* Results of earlier shards are removed, so that they are not taken for new ones. */
static void old_parts_are_removed(void **state)
{
	char *words[] = {(char[]){"classify"}, NULL}, *part = classify_shard_path(directory, 3);

	(void)state;
	assert_int_equal(rd_file_write(part, "{}", 2), RD_OK);
	type("");
	assert_int_equal(classify_shards_save(directory, words), RD_OK);
	assert_false(rd_file_exists(part));
	free(part);
}

static void write_part(unsigned number, const struct finding_set *set)
{
	char *path = classify_shard_path(directory, number);
	FILE *out = fopen(path, "w");

	assert_int_equal(finding_write(set, out), RD_OK);
	assert_int_equal(fclose(out), 0);
	free(path);
}

/* A finding of a shard replaces the one with the same id; others are added. */
static void parts_are_put_together(void **state)
{
	struct finding_set *set = fixture_set(), *part = fixture_set();
	struct classify_result r = {0};
	size_t count = set->count;

	(void)state;
	for (size_t i = 0; i < part->count; i++)
		part->items[i]->schedule_path = NULL; /* the fixture's path is not a file */
	part->count = 1;
	part->items[0]->class = FINDING_SPEC_VIOLATED;
	finding_stat(part, "classified", 1);
	write_part(0, part);
	strcpy(part->items[0]->id, "00000000000000aa");
	write_part(1, part);
	set->items[0]->class = FINDING_NO_CLASS;
	assert_int_equal(classify_shards_collect(directory, set, &r), RD_OK);
	assert_int_equal(set->count, count + 1);
	assert_int_equal(set->items[0]->class, FINDING_SPEC_VIOLATED);
	assert_string_equal(set->items[count]->id, "00000000000000aa");
	assert_int_equal(r.classified, 2);
	assert_int_equal(r.set_count, 2);
	finding_set_free(set);
	finding_set_free(part);
	for (size_t i = 0; i < r.set_count; i++)
		finding_set_free(r.sets[i]);
	free(r.sets);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, begin, end)
	const struct CMUnitTest tests[] = {
		T(words_directory_and_input_come_back),
		T(damaged_commands),
		T(old_parts_are_removed),
		T(parts_are_put_together),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
