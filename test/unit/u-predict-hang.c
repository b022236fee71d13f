// SPDX-License-Identifier: Apache-2.0
/*
 * Unit tests of deadlocks with joins and once controls, predicted from traces.  Some traces are
 * from programs that were killed while deadlocked (join-request, once-request).  Others are from
 * programs that ended normally but could have deadlocked.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/error.h"
#include "base/file.h"
#include "finding/schedule.h"
#include "predict/describe-int.h"
#include "trace/encode-int.h"
#include "trace/writer.h"
#include "predict/validate.c"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define MUTEX 0x1000
#define ONCE 0x2000
#define THREADS 3

struct event {
	unsigned thread;
	enum raddle_event kind;
	uint64_t operand;
};

static char directory[32];
static struct trace *trace;
static struct model *model;
static struct finding_set *set;

static void encode(struct trace_encoder *e, const struct event *v, uint64_t q)
{
	uint64_t values[RADDLE_MAX_OPERANDS] = {q, 0, v->operand};

	if (v->kind == RADDLE_THREAD_START)
		memcpy(values + 2, (uint64_t[]){0, v->operand - 1}, 2 * sizeof *values);
	else if (v->kind == RADDLE_THREAD_CREATE)
		values[3] = v->operand - 1;
	trace_encode_row(e, v->kind, values, NULL);
}

static void write_trace(const struct event *events, size_t count, bool hung)
{
	struct trace_encoder e[THREADS] = {0};
	struct trace_meta meta = {.complete = true};
	struct trace_writer *w = NULL;

	if (hung) {
		meta.end = TRACE_SIGNALLED;
		meta.code = SIGTERM;
	}
	for (unsigned i = 0; i < THREADS; i++)
		trace_encode_reset(&e[i]);
	for (size_t i = 0; i < count; i++)
		encode(&e[events[i].thread], &events[i], i + 1);
	assert_int_equal(trace_writer_open(&w, directory), RD_OK);
	for (unsigned i = 0; i < THREADS; i++) {
		if (e[i].out.length > 1)
			assert_int_equal(trace_writer_chunk(w, i, e[i].out.data, e[i].out.length), RD_OK);
		rd_buf_release(&e[i].out);
	}
	assert_int_equal(trace_writer_meta(w, &meta), RD_OK);
	assert_int_equal(trace_writer_close(w), RD_OK);
}

/* Predicts from the events.  The findings stay in `set` until tear_down(). */
static void predict(const struct event *events, size_t count, bool hung)
{
	struct predict_opts o = {.no_races = true};
	struct predict_result r;
	struct predict_trace t;

	write_trace(events, count, hung);
	assert_int_equal(trace_open(&trace, directory, true), RD_OK);
	assert_int_equal(model_build(&model, trace, MODEL_HISTORIES), RD_OK);
	assert_int_equal(predict_fill(&t, model), RD_OK);
	assert_int_equal(t.dropped, 0);
	assert_int_equal(predict_run(&t.x, &o, &r), RD_OK);
	for (size_t i = 0; i < r.deadlock_count; i++)
		assert_null(predict_validate(&t.x, r.deadlocks[i].class == PREDICT_SOUND,
					     r.deadlocks[i].stops, r.deadlocks[i].count,
					     &r.deadlocks[i].witness));
	set = finding_set_new();
	predict_describe(&t, &r, set, (struct predict_limit){.findings = 10});
	predict_result_release(&r);
	predict_trace_release(&t);
}
#define PREDICT(events, hung) predict(events, sizeof(events) / sizeof *(events), hung)

static int set_up(void **state)
{
	(void)state;
	strcpy(directory, "/tmp/u-predict-hang-XXXXXX");
	return mkdtemp(directory) ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	finding_set_free(set);
	model_free(model);
	trace_close(trace);
	set = NULL;
	model = NULL;
	trace = NULL;
	return rd_remove_tree(directory);
}

static const struct finding_wait *wait_of(const char *thread)
{
	assert_int_equal(set->count, 1);
	for (size_t i = 0; i < set->items[0]->cycle_count; i++)
		if (strcmp(set->items[0]->cycle[i].thread, thread) == 0)
			return &set->items[0]->cycle[i];
	fail_msg("%s is not in the cycle", thread);
	return NULL;
}

static const struct schedule_stop *stop_of(const char *thread)
{
	const struct schedule *s = set->items[0]->schedule;

	for (size_t i = 0; i < s->stop_count; i++)
		if (strcmp(s->stops[i].thread, thread) == 0)
			return &s->stops[i];
	fail_msg("%s has no stop", thread);
	return NULL;
}

