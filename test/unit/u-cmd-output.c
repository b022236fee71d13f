// SPDX-License-Identifier: Apache-2.0
/* Unit tests of output documents: where they go, and what is left if they cannot be written. */
#include "finding-fixture.h"
#include "golden.h"

#include "base/error.h"
#include "base/scratch.h"
#include "cmd/cmd-int.h"
#include "cmd/output-int.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static char *directory;

static int begin(void **state)
{
	(void)state;
	memset(&opt, 0, sizeof opt);
	return rd_scratch_open(&directory, NULL, "raddle-u-cmd");
}

static int end(void **state)
{
	(void)state;
	rd_scratch_close(directory);
	return 0;
}

static char *content(const char *path)
{
	struct rd_buf b = RD_BUF_INIT;
	char *text;

	assert_int_equal(rd_file_read(path, &b), RD_OK);
	text = rd_xstrndup(b.data, b.length);
	rd_buf_release(&b);
	return text;
}

static int write_words(const void *what, FILE *out)
{
	fputs(what, out);
	return RD_OK;
}

static int write_half(const void *what, FILE *out)
{
	fprintf(out, "%.3s", (const char *)what);
	return RD_EFORMAT;
}

static void whole_documents_only(void **state)
{
	char *path = rd_xasprintf("%s/out", directory), *text;

	(void)state;
	/* no document was requested */
	assert_int_equal(cmd_document(NULL, write_half, "nowhere"), RD_OK);
	assert_int_equal(cmd_document(path, write_words, "first"), RD_OK);
	text = content(path);
	assert_string_equal(text, "first");
	free(text);
	assert_int_equal(cmd_document(path, write_half, "second"), RD_EFORMAT);
	text = content(path);
	assert_string_equal(text, "first"); /* the old file is unchanged */
	free(text);
	free(path);
}

static void files_that_cannot_be_written(void **state)
{
	char *path = rd_xasprintf("%s/missing/out", directory), *said = NULL;

	(void)state;
	rd_log_set(rd_log_first, &said);
	assert_true(cmd_document(path, write_words, "text") < 0);
	rd_log_set(NULL, NULL);
	assert_non_null(strstr(said, "/missing/out"));
	free(said);
	free(path);
}

static void standard_output(void **state)
{
	FILE *before = stdout;
	char *text;
	size_t length;

	(void)state;
	stdout = open_memstream(&text, &length);
	assert_int_equal(cmd_document("-", write_words, "text"), RD_OK);
	fclose(stdout);
	stdout = before;
	assert_string_equal(text, "text");
	free(text);
}

/* If a document goes to standard output, no other text may. */
static void who_has_standard_output(void **state)
{
	(void)state;
	assert_false(cmd_output_is_stdout());
	opt.json = "out.json";
	assert_false(cmd_output_is_stdout());
	opt.html = "-";
	assert_true(cmd_output_is_stdout());
	opt.html = NULL;
	opt.write_baseline = "-";
	assert_true(cmd_output_is_stdout());
	assert_false(cmd_is_stdout(NULL));
	assert_false(cmd_is_stdout("-x"));
}

static void redirection(void **state)
{
	char *path = rd_xasprintf("%s/out", directory), *text;
	FILE *before = stdout;

	(void)state;
	assert_int_equal(cmd_redirect(NULL), RD_OK);
	assert_ptr_equal(stdout, before);
	assert_int_equal(cmd_redirect("-"), RD_OK);
	assert_ptr_equal(stdout, before);
	assert_int_equal(cmd_redirect(path), RD_OK);
	fputs("text", stdout);
	fclose(stdout);
	stdout = before;
	text = content(path);
	assert_string_equal(text, "text");
	free(text);
	free(path);
}

