// SPDX-License-Identifier: Apache-2.0
/*
 * Unit tests of base/context.h.  Messages go to the context of the thread that issues them.  If
 * memory runs out, only the current request ends.  test/cli/base-threads.sh runs this test under
 * ThreadSanitizer, too.
 */
#include "base/context.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/file.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#define THREADS 8
#define ROUNDS 300
#define TOO_MUCH (SIZE_MAX / 2) /* more than any machine has */

/* These tests request more memory than there is.  AddressSanitizer shall return NULL, not abort. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
	return "allocator_may_return_null=1";
}

static void release_arena(void *arena)
{
	rd_arena_free(arena);
}

static void release_buf(void *buf)
{
	rd_buf_release(buf);
}

struct notes {
	unsigned count;
	enum rd_level level;
	char last[200];
};

static void note(void *data, enum rd_level level, const char *message)
{
	struct notes *n = data;

	n->count++;
	n->level = level;
	snprintf(n->last, sizeof n->last, "%s", message);
}

/* ---- messages: which context receives them ---- */

static void messages_go_to_the_innermost(void **state)
{
	struct notes outer_notes = {0}, inner_notes = {0};
	struct rd_context outer = {.log = note, .data = &outer_notes};
	struct rd_context silent = {0}, inner = {.log = note, .data = &inner_notes};

	(void)state;
	assert_null(rd_context_current());
	rd_context_enter(&outer);
	rd_context_enter(&silent); /* it has no sink, so its messages go to the outer context */
	assert_int_equal(rd_fail(RD_EFORMAT, "first"), RD_EFORMAT);
	rd_context_enter(&inner);
	rd_fail(RD_EFORMAT, "second");
	rd_context_leave(&inner);
	rd_warn("third %d", 3);
	rd_context_leave(&silent);
	rd_context_leave(&outer);
	assert_null(rd_context_current());
	assert_int_equal(inner_notes.count, 1);
	assert_string_equal(inner_notes.last, "second");
	assert_int_equal(outer_notes.count, 2);
	assert_string_equal(outer_notes.last, "third 3");
	assert_int_equal(outer_notes.level, RD_LOG_WARN);
}

/* A sink that passes messages on, and turns errors into warnings of its own. */
static void pass_on(void *data, enum rd_level level, const char *message)
{
	(void)data;
	if (level == RD_LOG_ERROR)
		rd_warn("about: %s", message);
	else
		rd_log_pass(level, message);
}

static void a_sink_speaks_to_the_outer_one(void **state)
{
	struct notes notes = {0};
	struct rd_context outer = {.log = note, .data = &notes}, inner = {.log = pass_on};

	(void)state;
	rd_context_enter(&outer);
	rd_context_enter(&inner);
	rd_fail(RD_EUSAGE, "x");
	assert_string_equal(notes.last, "about: x");
	rd_warn("y");
	assert_string_equal(notes.last, "y");
	assert_int_equal(notes.count, 2);
	rd_context_leave(&inner);
	rd_context_leave(&outer);
}

/* ---- requests that run out of memory ---- */

static int ask_too_much(void *argument)
{
	free(rd_xmalloc(TOO_MUCH));
	*(bool *)argument = true;
	return RD_OK;
}

static int add_up(void *argument)
{
	int *sum = argument;

	free(rd_xmalloc(100));
	return *sum += 4;
}

static void work_that_has_memory(void **state)
{
	struct notes notes = {0};
	struct rd_context c = {.log = note, .data = &notes};
	int sum = 3;

	(void)state;
	assert_int_equal(rd_context_run(&c, add_up, &sum), 7);
	assert_int_equal(rd_context_run(&c, add_up, &sum), 11);
	assert_int_equal(notes.count, 0);
	assert_null(rd_context_current());
}

static void work_that_has_none(void **state)
{
	struct notes notes = {0};
	struct rd_context c = {.log = note, .data = &notes};
	bool went_on = false;

	(void)state;
	assert_int_equal(rd_context_run(&c, ask_too_much, &went_on), RD_ENOMEM);
	assert_false(went_on);
	assert_int_equal(notes.count, 1);
	assert_string_equal(notes.last, "out of memory");
	assert_null(rd_context_current());
	/* The context can be used again after a failure. */
	int sum = 0;
	assert_int_equal(rd_context_run(&c, add_up, &sum), 4);
}

