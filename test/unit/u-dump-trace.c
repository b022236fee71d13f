// SPDX-License-Identifier: Apache-2.0
/*
 * Unit tests of which parts of a trace are shown: the selection by thread, kind, direction and
 * limit, and which selections are rejected. test/cli/dump-golden.sh compares whole documents with
 * golden files.
 */
#include "dumped.h"

#include "base/file.h"
#include "base/scratch.h"

enum { BANK_EVENTS = 244, BANK_ACCESSES = 167, HEADER_LINES = 3 };

static void discard(void *context, enum rd_level level, const char *message)
{
	char **kept = context;

	(void)level;
	free(*kept);
	*kept = strdup(message);
}

static void shows_every_event(void **state)
{
	char *text = dumped("trace/v1-bank", &(struct dump_options){0});

	(void)state;
	assert_int_equal(lines_of(text), HEADER_LINES + BANK_EVENTS);
	assert_non_null(strstr(text, "# 5 threads, 244 events\n"));
	free(text);
}

static void keeps_a_limit(void **state)
{
	char *text = dumped("trace/v1-bank", &(struct dump_options){.limit = 7});
	json_t *root = dumped_json("trace/v1-bank", &(struct dump_options){.limit = 7, .json = true});

	(void)state;
	assert_int_equal(lines_of(text), HEADER_LINES + 7);
	assert_int_equal(json_array_size(json_object_get(root, "events")), 7);
	free(text);
	json_decref(root);
}

/* Threads are selected by name or number. */
static void chooses_threads(void **state)
{
	char *by_name = dumped("trace/v1-bank", &(struct dump_options){.threads = "T_0_0,T_0_2"});
	char *by_number = dumped("trace/v1-bank", &(struct dump_options){.threads = "1,3"});

	(void)state;
	assert_string_equal(by_name, by_number);
	assert_int_equal(lines_with(by_name, " T_0_1 "), 0);
	assert_true(lines_with(by_name, " T_0_0 ") > 9);
	assert_int_equal(lines_of(by_name),
			 HEADER_LINES + lines_with(by_name, " T_0_0 ") + lines_with(by_name, " T_0_2 "));
	free(by_name);
	free(by_number);
}

static void chooses_kinds(void **state)
{
	char *one = dumped("trace/v1-bank", &(struct dump_options){.kinds = "mutex-lock"});
	char *group = dumped("trace/v1-bank", &(struct dump_options){.kinds = "mutex"});
	char *barriers = dumped("trace/v1-bank", &(struct dump_options){.kinds = "barrier-enter,exit"});

	(void)state;
	assert_int_equal(lines_of(one), HEADER_LINES + 20);
	assert_int_equal(lines_of(group), HEADER_LINES + 44); /* events of init, lock and unlock */
	assert_int_equal(lines_of(barriers), HEADER_LINES + 3 + 1);
	free(one);
	free(group);
	free(barriers);
}

static void chooses_directions(void **state)
{
	char *reads = dumped("trace/v1-bank", &(struct dump_options){.kinds = "read"});
	char *writes = dumped("trace/v1-bank", &(struct dump_options){.kinds = "write"});
	char *both = dumped("trace/v1-bank", &(struct dump_options){.kinds = "access"});
	char *listed = dumped("trace/v1-bank", &(struct dump_options){.kinds = "write,read"});
	size_t r = lines_of(reads) - HEADER_LINES, w = lines_of(writes) - HEADER_LINES;

	(void)state;
	assert_int_equal(lines_with(reads, " read "), r);
	assert_int_equal(lines_with(writes, " write "), w);
	assert_true(r > 0 && w > 0);
	assert_int_equal(r + w, BANK_ACCESSES);
	assert_int_equal(lines_of(both), HEADER_LINES + BANK_ACCESSES);
	assert_string_equal(both, listed);
	free(reads);
	free(writes);
	free(both);
	free(listed);
}

static void refuses_unknown_names(void **state)
{
	char *path = tree_path("trace/v1-bank"), *said = NULL, *text;

	(void)state;
	rd_log_set(discard, &said);
	text = dumped_at(path, &(struct dump_options){.threads = "T_0_9"}, RD_EUSAGE);
	assert_string_equal(said, "the trace has no thread 'T_0_9'");
	assert_string_equal(text, "");
	free(text);
	text = dumped_at(path, &(struct dump_options){.kinds = "mutex,mut"}, RD_EUSAGE);
	assert_string_equal(said, "there is no kind of event 'mut'"); /* a prefix ends at a dash */
	free(text);
	rd_log_set(NULL, NULL);
	free(said);
	free(path);
}

static void adds_stacks(void **state)
{
	char *plain = dumped("trace/v1-bank", &(struct dump_options){.kinds = "write"});
	char *stacks = dumped("trace/v1-bank", &(struct dump_options){.kinds = "write", .stacks = true});
	json_t *root =
		dumped_json("trace/v1-bank", &(struct dump_options){.kinds = "barrier-enter", .json = true});
	json_t *event = json_array_get(json_object_get(root, "events"), 0);

	(void)state;
	assert_true(lines_of(stacks) > lines_of(plain));
	assert_true(lines_with(stacks, "                   bank.c:") > 0);
	/* Without --stacks, the stack in JSON has only its innermost frame. */
	assert_int_equal(json_array_size(json_object_get(event, "stack")), 1);
	free(plain);
	free(stacks);
	json_decref(root);
}