static void every_format_that_is_asked_for(void **state)
{
	struct finding_set *set = fixture_set();
	char *json = rd_xasprintf("%s/f.json", directory), *html = rd_xasprintf("%s/f.html", directory);
	char *sarif = rd_xasprintf("%s/f.sarif", directory), *text;

	(void)state;
	opt.json = json;
	opt.html = html;
	assert_int_equal(cmd_output_write(set, &(struct report_opts){0}), RD_OK);
	text = content(json);
	assert_int_equal(*text, '{');
	free(text);
	text = content(html);
	assert_memory_equal(text, "<!DOCTYPE html>", 15);
	free(text);
	assert_false(rd_file_exists(sarif));
	finding_set_free(set);
	RD_FREE(json, html, sarif);
}

static size_t marked(const struct finding_set *set, bool known)
{
	size_t n = 0;

	for (size_t i = 0; i < set->count; i++)
		n += known ? set->items[i]->known : set->items[i]->suppressed != NULL;
	return n;
}

static size_t confirmed(const struct finding_set *set)
{
	size_t n = 0;

	for (size_t i = 0; i < set->count; i++)
		n += set->items[i]->status == FINDING_CONFIRMED && !set->items[i]->suppressed;
	return n;
}

/* Findings that are written to a baseline are known in the next run, and no others.  The same is
 * true for suppressions. */
static void baselines_come_back(void **state)
{
	struct finding_set *set = fixture_set(), *next = fixture_set();
	char *path = rd_xasprintf("%s/known", directory);
	size_t expected = confirmed(set);

	(void)state;
	assert_true(expected > 0 && expected < set->count);
	assert_int_equal(cmd_write_baseline(set, path), RD_OK);
	opt.baseline = path;
	assert_int_equal(cmd_filter_apply(next, false), RD_OK);
	assert_int_equal(marked(next, true), expected);
	finding_set_free(set);
	finding_set_free(next);
	free(path);
}

static void suppressions_come_back(void **state)
{
	struct finding_set *set = fixture_set(), *next = fixture_set();
	char *path = rd_xasprintf("%s/rules", directory);
	size_t expected = confirmed(set), before = marked(next, false);

	(void)state;
	assert_int_equal(cmd_write_suppressions(set, path), RD_OK);
	opt.suppressions = path;
	assert_int_equal(cmd_filter_apply(next, false), RD_OK);
	assert_int_equal(marked(next, false), before + expected);
	finding_set_free(set);
	finding_set_free(next);
	free(path);
}

static void whole_seconds(void **state)
{
	(void)state;
	assert_int_equal(cmd_seconds(0), 0);
	assert_int_equal(cmd_seconds(1), 1);
	assert_int_equal(cmd_seconds(1000), 1);
	assert_int_equal(cmd_seconds(1001), 2);
}

/* On a terminal there is a progress line, unless --quiet is given. */
static void quiet_has_no_progress(void **state)
{
	int terminal = posix_openpt(O_RDWR | O_NOCTTY), copy = dup(STDERR_FILENO), end_of_it;
	struct rd_progress p[2];

	(void)state;
	assert_true(terminal >= 0 && !grantpt(terminal) && !unlockpt(terminal));
	end_of_it = open(ptsname(terminal), O_RDWR | O_NOCTTY);
	assert_true(end_of_it >= 0);
	dup2(end_of_it, STDERR_FILENO);
	cmd_progress_start(&p[0], "running", 0);
	opt.quiet = true;
	cmd_progress_start(&p[1], "running", 0);
	dup2(copy, STDERR_FILENO);
	assert_int_equal(p[0].shown, 0);
	assert_int_equal(p[1].shown, -1);
	close(copy);
	close(end_of_it);
	close(terminal);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, begin, end)
	const struct CMUnitTest tests[] = {
		T(whole_documents_only),  T(files_that_cannot_be_written),   T(standard_output),
		T(redirection),		  T(who_has_standard_output),	     T(baselines_come_back),
		T(whole_seconds),	  T(every_format_that_is_asked_for), T(suppressions_come_back),
		T(quiet_has_no_progress),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
