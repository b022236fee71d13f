// SPDX-License-Identifier: Apache-2.0
/* Unit tests of the text that describes one run with a fault (report_inject_run()). */
#include "golden.h"

#include "inject/kind.h"
#include "report/inject.h"

static char *words(const struct runlog_run *r)
{
	struct rd_buf b = RD_BUF_INIT;
	char *text;

	report_inject_run(r, &b);
	text = rd_xstrdup(b.data);
	rd_buf_release(&b);
	return text;
}

static const struct runlog_run crash = {.fault = "BitFlip",
					.thread = "T_0_1",
					.where = "sort.c:12 swap",
					.opcode = "load",
					.instance = 3,
					.fired = 1,
					.before = "0x5",
					.after = "0x7",
					.outcome = RUNLOG_CRASH,
					.signal = "SIGSEGV",
					.exit = -1,
					.place = "sort.c:14 swap",
					.deviation_thread = "T_0",
					.deviation_at = "sort.c:30 main"};

static void fault_outcome_deviation(void **state)
{
	char *text = words(&crash);

	(void)state;
	assert_non_null(strstr(text, "BitFlip in T_0_1 at sort.c:12 swap (load, execution 3)\n"
				     "  0x5 became 0x7\n"
				     "outcome: crash, SIGSEGV at sort.c:14 swap\n"
				     "first deviation: "));
	assert_non_null(strstr(text, " in T_0 at sort.c:30 main\n"));
	free(text);
}

static void what_did_not_happen(void **state)
{
	struct runlog_run r = crash;
	char *text;

	(void)state;
	r.fired = 0;
	r.outcome = RUNLOG_INACTIVE;
	r.signal = NULL;
	r.exit = 4;
	text = words(&r);
	assert_non_null(strstr(text, "  did not happen\noutcome: not-activated, exit status 4 at "));
	free(text);
}

static void calls_that_were_left_out(void **state)
{
	struct runlog_run r = crash;
	char *text;

	(void)state;
	r.action = "call";
	r.thread = NULL;
	text = words(&r);
	assert_non_null(strstr(text, "  the call was left out and returned 0x7\n"));
	assert_null(strstr(text, "(null)"));
	free(text);
}

static void kinds_on_lines(void **state)
{
	const struct inject_setup setup = {0};
	const struct inject_census census = {0};
	struct inject_ground ground = {.setup = &setup, .census = &census};
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	(void)state;
	assert_int_equal(report_inject_kinds_json(&ground, out), 0);
	fclose(out);
	assert_non_null(strstr(text, "\n\t\t{\"fault\": \"BitFlip\""));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fault_outcome_deviation),
		cmocka_unit_test(what_did_not_happen),
		cmocka_unit_test(calls_that_were_left_out),
		cmocka_unit_test(kinds_on_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
