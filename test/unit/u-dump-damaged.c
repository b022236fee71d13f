// SPDX-License-Identifier: Apache-2.0
/*
 * Unit tests of dump/ with artefacts that are truncated or have a wrong byte, in every output
 * format.  An error must have a message.  A JSON document must be complete or absent.  The part
 * before the damage must be shown as in the intact artefact. test/cli/dump-damaged.sh tests the
 * messages.
 */
#include "dumped.h"

#include "base/scratch.h"
#include "dump/dump-int.h"
#include "dump/sanitize.h"
#include "trace/encode-int.h"
#include "trace/writer.h"

#include <dirent.h>
#include <unistd.h>

static unsigned errors;

static void count_errors(void *context, enum rd_level level, const char *message)
{
	(void)context;
	(void)message;
	errors += level == RD_LOG_ERROR || level == RD_LOG_WARN;
}

static char *directory; /* for a copy of a trace */

static void copy_file(const char *from, const char *name, size_t length)
{
	char *path = rd_xasprintf("%s/%s", from, name), *to = rd_xasprintf("%s/%s", directory, name);
	struct rd_buf b = RD_BUF_INIT;

	assert_int_equal(rd_file_read(path, &b), RD_OK);
	assert_int_equal(rd_file_write(to, b.data, length < b.length ? length : b.length), RD_OK);
	rd_buf_release(&b);
	RD_FREE(path, to);
}

static void copy_trace(const char *name)
{
	char *from = tree_path(name);
	DIR *d = opendir(from);
	struct dirent *entry;

	assert_non_null(d);
	assert_int_equal(rd_scratch_open(&directory, NULL, "raddle-u-damaged"), RD_OK);
	while ((entry = readdir(d)))
		if (entry->d_name[0] != '.')
			copy_file(from, entry->d_name, SIZE_MAX);
	closedir(d);
	free(from);
}

static void remove_trace(void)
{
	rd_scratch_close(directory);
	directory = NULL;
}

static size_t size_of(const char *trace, const char *name)
{
	char *path = rd_xasprintf("%s/%s", trace, name), *whole = tree_path(path);
	struct rd_buf b = RD_BUF_INIT;
	size_t length;

	assert_int_equal(rd_file_read(whole, &b), RD_OK);
	length = b.length;
	rd_buf_release(&b);
	RD_FREE(path, whole);
	return length;
}

static void cut(const char *trace, const char *name, size_t length)
{
	char *from = tree_path(trace);

	copy_file(from, name, length);
	free(from);
}

/* Changes one byte of a file. */
static void flip(const char *trace, const char *name, size_t at)
{
	char *to = rd_xasprintf("%s/%s", directory, name);
	struct rd_buf b = RD_BUF_INIT;

	cut(trace, name, SIZE_MAX);
	assert_int_equal(rd_file_read(to, &b), RD_OK);
	b.data[at] ^= 0x41;
	assert_int_equal(rd_file_write(to, b.data, b.length), RD_OK);
	rd_buf_release(&b);
	free(to);
}

static const struct dump_options forms[] = {
	{0},
	{.json = true},
	{.stacks = true},
	{.summary = true},
	{.summary = true, .json = true},
	{.sites = true},
	{.sites = true, .json = true},
	{.check = true},
	{.check = true, .json = true},
	{.count = true},
	{.count = true, .json = true},
	{.force = true},
	{.force = true, .json = true, .stacks = true},
	{.values = true, .force = true},
};

/* Calls dump_path().  Returns its result, and stores its output in *text. */
static int dump_to(const char *path, const struct dump_options *options, char **text)
{
	size_t length;
	FILE *out = open_memstream(text, &length);
	int err;

	errors = 0;
	rd_log_set(count_errors, NULL);
	err = dump_path(path, options, out);
	rd_log_set(NULL, NULL);
	fclose(out);
	return err;
}

static void check_forms(void)
{
	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
		char *text;
		int err = dump_to(directory, &forms[i], &text);

		assert_true(err <= 0);
		assert_true(!err || errors > 0);
		if (forms[i].json && *text) {
			json_t *root = json_loads(text, JSON_DECODE_INT_AS_REAL, NULL);

			assert_non_null(root);
			json_decref(root);
		}
		assert_true(err || *text);
		free(text);
	}
}

static void damage_file(const char *trace, const char *name, size_t step)
{
	size_t size = size_of(trace, name);

	for (size_t n = 0; n < size; n += 1 + step) {
		cut(trace, name, n);
		check_forms();
		flip(trace, name, n);
		check_forms();
	}
	cut(trace, name, SIZE_MAX);
}

static void traces_with_damage(void **state)
{
	(void)state;
	copy_trace("trace/v1-every");
	damage_file("trace/v1-every", "thread-0", 29);
	damage_file("trace/v1-every", "thread-1", 17);
	damage_file("trace/v1-every", "sites", 499);
	damage_file("trace/v1-every", "meta.json", 61);
	remove_trace();
}