static int every_way(void *argument)
{
	struct rd_buf b = RD_BUF_INIT;
	struct rd_arena *arena = rd_arena_new();
	struct rd_cleanup cleanup[2];
	void *array = NULL;
	size_t capacity = 0;

	rd_cleanup_add(&cleanup[0], release_arena, arena);
	rd_cleanup_add(&cleanup[1], release_buf, &b);
	switch (*(int *)argument) {
	case 0: rd_buf_reserve(&b, TOO_MUCH); break;
	case 1: rd_arena_alloc(arena, TOO_MUCH); break;
	case 2: rd_grow(&array, &capacity, TOO_MUCH, 16); break;
	case 3: free(rd_xcalloc(TOO_MUCH, 16)); break;
	default: free(rd_xrealloc(NULL, TOO_MUCH));
	}
	return RD_OK;
}

static void every_function_ends_the_context(void **state)
{
	(void)state;
	for (int way = 0; way < 5; way++) {
		struct rd_context c = {.log = rd_log_discard};
		assert_int_equal(rd_context_run(&c, every_way, &way), RD_ENOMEM);
	}
}

static void push_letter(void *argument)
{
	static char *at;

	if (!argument)
		at = NULL;
	else if (!at)
		at = argument; /* the first call passes the text that later calls write to */
	else
		*at++ = *(const char *)argument;
}

static int with_cleanups(void *argument)
{
	struct rd_context inner = {.log = rd_log_discard};
	struct rd_cleanup a, b, c, d;

	rd_cleanup_add(&a, push_letter, "a");
	rd_cleanup_add(&b, push_letter, "b");
	rd_context_enter(&inner);
	rd_cleanup_add(&c, push_letter, "c");
	rd_cleanup_add(&d, push_letter, "d");
	rd_cleanup_remove(&d);
	if (*(bool *)argument)
		free(rd_xmalloc(TOO_MUCH));
	rd_cleanup_remove(&c);
	rd_context_leave(&inner);
	rd_cleanup_remove(&b);
	rd_cleanup_remove(&a);
	return RD_OK;
}

static void cleanups_run_newest_first(void **state)
{
	struct rd_context c = {.log = rd_log_discard};
	char order[8] = "";
	bool fail = false;

	(void)state;
	push_letter(NULL);
	push_letter(order);
	assert_int_equal(rd_context_run(&c, with_cleanups, &fail), RD_OK);
	assert_string_equal(order, "");
	fail = true;
	assert_int_equal(rd_context_run(&c, with_cleanups, &fail), RD_ENOMEM);
	assert_string_equal(order, "cba");
}

static void fail_too(void *argument)
{
	++*(int *)argument;
	free(rd_xmalloc(TOO_MUCH));
}

static int with_failing_cleanups(void *argument)
{
	struct rd_cleanup a, b;

	rd_cleanup_add(&a, fail_too, argument);
	rd_cleanup_add(&b, fail_too, argument);
	free(rd_xmalloc(TOO_MUCH));
	return RD_OK;
}

static void each_cleanup_runs_once(void **state)
{
	struct rd_context c = {.log = rd_log_discard};
	int runs = 0;

	(void)state;
	assert_int_equal(rd_context_run(&c, with_failing_cleanups, &runs), RD_ENOMEM);
	assert_int_equal(runs, 2);
}

/* ---- limits on the memory of a request ---- */

static int take_bytes(void *argument)
{
	for (size_t left = *(size_t *)argument; left > 0; left -= 100)
		free(rd_xcalloc(1, 100));
	return RD_OK;
}

static void a_limit_is_in_all(void **state)
{
	struct notes notes = {0};
	size_t bytes = 5000;

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct rd_context c = {.log = note, .data = &notes, .limit = i ? 4999 : 5000};
		assert_int_equal(rd_context_run(&c, take_bytes, &bytes), i ? RD_ENOMEM : RD_OK);
		assert_int_equal(notes.count, i);
	}
}

static int format_bytes(void *argument)
{
	free(rd_xasprintf("%0*d", (int)*(size_t *)argument, 0));
	return RD_OK;
}

