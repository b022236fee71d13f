// SPDX-License-Identifier: Apache-2.0
/* Unit tests of dump/ with artefacts that are not traces.  They are recognised by their bytes,
 * whatever their names are. */
#include "dumped.h"

#include "base/scratch.h"

#include <unistd.h>

struct tree {
	char *directory;
};

static int make_directory(void **state)
{
	static struct tree t;

	*state = &t;
	return rd_scratch_open(&t.directory, NULL, "raddle-u-dump");
}

static int remove_directory(void **state)
{
	rd_scratch_close(((struct tree *)*state)->directory);
	return 0;
}

/* Copies a golden artefact to another name. */
static char *copied(const struct tree *t, const char *golden, const char *name)
{
	char *from = golden_path(golden), *to = rd_xasprintf("%s/%s", t->directory, name);
	struct rd_buf b = RD_BUF_INIT;

	assert_int_equal(rd_file_read(from, &b), RD_OK);
	assert_int_equal(rd_file_write(to, b.data, b.length), RD_OK);
	rd_buf_release(&b);
	free(from);
	return to;
}

static char *written(const struct tree *t, const char *name, const char *text)
{
	char *path = rd_xasprintf("%s/%s", t->directory, name);

	assert_int_equal(rd_file_write(path, text, strlen(text)), RD_OK);
	return path;
}

static void names_do_not_matter(void **state)
{
	static const char *const golden[][2] = {
		{"findings-v1.json", "counter.schedule"},
		{"race-v1.schedule", "findings.json"},
		{"facts-v1", "meta.json"},
		{"world-v1", "sites"},
	};

	for (size_t i = 0; i < sizeof golden / sizeof *golden; i++) {
		char *name = rd_xasprintf("golden/%s", golden[i][0]);
		char *path = copied(*state, golden[i][0], golden[i][1]);
		char *expected = dumped(name, &(struct dump_options){0});
		char *text = dumped_at(path, &(struct dump_options){0}, RD_OK);

		assert_true(strlen(expected) > 100);
		assert_string_equal(text, expected);
		unlink(path);
		RD_FREE(name, path, expected, text);
	}
}

static void facts_are_a_listing(void **state)
{
	struct dump_options json = {.json = true};
	char *text = dumped("golden/facts-v1", &(struct dump_options){0});
	json_t *root = dumped_json("golden/facts-v1", &json);

	(void)state;
	golden_check("facts-v1.txt", text, strlen(text));
	assert_int_equal(lines_with(text, "function "), json_array_size(json_object_get(root, "functions")));
	free(text);
	json_decref(root);
}

static void world_shows_its_records(void **state)
{
	char *text = dumped("golden/world-v1", &(struct dump_options){0});
	json_t *root = dumped_json("golden/world-v1", &(struct dump_options){.json = true});

	(void)state;
	golden_check("world-v1.txt", text, strlen(text));
	assert_int_equal(json_array_size(json_object_get(root, "records")), lines_of(text));
	free(text);
	json_decref(root);
}

static void schedules_and_findings_are_json_on_request(void **state)
{
	json_t *schedule = dumped_json("golden/race-v1.schedule", &(struct dump_options){.json = true});
	json_t *findings = dumped_json("golden/findings-v1.json", &(struct dump_options){.json = true});
	const json_t *first = json_array_get(json_object_get(findings, "findings"), 0);

	(void)state;
	assert_string_equal(json_string_value(json_object_get(first, "id")), "4e2fcf35b1f5fee6");
	assert_non_null(schedule);
	json_decref(schedule);
	json_decref(findings);
}

static void directory_of_findings(void **state)
{
	struct tree *t = *state;
	char *path = copied(t, "findings-v1.json", "findings.json");
	char *whole = dumped_at(t->directory, &(struct dump_options){0}, RD_OK);
	char *file = dumped_at(path, &(struct dump_options){0}, RD_OK);

	assert_string_equal(whole, file);
	unlink(path);
	RD_FREE(path, whole, file);
}

static void says_who_shows_a_campaign(void **state)
{
	struct tree *t = *state;
	char *path = written(t, "campaign.json", "{}"), *said = NULL, *text;

	rd_log_set(rd_log_first, &said);
	text = dumped_at(t->directory, &(struct dump_options){0}, RD_EUSAGE);
	rd_log_set(NULL, NULL);
	assert_non_null(strstr(said, "is a campaign; 'raddle campaign' shows it"));
	unlink(path);
	RD_FREE(path, said, text);
}

/* A file that is not an artefact of Raddle is an error with a reason, and nothing is written. */
static void refuses_other_files(void **state)
{
	static const char *const texts[] = {"", "hello\n", "{\"version\": 1, \"findings\": 7}", "\177ELF",
					    "raddle-schedule\t99\n"};

	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
		char *path = written(*state, "file", texts[i]), *said = NULL, *text = NULL;
		size_t length;
		FILE *out = open_memstream(&text, &length);

		rd_log_set(rd_log_first, &said);
		assert_true(dump_path(path, &(struct dump_options){0}, out) < 0);
		rd_log_set(NULL, NULL);
		fclose(out);
		assert_non_null(said);
		assert_string_equal(text, "");
		RD_FREE(path, said, text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_do_not_matter),
		cmocka_unit_test(facts_are_a_listing),
		cmocka_unit_test(world_shows_its_records),
		cmocka_unit_test(schedules_and_findings_are_json_on_request),
		cmocka_unit_test(directory_of_findings),
		cmocka_unit_test(says_who_shows_a_campaign),
		cmocka_unit_test(refuses_other_files),
	};

	return cmocka_run_group_tests(tests, make_directory, remove_directory);
}