static void full_traces_with_damage(void **state)
{
	(void)state;
	copy_trace("trace/full-v2");
	damage_file("trace/full-v2", "thread-1", 41);
	damage_file("trace/full-v2", "sites", 997);
	remove_trace();
}

/* Skips the header and returns the lines of events. */
static const char *events_of(const char *text)
{
	while (*text == '#')
		text = strchr(text, '\n') + 1;
	return text;
}

/* A truncated stream shows the events that it still has, as before. */
static void what_is_left_of_a_thread_is_a_prefix(void **state)
{
	const struct dump_options options = {.threads = "2", .kinds = "mutex,barrier,thread"};
	size_t size = size_of("trace/v1-bank", "thread-2"), shown = SIZE_MAX, kinds = 0;
	char *whole = dumped("trace/v1-bank", &options);

	(void)state;
	copy_trace("trace/v1-bank");
	for (size_t n = size; n-- > 16;) {
		char *text;
		const char *left;

		cut("trace/v1-bank", "thread-2", n);
		dump_to(directory, &options, &text);
		left = events_of(text);
		if (*text) {
			assert_memory_equal(events_of(whole), left, strlen(left));
			/* fewer bytes must not give more events */
			assert_true(strlen(left) <= shown);
			kinds += strlen(left) != shown;
			shown = strlen(left);
		}
		free(text);
	}
	assert_true(kinds >= 1);
	remove_trace();
	free(whole);
}

/* Canonical names depend on all threads and records.  So a damaged trace is sanitized completely or
 * not at all. */
static void sanitized_traces_with_damage(void **state)
{
	size_t size = size_of("trace/full-v2", "thread-2");

	(void)state;
	copy_trace("trace/full-v2");
	for (size_t n = 0; n < size; n += 23) {
		for (int json = 0; json < 2; json++) {
			char *text;
			size_t length;
			FILE *out = open_memstream(&text, &length);
			int err;

			cut("trace/full-v2", "thread-2", n);
			errors = 0;
			rd_log_set(count_errors, NULL);
			err = dump_sanitized(directory, &(struct dump_sanitize_options){.json = json != 0},
					     out);
			rd_log_set(NULL, NULL);
			fclose(out);
			assert_true(err <= 0 && (!err || errors > 0));
			if (json && *text) {
				json_t *root = json_loads(text, JSON_DECODE_INT_AS_REAL, NULL);

				assert_non_null(root);
				json_decref(root);
			}
			free(text);
		}
	}
	remove_trace();
}

/* The allocation may have happened before the trace began, or its record may be lost. */
static void a_release_without_an_allocation_shows_the_address(void **state)
{
	struct trace_encoder e = {.out = RD_BUF_INIT};
	struct trace_writer *w;
	char *text, *path;

	(void)state;
	assert_int_equal(rd_scratch_open(&directory, NULL, "raddle-u-damaged"), RD_OK);
	path = rd_xasprintf("%s/trace", directory);
	trace_encode_reset(&e);
	trace_encode_row(&e, RADDLE_ORDER, (uint64_t[]){1}, NULL);
	trace_encode_row(&e, RADDLE_FREE, (uint64_t[]){2, 0x12340, 0}, NULL);
	assert_int_equal(trace_writer_open(&w, path), RD_OK);
	assert_int_equal(trace_writer_chunk(w, 0, e.out.data, e.out.length), RD_OK);
	assert_int_equal(trace_writer_meta(w, &(struct trace_meta){.complete = true}), RD_OK);
	assert_int_equal(trace_writer_close(w), RD_OK);
	assert_int_equal(dump_to(path, &(struct dump_options){.force = true}, &text), RD_OK);
	assert_int_equal(lines_with(text, " free "), 1);
	assert_int_equal(lines_with(text, "0x12340"), 1);
	rd_buf_release(&e.out);
	remove_trace();
	RD_FREE(text, path);
}

/* ---- artefacts other than traces ---- */

/* Documents that are read completely before output are shown completely or not at all. */
static void other_artefacts_with_damage(void **state)
{
	static const struct {
		const char *name;
		size_t step;
	} golden[] = {{"facts-v1", 211},
		      {"findings-v1.json", 97},
		      {"race-v1.schedule", 13},
		      {"turns-v2.schedule", 7}};

	(void)state;
	assert_int_equal(rd_scratch_open(&directory, NULL, "raddle-u-damaged"), RD_OK);
	for (size_t i = 0; i < sizeof golden / sizeof *golden; i++) {
		char *from = golden_path(golden[i].name), *to = rd_xasprintf("%s/file", directory);
		struct rd_buf b = RD_BUF_INIT;

		assert_int_equal(rd_file_read(from, &b), RD_OK);
		for (size_t n = 0; n + 2 < b.length; n += golden[i].step)
			for (int json = 0; json < 2; json++) {
				char *text;
				int err;

				assert_int_equal(rd_file_write(to, b.data, n), RD_OK);
				err = dump_to(to, &(struct dump_options){.json = json != 0}, &text);
				assert_true(err <= 0);
				assert_true(err ? errors > 0 && !*text : *text != '\0');
				free(text);
			}
		rd_buf_release(&b);
		unlink(to);
		RD_FREE(from, to);
	}
	remove_trace();
}

