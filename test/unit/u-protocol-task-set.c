// SPDX-License-Identifier: Apache-2.0
/* Unit tests of task sets.  A site reads what a hive writes, and refuses sets that are damaged or
 * for another build. */
#include "base/error.h"
#include "protocol/task-set.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char build[] = "0123456789abcdef";
static const char good[] =
	"{\"version\":1,\"build\":\"0123456789abcdef\",\"serial\":5,\"issued\":1,\"expires\":99,"
	"\"state\":\"validate\",\"poll_s\":60,\"tasks\":[{\"id\":\"t.1\",\"candidate\":\"00000000000000aa\","
	"\"mode\":\"validate\",\"order\":\"alternate\",\"tau_us\":1000,\"unknown\":3}]}";

static void a_set_is_read(void **state)
{
	struct protocol_task_set set;
	(void)state;
	assert_int_equal(protocol_task_set_read(&set, build, good, strlen(good), "test"), 0);
	assert_int_equal(set.serial, 5);
	assert_int_equal(set.expires, 99);
	assert_int_equal(set.state, PROTOCOL_VALIDATE);
	assert_int_equal(set.count, 1);
	assert_string_equal(set.tasks[0].id, "t.1");
	assert_int_equal(set.tasks[0].order, RADDLE_GUARD_ALTERNATE);
	assert_int_equal(set.tasks[0].tau_us, 1000);
}

/* Each pair is a part of a valid set, and the text that replaces it. */
static void wrong_sets_are_refused(void **state)
{
	static const char *const changes[][2] = {
		{"\"version\":1", "\"version\":2"},
		{"0123456789abcdef\",\"serial", "ffff456789abcdef\",\"serial"},
		{"\"state\":\"validate\"", "\"state\":\"attack\""},
		{"\"t.1\"", "\"../../etc\""},
		{"\"00000000000000aa\"", "\"zz\""},
		{"\"mode\":\"validate\"", "\"mode\":\"off\""},
		{"\"order\":\"alternate\"", "\"order\":\"both\""},
		{"\"tau_us\":1000", "\"tau_us\":-1"},
		{"]}", "]"},
	};
	(void)state;
	rd_log_set(rd_log_discard, NULL);
	for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
		struct protocol_task_set set;
		char text[1024];
		const char *at = strstr(good, changes[i][0]);
		assert_non_null(at);
		snprintf(text, sizeof text, "%.*s%s%s", (int)(at - good), good, changes[i][1],
			 at + strlen(changes[i][0]));
		assert_int_not_equal(protocol_task_set_read(&set, build, text, strlen(text), "test"), 0);
		assert_int_equal(set.count, 0);
	}
}

/* The bytes are those that hives have always signed, and a site can read them. */
static void what_is_written_is_read(void **state)
{
	struct protocol_task_set set = {.serial = 7, .issued = 1, .expires = 99, .poll_s = 60, .count = 2},
				 again;
	struct rd_buf body = RD_BUF_INIT;
	(void)state;
	set.state = PROTOCOL_OBSERVE;
	set.tasks[0] = (struct protocol_task){.id = "t.1",
					      .candidate = "00000000000000aa",
					      .mode = PROTOCOL_VALIDATE,
					      .order = RADDLE_GUARD_ALTERNATE,
					      .tau_us = 1000};
	set.tasks[1] = (struct protocol_task){.id = "s.1",
					      .mode = PROTOCOL_OBSERVE,
					      .track = true,
					      .plan = "00000000000000bb",
					      .file = "a \"b\".c",
					      .line = 12,
					      .sigma = 4};
	assert_int_equal(protocol_task_set_write(&set, build, &body), 0);
	assert_string_equal(
		body.data,
		"{\"version\":1,\"build\":\"0123456789abcdef\",\"serial\":7,\"issued\":1,\"expires\":99,"
		"\"state\":\"observe\",\"poll_s\":60,\"tasks\":[{\"id\":\"t.1\",\"candidate\":"
		"\"00000000000000aa\",\"mode\":\"validate\",\"order\":\"alternate\",\"tau_us\":1000},"
		"{\"id\":\"s.1\",\"mode\":\"track\",\"sketch\":\"00000000000000bb\","
		"\"file\":\"a \\\"b\\\".c\",\"line\":12,\"sigma\":4}]}");
	assert_int_equal(protocol_task_set_read(&again, build, body.data, body.length, "test"), 0);
	assert_int_equal(again.serial, 7);
	assert_int_equal(again.count, 2);
	assert_memory_equal(again.tasks, set.tasks, sizeof set.tasks);
	rd_buf_release(&body);
}

static void modes_have_names(void **state)
{
	enum protocol_mode mode;
	(void)state;
	for (int i = 0; i < PROTOCOL_MODES; i++) {
		assert_true(protocol_mode_find(protocol_mode_names[i], &mode));
		assert_int_equal(mode, i);
	}
	assert_false(protocol_mode_find("track", &mode));
	assert_false(protocol_mode_find(NULL, &mode));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_set_is_read),
		cmocka_unit_test(wrong_sets_are_refused),
		cmocka_unit_test(what_is_written_is_read),
		cmocka_unit_test(modes_have_names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
