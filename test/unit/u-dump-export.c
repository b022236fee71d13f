// SPDX-License-Identifier: Apache-2.0
/* Unit tests of exports of a trace: their formats, and output to files and streams. */
#include "dumped.h"

#include "base/scratch.h"
#include "dump/export.h"

static void formats(void **state)
{
	enum dump_format f = DUMP_STD;

	(void)state;
	assert_true(dump_export_format("csp", &f));
	assert_int_equal(f, DUMP_CSP);
	assert_true(dump_export_format("perfetto", &f));
	assert_int_equal(f, DUMP_PERFETTO);
	assert_false(dump_export_format("pdf", &f));
	assert_false(dump_export_format("", &f));
	assert_int_equal(f, DUMP_PERFETTO);
}

static char *exported(const struct dump_export *how)
{
	char *path = tree_path("trace/v1-bank"), *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	assert_int_equal(dump_export(path, how, out), RD_OK);
	fclose(out);
	free(path);
	return text;
}

/* The same text goes to a stream and to a file.  For a file, a second file with the locations is
 * written. */
static void std_to_stream_and_file(void **state)
{
	char *directory, *path, *locations, *stream, *nothing;
	struct rd_buf file = RD_BUF_INIT;

	(void)state;
	assert_int_equal(rd_scratch_open(&directory, NULL, "raddle-u-export"), RD_OK);
	path = rd_xasprintf("%s/bank.std", directory);
	locations = rd_xasprintf("%s/bank.std.locs", directory);
	stream = exported(&(struct dump_export){.format = DUMP_STD});
	assert_false(rd_file_exists(locations));
	nothing = exported(&(struct dump_export){.format = DUMP_STD, .path = path});
	assert_string_equal(nothing, "");
	assert_int_equal(rd_file_read(path, &file), RD_OK);
	assert_string_equal(file.data, stream);
	assert_true(lines_with(stream, "|acq(") > 0);
	assert_true(rd_file_exists(locations));
	rd_buf_release(&file);
	rd_scratch_close(directory);
	RD_FREE(path, locations, stream, nothing);
}

static void csp_is_a_model(void **state)
{
	char *text = exported(&(struct dump_export){.format = DUMP_CSP});

	(void)state;
	assert_true(lines_with(text, "assert ") > 0);
	free(text);
}

static void errors_name_the_file(void **state)
{
	const struct dump_export how = {.format = DUMP_CSP, .path = "/nonexistent/x"};
	char *path = tree_path("trace/v1-bank"), *said = NULL;

	(void)state;
	rd_log_set(rd_log_first, &said);
	assert_true(dump_export(path, &how, stdout) < 0);
	assert_non_null(strstr(said, "export: cannot write /nonexistent/x: "));
	free(said);
	said = NULL;
	assert_true(dump_export("/nonexistent", &(struct dump_export){0}, stdout) < 0);
	rd_log_set(NULL, NULL);
	assert_non_null(said);
	free(said);
	free(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(formats),
		cmocka_unit_test(std_to_stream_and_file),
		cmocka_unit_test(csp_is_a_model),
		cmocka_unit_test(errors_name_the_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
