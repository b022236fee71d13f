// SPDX-License-Identifier: Apache-2.0
/*
 * Unit tests of which thread failed in a run, according to its trace.  It may be the thread that
 * aborted, even if it allocated memory for the message of an assertion after that.  It may be the
 * thread that dereferenced NULL, or the only thread that ran.  If the thread is unknown, all
 * threads are shown.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/error.h"
#include "base/file.h"
#include "predict/failure.h"
#include "trace/encode-int.h"
#include "trace/writer.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define THREADS 2
#define SITE 5

static char directory[40];
static struct trace *trace;
static struct model *model;
static struct finding_set *set;

/* What each thread does after its start: an access, and then up to two events. */
struct end {
	uint64_t address; /* 0: no access */
	enum raddle_event last[2];
	unsigned count;
};

static void encode(struct trace_encoder *e, uint64_t thread, const struct end *end)
{
	uint64_t q = 1 + 100 * thread;

	trace_encode_reset(e);
	trace_encode_row(e, RADDLE_THREAD_START, (uint64_t[]){q, 0, 0, 0, 0, 0, 1000 + thread}, NULL);
	if (end->address)
		trace_encode_access(e, SITE, end->address);
	for (unsigned i = 0; i < end->count; i++)
		trace_encode_row(e, end->last[i], (uint64_t[RADDLE_MAX_OPERANDS]){++q, 1, 2, 3}, NULL);
}

static bool look(const struct end ends[THREADS], int number)
{
	struct trace_meta meta = {.complete = true, .end = TRACE_SIGNALLED, .code = number};
	struct trace_encoder e[THREADS] = {0};
	struct trace_writer *w = NULL;

	assert_int_equal(trace_writer_open(&w, directory), RD_OK);
	for (unsigned i = 0; i < THREADS; i++) {
		encode(&e[i], i, &ends[i]);
		assert_int_equal(trace_writer_chunk(w, i, e[i].out.data, e[i].out.length), RD_OK);
		rd_buf_release(&e[i].out);
	}
	assert_int_equal(trace_writer_meta(w, &meta), RD_OK);
	assert_int_equal(trace_writer_close(w), RD_OK);
	assert_int_equal(trace_open(&trace, directory, true), RD_OK);
	assert_int_equal(model_build(&model, trace, MODEL_HISTORIES), RD_OK);
	set = finding_set_new();
	return predict_failure(model, number, set);
}

static int set_up(void **state)
{
	(void)state;
	strcpy(directory, "/tmp/u-predict-failure-XXXXXX");
	return mkdtemp(directory) ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	finding_set_free(set);
	model_free(model);
	trace_close(trace);
	return rd_remove_tree(directory);
}

/* Expects one confirmed finding with this signal.  If `known`, it is in the second thread. */
static void expect(const char *name, const char *consequence, bool known)
{
	const struct finding *f = set->items[0];

	assert_int_equal(set->count, 1);
	assert_int_equal(f->kind, FINDING_FAILURE);
	assert_int_equal(f->status, FINDING_CONFIRMED);
	assert_string_equal(f->consequence, consequence);
	assert_string_equal(f->cycle[0].wants, name);
	assert_int_equal(f->cycle_count, known ? 1 : 1 + THREADS);
	if (known)
		assert_string_equal(f->cycle[0].thread, model->threads[1].name);
	else
		assert_null(f->cycle[0].thread);
}

static void an_abort_among_others(void **state)
{
	const struct end ends[] = {{0x500000, {0}, 0}, {0x600000, {RADDLE_ABORT, RADDLE_ALLOC}, 2}};

	(void)state;
	assert_true(look(ends, SIGABRT));
	assert_true(predict_has_aborted(model));
	expect("SIGABRT", "abort", true);
}

static void a_crash_of_the_one_that_touched_nothing(void **state)
{
	const struct end ends[] = {{0x500000, {0}, 0}, {8, {0}, 0}};

	(void)state;
	assert_true(look(ends, SIGSEGV));
	assert_false(predict_has_aborted(model));
	expect("SIGSEGV", "crash", true);
}

static void a_crash_of_the_only_one_that_ran(void **state)
{
	const struct end ends[] = {{0x500000, {RADDLE_MUTEX_REQUEST}, 1}, {0x600000, {0}, 0}};

	(void)state;
	assert_true(look(ends, SIGBUS));
	expect("SIGBUS", "crash", true);
}

static void a_crash_of_one_of_two(void **state)
{
	const struct end ends[] = {{0x500000, {0}, 0}, {0x600000, {0}, 0}};

	(void)state;
	assert_true(look(ends, SIGSEGV));
	expect("SIGSEGV", "crash", false);
}

static void nobody_did_anything(void **state)
{
	const struct end ends[] = {{0, {0}, 0}, {0, {0}, 0}};

	(void)state;
	assert_false(look(ends, SIGSEGV));
	assert_int_equal(set->count, 0);
	assert_true(predict_is_failure(SIGFPE));
	assert_false(predict_is_failure(SIGTERM));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(an_abort_among_others, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_crash_of_the_one_that_touched_nothing, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_crash_of_the_only_one_that_ran, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_crash_of_one_of_two, set_up, tear_down),
		cmocka_unit_test_setup_teardown(nobody_did_anything, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
