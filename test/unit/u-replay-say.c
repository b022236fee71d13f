// SPDX-License-Identifier: Apache-2.0
/* Unit tests of the sentences about replays: counts, turns, input from outside, and gdb. */
#include "golden.h"

#include "base/error.h"
#include "base/file.h"
#include "base/scratch.h"
#include "replay/repeat.h"

#include <unistd.h>

typedef void say_fn(const struct replay_repeat *t, FILE *out);

static char *said(say_fn *say, const struct replay_repeat *t)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	say(t, out);
	fclose(out);
	return text;
}

static void counts(void **state)
{
	struct replay_repeat t = {.runs = 5, .reproduced = 3};
	char *text;

	(void)state;
	t.outcomes[REPLAY_CONFIRMED] = 3;
	t.outcomes[REPLAY_DIVERGED] = 2;
	text = said(replay_say_count, &t);
	assert_memory_equal(text, "raddle: reproduced in 3 of 5 replays, 2 ", 40);
	assert_null(strstr(text, ", 3 "));
	free(text);
}

static void turns(void **state)
{
	struct replay_repeat t = REPLAY_REPEAT_INIT;
	char *text;

	(void)state;
	t.turns = (struct replay_turns){.choices = 12, .made_count = 2, .trail = 0xabc};
	text = said(replay_say_turns, &t);
	assert_string_equal(text, "raddle: the threads took turns: 12 choices, 2 of them decided, trail "
				  "0000000000000abc\n");
	free(text);
	t.turns.unsure = 3;
	rd_buf_adds(&t.strayed, "T_0_1 is not there");
	text = said(replay_say_turns, &t);
	assert_non_null(strstr(text, "raddle: 3 times a thread waited for something outside"));
	assert_non_null(strstr(text, "raddle: the run left the schedule: T_0_1 is not there\n"));
	free(text);
	replay_repeat_release(&t);
}

static void outside(void **state)
{
	struct replay_repeat t = REPLAY_REPEAT_INIT;
	char *text = said(replay_say_outside, &t);

	(void)state;
	assert_string_equal(text, ""); /* there was no input from outside */
	free(text);
	t.outside = (struct replay_outside){.arrivals = 4, .arrived = 3, .connections = 2, .same = 1};
	rd_buf_adds(&t.lack, "a connection");
	text = said(replay_say_outside, &t);
	assert_non_null(strstr(text, "raddle: replayed: 3 of 4 arrivals from outside\n"));
	assert_non_null(strstr(text, "; 1 of 2 connections as in the recorded run\n"));
	assert_non_null(strstr(text, "raddle: unmodelled: a connection\n"));
	free(text);
	replay_repeat_release(&t);
}

static void orders(void **state)
{
	struct schedule order = {0}, race = {.goal_count = 2}, deadlock = {.stop_count = 2};
	const char *notes[] = {"a note"};
	struct finding f = {.schedule = &order, .reason = "T_0 ended", .notes = notes, .note_count = 1};
	struct replay_repeat t = {.finding = &f, .debug = true};
	char *text;

	(void)state;
	assert_true(replay_is_order(&order));
	assert_false(replay_is_order(&race));
	assert_false(replay_is_order(&deadlock));
	assert_false(replay_is_order(NULL));
	text = said(replay_say_order, &t);
	assert_non_null(strstr(text, "raddle: the order of the schedule was not kept\nraddle: T_0 ended\n"
				     "raddle: gdb was not started: "));
	assert_non_null(strstr(text, "raddle: a note\n"));
	free(text);
	t.reproduced = 1;
	t.gdb.pid = -1; /* gdb was started and has ended */
	text = said(replay_say_order, &t);
	assert_non_null(strstr(text, "was kept\n"));
	assert_null(strstr(text, "gdb"));
	free(text);
}

/* The script for gdb; another program replaces gdb here.  A thread that is joined holds no lock. */
static void script_of_a_deadlock(void **state)
{
	struct replay_wait waits[] = {
		{.thread = "T_0", .kind = "thread-join", .name = "T_0_1", .waits_on = "T_0_1", .core = true},
		{.thread = "T_0_1", .kind = "mutex-lock", .name = "m", .waits_on = "T_0", .core = true}};
	struct replay_result so_far = {.waits = waits, .wait_count = 2};
	char *directory, *gdb, *old = rd_xstrdup(getenv("PATH"));
	struct rd_buf script = RD_BUF_INIT;
	struct replay_gdb g = {0};

	(void)state;
	assert_int_equal(rd_scratch_open(&directory, NULL, "u-gdb"), RD_OK);
	gdb = rd_xasprintf("%s/gdb", directory);
	assert_int_equal(symlink("/bin/true", gdb), 0);
	setenv("PATH", directory, 1);
	replay_gdb_met(&g, getpid(), &so_far);
	setenv("PATH", old, 1);
	assert_int_equal(rd_file_read(g.script, &script), RD_OK);
	assert_non_null(strstr(script.data, "'waits in thread-join of T_0_1'"));
	assert_non_null(strstr(script.data, "'waits in mutex-lock of m, held by T_0'"));
	assert_int_equal(replay_gdb_close(&g), RD_OK);
	rd_buf_release(&script);
	rd_scratch_close(directory);
	free(gdb);
	free(old);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts),
		cmocka_unit_test(turns),
		cmocka_unit_test(outside),
		cmocka_unit_test(orders),
		cmocka_unit_test(script_of_a_deadlock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