#define BIRTH                                                                                                \
	{0, RADDLE_THREAD_START, 1}, {0, RADDLE_THREAD_CREATE, 1},                                           \
	{                                                                                                    \
		1, RADDLE_THREAD_START, 1                                                                    \
	}

static void test_standing_join(void **state)
{
	static const struct event events[] = {BIRTH,
					      {0, RADDLE_MUTEX_LOCK, MUTEX},
					      {1, RADDLE_MUTEX_REQUEST, MUTEX},
					      {0, RADDLE_JOIN_REQUEST, 1}};
	(void)state;
	PREDICT(events, true);
	assert_string_equal(wait_of("T_0")->kind, "join");
	assert_string_equal(wait_of("T_0")->wants, "T_0_0");
	assert_int_equal(wait_of("T_0")->hold_count, 1);
	assert_string_equal(wait_of("T_0_0")->kind, "mutex");
	assert_string_equal(stop_of("T_0")->kind, "thread-join");
	assert_int_equal(stop_of("T_0")->n, 4);
	assert_int_equal(stop_of("T_0_0")->n, 2);
}

/* The joined thread does not wait for the mutex, so it would have ended at some point. */
static void test_patient_join(void **state)
{
	static const struct event events[] = {BIRTH, {0, RADDLE_JOIN_REQUEST, 1}, {1, RADDLE_ALLOC, 0}};
	(void)state;
	PREDICT(events, true);
	assert_int_equal(set->count, 0);
}

static void test_standing_once(void **state)
{
	static const struct event events[] = {BIRTH,
					      {1, RADDLE_ONCE_RUN, ONCE},
					      {0, RADDLE_MUTEX_LOCK, MUTEX},
					      {1, RADDLE_MUTEX_REQUEST, MUTEX},
					      {0, RADDLE_ONCE_REQUEST, ONCE}};
	(void)state;
	PREDICT(events, true);
	assert_string_equal(wait_of("T_0")->kind, "once");
	assert_false(wait_of("T_0")->shared);
	assert_string_equal(wait_of("T_0_0")->kind, "mutex");
	assert_int_equal(wait_of("T_0_0")->hold_count, 1);
	assert_string_equal(wait_of("T_0_0")->holds[0].kind, "once");
	assert_string_equal(stop_of("T_0")->kind, "once-pass");
	assert_int_equal(stop_of("T_0")->n, 4);
}

static void test_once_within_itself(void **state)
{
	static const struct event events[] = {
		{0, RADDLE_THREAD_START, 1}, {0, RADDLE_ONCE_RUN, ONCE}, {0, RADDLE_ONCE_REQUEST, ONCE}};
	(void)state;
	PREDICT(events, true);
	assert_string_equal(wait_of("T_0")->kind, "once");
	assert_int_equal(set->items[0]->cycle_count, 1);
}

static void test_predicted_once(void **state)
{
	static const struct event events[] = {BIRTH,
					      {1, RADDLE_ONCE_RUN, ONCE},
					      {1, RADDLE_MUTEX_LOCK, MUTEX},
					      {1, RADDLE_MUTEX_UNLOCK, MUTEX},
					      {1, RADDLE_ONCE_DONE, ONCE},
					      {0, RADDLE_MUTEX_LOCK, MUTEX},
					      {0, RADDLE_ONCE_PASS, ONCE},
					      {0, RADDLE_MUTEX_UNLOCK, MUTEX}};
	(void)state;
	PREDICT(events, false);
	assert_true(set->items[0]->sound);
	assert_string_equal(wait_of("T_0")->kind, "once");
	assert_string_equal(wait_of("T_0_0")->kind, "mutex");
	assert_int_equal(stop_of("T_0")->n, 4);
	assert_string_equal(stop_of("T_0")->kind, "once-pass");
	assert_int_equal(stop_of("T_0_0")->n, 3);
}

/* The thread that passes the once control knows from an earlier pass that the initialiser has
 * run. */
static void test_once_known(void **state)
{
	static const struct event events[] = {BIRTH,
					      {1, RADDLE_ONCE_RUN, ONCE},
					      {1, RADDLE_MUTEX_LOCK, MUTEX},
					      {1, RADDLE_MUTEX_UNLOCK, MUTEX},
					      {1, RADDLE_ONCE_DONE, ONCE},
					      {0, RADDLE_ONCE_PASS, ONCE},
					      {0, RADDLE_MUTEX_LOCK, MUTEX},
					      {0, RADDLE_ONCE_PASS, ONCE},
					      {0, RADDLE_MUTEX_UNLOCK, MUTEX}};
	(void)state;
	PREDICT(events, false);
	assert_int_equal(set->count, 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(test_standing_join),      TEST(test_patient_join),	  TEST(test_standing_once),
		TEST(test_once_within_itself), TEST(test_predicted_once), TEST(test_once_known),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
