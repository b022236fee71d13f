// SPDX-License-Identifier: Apache-2.0
/*
 * Unit tests of the files of a campaign: campaign.json, lines of the log and the faults in them,
 * truncated logs, and logs merged from parts.  Also tests outputs and their differences.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/error.h"
#include "base/file.h"
#include "inject/campaign.h"
#include "inject/part-int.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char directory[] = "/tmp/u-inject-XXXXXX";

static const char *path(const char *name)
{
	static char text[128];

	snprintf(text, sizeof text, "%s/%s", directory, name);
	return text;
}

static void put_file(const char *name, const char *text)
{
	assert_int_equal(rd_file_write(path(name), text, strlen(text)), 0);
}

static int set_up(void **state)
{
	(void)state;
	rd_log_set(rd_log_discard, NULL);
	return mkdtemp(directory) ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	return rd_remove_tree(directory);
}

static void setups(void **state)
{
	struct inject_setup s = {.runs = 7, .faults = 2, .seed = INT64_MAX, .status = 256, .once = true},
			    again;

	(void)state;
	s.program = strdup("/bin/program");
	s.sampling = strdup("uniform");
	inject_list_split(&s.argv, "./program,a b,\"c\"");
	inject_list_split(&s.kinds, "BitFlip,,NoLock");
	assert_int_equal(s.kinds.count, 2);
	assert_int_equal(inject_setup_write(&s, path("campaign.json")), 0);
	assert_int_equal(inject_setup_read(&again, path("campaign.json")), 0);
	assert_true(again.runs == 7 && again.faults == 2 && again.seed == INT64_MAX && again.status == 256);
	assert_true(again.once && !again.forced && !again.filter);
	assert_string_equal(again.argv.items[2], "\"c\"");
	assert_null(again.argv.items[3]);
	assert_string_equal(again.kinds.items[1], "NoLock");
	inject_setup_release(&again);
	inject_setup_release(&s);
	put_file("campaign.json", "{\"version\":1,\"program\":1}");
	assert_int_equal(inject_setup_read(&again, path("campaign.json")), RD_EFORMAT);
	put_file("campaign.json", "{\"version\":2}");
	assert_int_equal(inject_setup_read(&again, path("campaign.json")), RD_EVERSION);
}

/* The log line of a run with two faults contains the faults, which are read back. */
static void lines(void **state)
{
	struct inject_fault fault = {.run = 17, .kind = 0, .thread = "T_0_2_11", .count = 2}, again;
	struct inject_run run = {.end.status = 11, .fired = 1, .before = 1, .after = 3};
	struct inject_verdict verdict = {.outcome = RUNLOG_CRASH, .deviation = RUNLOG_DATA};
	struct rd_buf line = RD_BUF_INIT;
	struct rd_names texts = RD_NAMES_INIT;
	struct runlog_run read;

	(void)state;
	fault.faults[0] = (struct run_fault){.site = 0x10005,
					     .instance = 3,
					     .repeat = 1,
					     .action = RADDLE_FAULT_FLIP,
					     .mask = {1ull << 63, 0}};
	fault.faults[1] = (struct run_fault){
		.site = 9, .instance = 1, .repeat = 0, .action = RADDLE_FAULT_SCALE, .mask = {7, 256}};
	assert_true(inject_thread_parse(&fault.faults[0], fault.thread));
	assert_true(inject_thread_parse(&fault.faults[1], fault.thread));
	inject_log_line(NULL, &fault, &run, &verdict, &line);
	assert_true(line.data[line.length - 1] == '\n');
	assert_null(runlog_parse(&read, line.data, line.length - 1, &texts));
	assert_string_equal(read.signal, "SIGSEGV");
	assert_int_equal(read.bit, 63);
	assert_int_equal(inject_log_fault(&read, &again), 0);
	assert_true(again.run == 17 && again.count == 2);
	assert_string_equal(again.thread, fault.thread);
	for (int i = 0; i < 2; i++) {
		const struct run_fault *x = &fault.faults[i], *y = &again.faults[i];
		assert_true(x->site == y->site && x->instance == y->instance && x->repeat == y->repeat);
		assert_true(x->action == y->action && x->mask[0] == y->mask[0] && x->mask[1] == y->mask[1]);
		assert_true(x->depth == y->depth && x->thread[1] == y->thread[1] && y->thread[1] == 11);
	}
	read.plan = "T_0:0:0:flip:1";
	assert_true(inject_log_fault(&read, &again) < 0);
	rd_names_release(&texts);
	rd_buf_release(&line);
}

static void threads(void **state)
{
	struct run_fault f;

	(void)state;
	assert_true(inject_thread_parse(&f, "T_0") && f.depth == 0);
	assert_true(inject_thread_parse(&f, "T_0_3_0") && f.depth == 2 && f.thread[0] == 3);
	assert_false(inject_thread_parse(&f, "T_1"));
	assert_false(inject_thread_parse(&f, "T_0_"));
	assert_false(inject_thread_parse(&f, "T_0x"));
	assert_false(inject_thread_parse(&f, ""));
}

#define LINE(run) "{\"run\":" run ",\"fault\":\"BitFlip\",\"outcome\":\"sdc\",\"deviation\":\"data\"}\n"

