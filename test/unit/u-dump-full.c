// SPDX-License-Identifier: Apache-2.0
/* Unit tests of dump/ with full traces: records selected by thread and kind, counts, and canonical
 * names. */
#include "dumped.h"

#include "dump/sanitize.h"

static char *sanitized(const char *name, const struct dump_sanitize_options *how, int expected)
{
	char *path = tree_path(name), *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	assert_int_equal(dump_sanitized(path, how, out), expected);
	assert_int_equal(fclose(out), 0);
	free(path);
	return text;
}

static json_int_t count_of(const json_t *root, const char *kind)
{
	return (json_int_t)json_number_value(json_object_get(json_object_get(root, "kinds"), kind));
}

/* The counts agree with the records that are shown. */
static void counts_are_those_of_the_records(void **state)
{
	json_t *counts = dumped_json("trace/full-v2", &(struct dump_options){.count = true, .json = true});
	char *loads = dumped("trace/full-v2", &(struct dump_options){.kinds = "load"});
	char *some = dumped("trace/full-v2", &(struct dump_options){.kinds = "load,store"});
	char *all = dumped("trace/full-v2", &(struct dump_options){0});

	(void)state;
	assert_true(count_of(counts, "load") > 0);
	assert_int_equal(lines_of(loads), count_of(counts, "load"));
	assert_int_equal(lines_of(some), count_of(counts, "load") + count_of(counts, "store"));
	assert_int_equal(lines_of(all), (json_int_t)json_number_value(json_object_get(counts, "records")));
	assert_true(json_is_true(json_object_get(counts, "sound")));
	free(loads);
	free(some);
	free(all);
	json_decref(counts);
}

/* Full traces have no model, so their summary consists of the counts. */
static void summary_is_the_counts(void **state)
{
	char *summary = dumped("trace/full-v2", &(struct dump_options){.summary = true});
	char *count = dumped("trace/full-v2", &(struct dump_options){.count = true});
	char *check = dumped("trace/full-v2", &(struct dump_options){.check = true});

	(void)state;
	assert_string_equal(summary, count);
	assert_non_null(strstr(check, "; the trace is sound\n"));
	assert_memory_equal(check, count, strlen(count) - 1);
	free(summary);
	free(count);
	free(check);
}

static void keeps_a_limit_over_threads(void **state)
{
	char *text = dumped("trace/full-v2", &(struct dump_options){.limit = 5});
	json_t *root = dumped_json("trace/full-v2", &(struct dump_options){.limit = 5, .json = true});

	(void)state;
	assert_int_equal(lines_of(text), 5);
	assert_int_equal(json_array_size(json_object_get(root, "records")), 5);
	free(text);
	json_decref(root);
}

static void chooses_a_thread(void **state)
{
	char *name = dumped("trace/full-v2", &(struct dump_options){.threads = "T_0"});
	char *number = dumped("trace/full-v2", &(struct dump_options){.threads = "0"});
	char *none = dumped("trace/full-v2", &(struct dump_options){.threads = "T_0_77"});

	(void)state;
	assert_string_equal(name, number);
	assert_int_equal(lines_with(name, "T_0 "), lines_of(name));
	assert_string_equal(none, "");
	free(name);
	free(number);
	free(none);
}

static void stacks_follow_their_record(void **state)
{
	char *plain = dumped("trace/full-v2", &(struct dump_options){0});
	char *stacks = dumped("trace/full-v2", &(struct dump_options){.stacks = true});

	(void)state;
	assert_int_equal(lines_of(stacks), lines_of(plain) + lines_with(stacks, "    called from "));
	assert_true(lines_with(stacks, "    called from ") > 0);
	free(plain);
	free(stacks);
}

/* ---- sanitized traces, with canonical names ---- */

static void sanitized_text_has_records_objects_and_threads(void **state)
{
	char *text = sanitized("trace/full-v2", &(struct dump_sanitize_options){0}, RD_OK);
	char *json = sanitized("trace/full-v2", &(struct dump_sanitize_options){.json = true}, RD_OK);
	json_t *root = json_loads(json, 0, NULL);
	size_t records = json_array_size(json_object_get(root, "records"));
	char *blank = strstr(text, "\n\n");

	(void)state;
	assert_non_null(blank);
	*blank = '\0';
	assert_int_equal(lines_of(text), records);
	assert_int_equal(lines_with(blank + 2, "M("), json_array_size(json_object_get(root, "threads")));
	assert_true(lines_with(blank + 2, " := {ba=") > 0);
	json_decref(root);
	free(text);
	free(json);
}

/* The number of a record does not depend on which records are shown. */
static void sanitized_thread_keeps_numbers(void **state)
{
	char *all = sanitized("trace/full-v2", &(struct dump_sanitize_options){0}, RD_OK);
	char *one = sanitized("trace/full-v2", &(struct dump_sanitize_options){.thread = "T_0"}, RD_OK);
	size_t first = strcspn(one, "\n");

	(void)state;
	one[first] = '\0';
	assert_non_null(strstr(all, one));
	free(all);
	free(one);
}

static void sanitized_files_hold_no_addresses(void **state)
{
	char directory[] = "/tmp/raddle-u-dump-XXXXXX";
	const struct dump_sanitize_options how = {.directory = directory};
	struct rd_buf file = RD_BUF_INIT;
	char *text, *path;

	(void)state;
	assert_non_null(mkdtemp(directory));
	text = sanitized("trace/full-v2", &how, RD_OK);
	assert_string_equal(text, ""); /* the output goes to the directory only */
	path = rd_xasprintf("%s/T_0", directory);
	assert_int_equal(rd_file_read(path, &file), RD_OK);
	assert_true(lines_of(file.data) > 10);
	assert_int_equal(lines_with(file.data, "  ; "), lines_of(file.data));
	assert_null(strstr(file.data, "7ff")); /* addresses of stacks begin with this */
	rd_buf_release(&file);
	rd_remove_tree(directory);
	free(path);
	free(text);
}

static void sanitize_refuses_unknown_threads(void **state)
{
	char *said = NULL, *text;

	(void)state;
	rd_log_set(rd_log_first, &said);
	text = sanitized("trace/full-v2", &(struct dump_sanitize_options){.thread = "T_9"}, RD_ENOTFOUND);
	rd_log_set(NULL, NULL);
	assert_string_equal(said, "sanitize: there is no thread T_9");
	free(said);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts_are_those_of_the_records),
		cmocka_unit_test(summary_is_the_counts),
		cmocka_unit_test(keeps_a_limit_over_threads),
		cmocka_unit_test(chooses_a_thread),
		cmocka_unit_test(stacks_follow_their_record),
		cmocka_unit_test(sanitized_text_has_records_objects_and_threads),
		cmocka_unit_test(sanitized_thread_keeps_numbers),
		cmocka_unit_test(sanitized_files_hold_no_addresses),
		cmocka_unit_test(sanitize_refuses_unknown_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