static void formatted_texts_count(void **state)
{
	struct notes notes = {0};
	struct rd_context c = {.log = note, .data = &notes, .limit = 1000};
	size_t bytes = 500;

	(void)state;
	assert_int_equal(rd_context_run(&c, format_bytes, &bytes), RD_OK);
	bytes = 1000;
	assert_int_equal(rd_context_run(&c, format_bytes, &bytes), RD_ENOMEM);
	assert_int_equal(notes.count, 1);
}

static void greedy(void *data, enum rd_level level, const char *message)
{
	(void)level;
	(void)message;
	++*(int *)data;
	free(rd_xmalloc(TOO_MUCH));
}

/* The sink runs out of memory, too, so only the result shows the failure. */
static void a_sink_without_memory(void **state)
{
	int calls = 0;
	struct rd_context c = {.log = greedy, .data = &calls};
	bool went_on;

	(void)state;
	assert_int_equal(rd_context_run(&c, ask_too_much, &went_on), RD_ENOMEM);
	assert_int_equal(calls, 1);
	assert_null(rd_context_current());
}

static int nested(void *argument)
{
	struct rd_context inner = {.log = rd_log_discard};
	int code = rd_context_run(&inner, ask_too_much, argument);

	return code == RD_ENOMEM ? 5 : code;
}

static void the_inner_boundary_ends(void **state)
{
	struct notes notes = {0};
	struct rd_context c = {.log = note, .data = &notes};
	bool went_on = false;

	(void)state;
	assert_int_equal(rd_context_run(&c, nested, &went_on), 5);
	assert_int_equal(notes.count, 0);
}

/* ---- requests in several threads ---- */

struct request {
	pthread_t thread;
	unsigned number;
	pthread_barrier_t *start;
	struct notes notes;
	unsigned wrong;
};

static int serve(void *argument)
{
	struct request *r = argument;
	struct rd_cleanup cleanup;
	struct rd_buf b = RD_BUF_INIT;
	char path[64];

	if (r->number % 2) {
		rd_cleanup_add(&cleanup, release_buf, &b);
		rd_buf_adds(&b, "some text");
		rd_buf_reserve(&b, TOO_MUCH);
	}
	snprintf(path, sizeof path, "absent-%u", r->number);
	return rd_file_read(path, &b);
}

static void *requests(void *argument)
{
	struct request *r = argument;
	char expected[64];

	snprintf(expected, sizeof expected, "absent-%u", r->number);
	pthread_barrier_wait(r->start);
	for (unsigned i = 0; i < ROUNDS; i++) {
		struct rd_context c = {.log = note, .data = &r->notes};
		int code = rd_context_run(&c, serve, r);

		if (r->number % 2)
			r->wrong += code != RD_ENOMEM || strcmp(r->notes.last, "out of memory") != 0;
		else
			r->wrong += code != RD_ESYSTEM || !strstr(r->notes.last, expected);
	}
	return NULL;
}

static void threads_fail_at_once(void **state)
{
	static struct request r[THREADS];
	pthread_barrier_t start;

	(void)state;
	pthread_barrier_init(&start, NULL, THREADS);
	for (unsigned i = 0; i < THREADS; i++) {
		r[i] = (struct request){.number = i, .start = &start};
		assert_int_equal(pthread_create(&r[i].thread, NULL, requests, &r[i]), 0);
	}
	for (unsigned i = 0; i < THREADS; i++) {
		pthread_join(r[i].thread, NULL);
		assert_int_equal(r[i].wrong, 0);
		assert_int_equal(r[i].notes.count, ROUNDS);
	}
	pthread_barrier_destroy(&start);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(messages_go_to_the_innermost),
		cmocka_unit_test(a_sink_speaks_to_the_outer_one),
		cmocka_unit_test(work_that_has_memory),
		cmocka_unit_test(work_that_has_none),
		cmocka_unit_test(every_function_ends_the_context),
		cmocka_unit_test(cleanups_run_newest_first),
		cmocka_unit_test(each_cleanup_runs_once),
		cmocka_unit_test(a_limit_is_in_all),
		cmocka_unit_test(formatted_texts_count),
		cmocka_unit_test(a_sink_without_memory),
		cmocka_unit_test(the_inner_boundary_ends),
		cmocka_unit_test(threads_fail_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