static void the_world_with_damage(void **state)
{
	char *from = golden_path("world-v1"), *to;
	struct rd_buf b = RD_BUF_INIT;

	(void)state;
	assert_int_equal(rd_scratch_open(&directory, NULL, "raddle-u-damaged"), RD_OK);
	to = rd_xasprintf("%s/file", directory);
	assert_int_equal(rd_file_read(from, &b), RD_OK);
	for (size_t n = 8; n < b.length; n += 3)
		for (int json = 0; json < 2; json++) {
			char *text;
			int err;

			assert_int_equal(rd_file_write(to, b.data, n), RD_OK);
			err = dump_to(to, &(struct dump_options){.json = json != 0}, &text);
			assert_true(err <= 0 && (!err || errors > 0));
			if (json && *text) {
				json_t *root = json_loads(text, 0, NULL);

				assert_non_null(root);
				json_decref(root);
			}
			free(text);
		}
	rd_buf_release(&b);
	remove_trace();
	RD_FREE(from, to);
}

/* ---- filters by kind of event ---- */

static uint64_t random_state = 4711;

static uint64_t draw(uint64_t below)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state % below;
}

static const char *kind_at(unsigned kind)
{
	const char *name = trace_kind(kind)->name;

	return name ? name : "";
}

/* A part of a list selects a kind if it is the name of the kind, or a prefix of it that ends before
 * a dash. */
static bool slow_wants(const char *part, const char *name)
{
	char *prefix = rd_xasprintf("%s-", part);
	bool wants = *name && (!strcmp(part, name) || !strncmp(name, prefix, strlen(prefix)));

	free(prefix);
	return wants;
}

static void kinds_are_those_of_a_slow_search(void **state)
{
	(void)state;
	for (int round = 0; round < 300; round++) {
		char parts[3][64];
		struct rd_buf list = RD_BUF_INIT;
		struct model m = {0};
		size_t count = 1 + draw(3);
		bool known = true;

		for (size_t i = 0; i < count; i++) {
			bool any = false;
			const char *name;

			do
				name = kind_at((unsigned)draw(RADDLE_ACCESS + 1));
			while (!*name);
			snprintf(parts[i], sizeof parts[i], "%.*s",
				 (int)(draw(2)	 ? strcspn(name, "-")
				       : draw(8) ? strlen(name)
						 : draw(3)),
				 name);
			for (unsigned k = RADDLE_RANGE; k <= RADDLE_ACCESS; k++)
				any |= slow_wants(parts[i], kind_at(k));
			known &= any || !strcmp(parts[i], "access");
			rd_buf_addf(&list, "%s%s", i ? "," : "", parts[i]);
		}
		struct dump_options options = {.kinds = list.data};
		struct dump d = {.opt = &options, .model = &m};
		rd_log_set(rd_log_discard, NULL);
		int err = *list.data ? dump_set_filters(&d) : RD_EUSAGE;
		rd_log_set(NULL, NULL);
		if (!parts[count - 1][0] && count > 1)
			known = err == RD_OK; /* a comma at the end is allowed */
		assert_int_equal(err, known ? RD_OK : RD_EUSAGE);
		for (unsigned k = RADDLE_RANGE; known && k <= RADDLE_ACCESS; k++) {
			bool wanted = false;

			for (size_t i = 0; i < count; i++)
				wanted |= slow_wants(parts[i], kind_at(k));
			assert_int_equal(d.kinds[k], wanted);
		}
		rd_buf_release(&list);
	}
}

static void durations_and_sizes(void **state)
{
	static const struct {
		uint64_t n;
		const char *time, *bytes;
	} rows[] = {
		{0, "0.0 us", "0 bytes"},
		{999, "1.0 us", "999 bytes"},
		{9999, "10.0 us", "9999 bytes"},
		{10000, "10.0 us", "10.0 kB"},
		{1000000, "1.0 ms", "1000.0 kB"},
		{10000000, "10.0 ms", "10.0 MB"},
		{1000000000, "1.00 s", "1000.0 MB"},
		{UINT64_MAX, "18446744073.71 s", "18446744073709.6 MB"},
	};
	char text[24];

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		assert_string_equal(dump_duration(rows[i].n, text), rows[i].time);
		assert_string_equal(dump_bytes(rows[i].n, text), rows[i].bytes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(traces_with_damage),
		cmocka_unit_test(full_traces_with_damage),
		cmocka_unit_test(what_is_left_of_a_thread_is_a_prefix),
		cmocka_unit_test(sanitized_traces_with_damage),
		cmocka_unit_test(a_release_without_an_allocation_shows_the_address),
		cmocka_unit_test(other_artefacts_with_damage),
		cmocka_unit_test(the_world_with_damage),
		cmocka_unit_test(kinds_are_those_of_a_slow_search),
		cmocka_unit_test(durations_and_sizes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