static int count_run(void *context, const struct runlog_run *run, const char *text, size_t length)
{
	uint64_t *sum = context;

	assert_true(text[length - 1] == '\n');
	*sum = *sum * 10 + run->run;
	return 0;
}

static void parts(void **state)
{
	struct inject_part p, second;
	uint64_t sum = 0, length;
	struct stat st;

	(void)state;
	put_file("log", LINE("1") LINE("2") "{\"run\":3,\"fau");
	assert_int_equal(inject_log_read(path("log"), count_run, &sum, &length), 0);
	assert_true(sum == 12 && length == strlen(LINE("1") LINE("2")));

	/* Resuming removes the incomplete line at the end, and no other process may write
	 * meanwhile. */
	assert_int_equal(inject_part_open(&p, directory, -1), 0);
	assert_int_equal(stat(path("log"), &st), 0);
	assert_int_equal(st.st_size, strlen(LINE("1") LINE("2")));
	assert_int_equal(inject_part_open(&second, directory, -1), RD_EUSAGE);
	inject_part_close(&second);
	assert_int_equal(inject_part_add(&p, LINE("4"), strlen(LINE("4"))), 0);
	assert_int_equal(inject_part_close(&p), 0);

	/* Two shards: an interrupted merge has already added one line of the first to the log. */
	put_file("log.0", LINE("4") LINE("5"));
	put_file("log.7", LINE("6") "{\"run\":");
	sum = 0;
	assert_int_equal(inject_part_read_all(directory, count_run, &sum), 0);
	assert_true(sum == 124456);
	assert_int_equal(inject_campaign_merge(directory), 0);
	assert_false(rd_file_exists(path("log.0")));
	sum = 0;
	assert_int_equal(inject_part_read_all(directory, count_run, &sum), 0);
	assert_true(sum == 12456);
}

static struct rd_buf text(const char *t)
{
	struct rd_buf b = RD_BUF_INIT;

	rd_buf_adds(&b, t);
	return b;
}

static void outputs(void **state)
{
	struct run_output a = {.out = text("1\n2\n3\n4\n5\n"), .err = RD_BUF_INIT}, b;
	struct inject_list ignore = {0};
	struct inject_judge judge = {&ignore, NULL, false};
	struct rd_buf diff = RD_BUF_INIT;
	const char *name;

	(void)state;
	b = (struct run_output){.out = text("1\n2\nX\n4\n5\n"), .err = RD_BUF_INIT};
	assert_true(inject_output_equal(&a, &a, &judge, &name) && !name);
	assert_false(inject_output_equal(&a, &b, &judge, &name));
	assert_string_equal(name, "stdout");
	inject_output_diff(&a, &b, name, &diff);
	assert_string_equal(diff.data,
			    "--- golden/stdout\n+++ run/stdout\n@@ -1,3 +1,3 @@\n 1\n 2\n-3\n+X\n");
	judge.filter = "tr X 3";
	assert_true(inject_output_equal(&a, &b, &judge, &name));
	judge.filter = NULL;
	inject_list_add(&ignore, "std*");
	assert_true(inject_output_equal(&a, &b, &judge, &name));

	/* An output file that is missing or different is a difference. */
	b.files = calloc(1, sizeof *b.files);
	b.files[0] = (struct run_file){strdup("result"), text("1")};
	b.count = 1;
	assert_false(inject_output_equal(&a, &b, &judge, &name));
	assert_string_equal(name, "result");
	assert_int_equal(run_output_save(&b, path("kept")), 0);
	run_output_release(&a);
	assert_int_equal(run_output_load(&a, path("kept")), 0);
	assert_true(inject_output_equal(&a, &b, &judge, &name));
	rd_buf_adds(&a.files[0].data, "2");
	assert_false(inject_output_equal(&a, &b, &judge, &name));
	inject_list_add(&ignore, "res*");
	assert_true(inject_output_equal(&a, &b, &judge, &name));
	run_output_release(&a);
	run_output_release(&b);
	inject_list_release(&ignore);
	rd_buf_release(&diff);
}

/* The diff of any two different texts is not empty, even if they differ only at their ends. */
static void diffs(void **state)
{
	static const char *const texts[] = {"",	   "a",	     "a\n",	  "a\nb\n", "a\nc\n",
					    "b\n", "a\na\n", "a\na\na\n", "\n",	    "\n\n"};
	enum { COUNT = sizeof texts / sizeof *texts };

	(void)state;
	for (int i = 0; i < COUNT; i++)
		for (int k = 0; k < COUNT; k++) {
			if (i == k)
				continue;
			struct run_output a = {.out = text(texts[i]), .err = RD_BUF_INIT};
			struct run_output b = {.out = text(texts[k]), .err = RD_BUF_INIT};
			struct rd_buf diff = RD_BUF_INIT;
			inject_output_diff(&a, &b, "stdout", &diff);
			assert_true(diff.length < 200);
			const char *hunk = strstr(diff.data, "@@\n");
			assert_non_null(hunk);
			assert_true(strstr(hunk, "\n+") || strstr(hunk, "\n-"));
			rd_buf_release(&diff);
			run_output_release(&a);
			run_output_release(&b);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(setups), cmocka_unit_test(lines),   cmocka_unit_test(threads),
		cmocka_unit_test(parts),  cmocka_unit_test(outputs), cmocka_unit_test(diffs),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