static void counts(void **state)
{
	char *text = dumped("trace/v1-bank", &(struct dump_options){.count = true});
	json_t *root = dumped_json("trace/v1-bank", &(struct dump_options){.count = true, .json = true});

	(void)state;
	assert_string_equal(text, "244 events: 167 accesses, 77 others\n");
	assert_int_equal((json_int_t)json_number_value(json_object_get(root, "events")), BANK_EVENTS);
	assert_int_equal(
		(json_int_t)json_number_value(json_object_get(json_object_get(root, "kinds"), "access")),
		BANK_ACCESSES);
	free(text);
	json_decref(root);
}

/* The counts of the summary agree with the events. */
static void summarises(void **state)
{
	json_t *root = dumped_json("trace/v1-bank", &(struct dump_options){.summary = true, .json = true});
	json_t *shared = json_object_get(root, "shared"), *item, *thread;
	json_int_t last = INT64_MAX, accesses = 0;
	size_t i;

	(void)state;
	json_array_foreach(shared, i, item)
	{
		json_int_t touched = (json_int_t)json_number_value(json_object_get(item, "reads")) +
				     (json_int_t)json_number_value(json_object_get(item, "writes"));

		assert_true(touched <= last); /* the busiest first */
		assert_true((json_int_t)json_number_value(json_object_get(item, "threads")) >= 2);
		last = touched;
	}
	assert_int_equal(i, 5);
	json_array_foreach(json_object_get(root, "threads"), i, thread) accesses +=
		(json_int_t)json_number_value(json_object_get(thread, "accesses"));
	assert_int_equal(accesses, BANK_ACCESSES);
	json_decref(root);
}

static void checks(void **state)
{
	char *text = dumped("trace/v1-bank", &(struct dump_options){.check = true});

	(void)state;
	assert_non_null(strstr(text, "244 events checked, 0 notes, no damage\n"));
	free(text);
}

static void shows_parts_of_a_directory(void **state)
{
	char *table = dumped("trace/v1-bank/sites", &(struct dump_options){0});
	char *option = dumped("trace/v1-bank", &(struct dump_options){.sites = true});
	json_t *root = dumped_json("trace/v1-bank/sites", &(struct dump_options){.json = true});

	(void)state;
	assert_string_equal(table, option);
	assert_true(lines_with(table, "unit ") >= 1);
	assert_int_equal(json_array_size(json_object_get(root, "sites")), lines_with(table, "0x"));
	assert_int_equal(json_array_size(json_object_get(root, "globals")), lines_with(table, "variable "));
	free(table);
	free(option);
	json_decref(root);
}

static void count_errors(void *context, enum rd_level level, const char *message)
{
	*(int *)context += level == RD_LOG_ERROR && strstr(message, "site table") != NULL;
}

/* A stream without its directory has no site table, and that is reported. */
static void a_stream_has_no_sites(void **state)
{
	char *from = tree_path("trace/v1-bank/thread-0"), *directory, *to;
	struct rd_buf stream = RD_BUF_INIT;
	int errors = 0;

	(void)state;
	assert_int_equal(rd_scratch_open(&directory, NULL, "u-dump"), RD_OK);
	to = rd_xasprintf("%s/thread-0", directory);
	assert_int_equal(rd_file_read(from, &stream), RD_OK);
	assert_int_equal(rd_file_write_buf(to, &stream), RD_OK);
	rd_log_set(count_errors, &errors);
	free(dumped_at(to, &(struct dump_options){.sites = true}, RD_ENOTFOUND));
	free(dumped_at(directory, &(struct dump_options){.sites = true, .force = true}, RD_ENOTFOUND));
	rd_log_set(NULL, NULL);
	assert_int_equal(errors, 2);
	rd_scratch_close(directory);
	free(from);
	free(to);
}

/* Every kind of event has a line.  The JSON object of an event has the same name. */
static void names_every_event(void **state)
{
	json_t *root = dumped_json("trace/v1-every", &(struct dump_options){.json = true});
	json_t *events = json_object_get(root, "events"), *event;
	char *text = dumped("trace/v1-every", &(struct dump_options){0});
	const char *line = text;
	size_t i;

	(void)state;
	for (i = 0; i < HEADER_LINES; i++)
		line = strchr(line, '\n') + 1;
	json_array_foreach(events, i, event)
	{
		const char *name = json_string_value(json_object_get(event, "event"));
		const char *end = strchr(line, '\n'), *found = strstr(line, name);

		assert_true(found && found < end);
		line = end + 1;
	}
	assert_string_equal(line, "");
	free(text);
	json_decref(root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shows_every_event),
		cmocka_unit_test(keeps_a_limit),
		cmocka_unit_test(chooses_threads),
		cmocka_unit_test(chooses_kinds),
		cmocka_unit_test(chooses_directions),
		cmocka_unit_test(refuses_unknown_names),
		cmocka_unit_test(adds_stacks),
		cmocka_unit_test(counts),
		cmocka_unit_test(summarises),
		cmocka_unit_test(checks),
		cmocka_unit_test(shows_parts_of_a_directory),
		cmocka_unit_test(a_stream_has_no_sites),
		cmocka_unit_test(names_every_event),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
