/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests how the runtime notifies its layers: which layers it notifies, of which events, and in
 * which order.  The layers of the test write a log.  Other tests check how accesses are reported
 * to a layer that needs them one by one, that the operations of a thread do nothing if no layer is
 * notified, and that the child of a fork reports nothing.
 */
#include "rt/core/layer.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct raddle_self rt_placeholder;
struct rt rt;
struct rt_guard rt_guard;
__thread struct raddle_self *__raddle_self;
static struct rt_thread *thread;
static char log_text[4096];
static bool first_is_present, heeds_all;

struct rt_thread *rt_thread_adopt(void)
{
	return NULL;
}

static void say(const char *format, ...)
{
	size_t used = strlen(log_text);
	va_list ap;

	va_start(ap, format);
	vsnprintf(log_text + used, sizeof log_text - used, format, ap);
	va_end(ap);
}

static bool first_setup(void)
{
	return first_is_present;
}

static void first_forked(void)
{
	say("first forked;");
}

static void first_begins(struct rt_thread *t)
{
	assert_ptr_equal(t, thread);
	say("first begins;");
}

static void first_enter(struct rt_op *op)
{
	op->state[RT_LAYER_STEER].word[0] = 77;
	say("enter %u %u;", op->kind, (unsigned)op->object);
}

static void first_end(struct rt_op *op)
{
	assert_ptr_equal(op->t, thread);
	assert_int_equal(op->state[RT_LAYER_STEER].word[0], 77);
	say("end %u;", op->kind);
}

static void first_left(struct rt_op *op)
{
	say("left %u;", op->kind);
}

static void first_releasing(struct rt_op *op, uint32_t kind, uintptr_t object)
{
	op->shared = true;
	say("first releasing %u %u;", kind, (unsigned)object);
}

static void first_access(struct rt_thread *t, uintptr_t address, uint64_t size, uint32_t site, uint32_t how)
{
	(void)t;
	say("first access %u %u %u %u;", (unsigned)address, (unsigned)size, site, how);
}

static void first_heeds(const struct rt_thread *t, uint32_t site, bool *heeded)
{
	(void)t;
	*heeded |= heeds_all && site == 9;
}

static void second_releasing(struct rt_op *op, uint32_t kind, uintptr_t object)
{
	say("second releasing %u %u %s;", kind, (unsigned)object, op->shared ? "shared" : "alone");
}

static void second_access(struct rt_thread *t, uintptr_t address, uint64_t size, uint32_t site, uint32_t how)
{
	(void)t;
	say("second access %u %u %u %u;", (unsigned)address, (unsigned)size, site, how);
}

static void second_update(struct rt_thread *t, uintptr_t address, uint32_t size, uint64_t sites)
{
	(void)t;
	say("update %u %u %u %u;", (unsigned)address, size, (uint32_t)sites, (uint32_t)(sites >> 32));
}

static void second_stride(struct rt_thread *t, const struct rt_record *stride, uint32_t size, uint32_t how)
{
	(void)t;
	say("stride %u %u %u;", (unsigned)stride->operand[2], size, how);
}

static void second_segment_ends(struct rt_thread *t, bool *ends)
{
	(void)t;
	*ends |= rt_unread();
}

static void silent_begins(struct rt_thread *t)
{
	(void)t;
	say("silent begins;");
}

static const struct rt_layer silent = {.number = RT_LAYER_RECORD, .begins = silent_begins};
static const struct rt_layer first = {.number = RT_LAYER_STEER,
				      .listens = true,
				      .setup = first_setup,
				      .forked = first_forked,
				      .begins = first_begins,
				      .callbacks = {.op_enter = first_enter,
						    .op_end = first_end,
						    .op_left = first_left,
						    .releasing = first_releasing,
						    .access = first_access,
						    .heeds = first_heeds}};
static const struct rt_layer second = {.number = RT_LAYER_DETECT,
				       .listens = true,
				       .callbacks = {.releasing = second_releasing,
						     .access = second_access,
						     .update = second_update,
						     .stride = second_stride,
						     .segment_ends = second_segment_ends}};
const struct rt_layer *const rt_layers[] = {&silent, &first, &second, NULL};

static void expect(const char *text)
{
	assert_string_equal(log_text, text);
	log_text[0] = 0;
}

static int begin(void **state)
{
	static struct raddle_session session;

	(void)state;
	memset(&rt, 0, sizeof rt);
	log_text[0] = 0;
	first_is_present = true;
	heeds_all = false;
	session.discard = 0;
	rt.session = &session;
	rt_guard.alive = RT_PLAIN;
	thread = calloc(1, sizeof *thread);
	__raddle_self = &thread->self;
	rt_layers_setup();
	thread->recording = rt.listening[0] ? RT_LISTENED : RT_PLAIN;
	return 0;
}

static int end(void **state)
{
	(void)state;
	free(thread);
	return 0;
}

static void test_presence(void **state)
{
	(void)state;
	assert_int_equal(rt_guard.alive, RT_LISTENED);
	RT_NOTIFY_ALL(begins, thread);
	expect("silent begins;first begins;");

	memset(&rt, 0, sizeof rt);
	first_is_present = false;
	rt_layers_setup();
	assert_ptr_equal(rt.listening[0], &second);
	assert_null(rt.listening[1]);
	RT_NOTIFY_ALL(begins, thread);
	expect("silent begins;");
	RT_NOTIFY(access, thread, 64, 8, 3, RT_ACCESS_WRITE);
	expect("second access 64 8 3 1;");
}

static void test_operation(void **state)
{
	(void)state;
	{
		RT_OP(op, 5, 40);
		rt_op_releasing(&op, 6, 41);
		rt_op_released(&op, 6, 41, 0); /* no layer has this callback */
		rt_op_end(&op);
	}
	expect("enter 5 40;first releasing 6 41;second releasing 6 41 shared;end 5;");
	{
		RT_OP(op, 7, 42);
		rt_op_is(&op, 8);
	}
	expect("enter 7 42;left 8;");
}

static void test_silence(void **state)
{
	(void)state;
	thread->recording = RT_PLAIN;
	{
		RT_OP(op, 5, 40);
		assert_null(op.t);
		rt_op_is(&op, 6);
		rt_op_waits(&op, 40, false);
		rt_op_releasing(&op, 6, 41);
		rt_op_gate(&op);
		rt_op_end(&op);
	}
	expect("");
}

static void test_accesses(void **state)
{
	struct rt_record stride = {.site = 9, .operand = {100, 16, 3}};

	(void)state;
	rt_notify_update(thread, 64, 4, 2ull << 32 | 1);
	expect("update 64 4 1 2;");
	rt_heed(thread, RT_LAYER_STEER, true);
	rt_notify_update(thread, 64, 4, 2ull << 32 | 1);
	expect("first access 64 4 1 0;second access 64 4 1 0;first access 64 4 2 1;second access 64 4 2 1;");
	assert_true(rt_notify_segment_ends(thread));
	rt_heed(thread, RT_LAYER_STEER, false);
	assert_false(rt_notify_segment_ends(thread));
	rt.session->discard = 1;
	assert_true(rt_notify_segment_ends(thread));

	rt_notify_stride(thread, &stride, 8, RT_ACCESS_WRITE);
	expect("stride 3 8 1;");
	heeds_all = true;
	rt_notify_stride(thread, &stride, 8, RT_ACCESS_READ);
	expect("first access 100 8 9 0;second access 100 8 9 0;first access 116 8 9 0;second access 116 8 9 "
	       "0;"
	       "first access 132 8 9 0;second access 132 8 9 0;");
}

static void test_fork(void **state)
{
	(void)state;
	rt.layer[silent.number] = rt.layer[first.number] = rt.layer[second.number] = thread;
	rt_layers_forked();
	expect("first forked;");
	assert_non_null(rt.layer[silent.number]);
	assert_non_null(rt.layer[first.number]); /* it has a callback for forks */
	assert_null(rt.layer[second.number]);
	RT_NOTIFY(access, thread, 64, 8, 3, RT_ACCESS_WRITE);
	expect("");
	RT_NOTIFY_ALL(begins, thread);
	expect("silent begins;");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_presence, begin, end),
		cmocka_unit_test_setup_teardown(test_operation, begin, end),
		cmocka_unit_test_setup_teardown(test_silence, begin, end),
		cmocka_unit_test_setup_teardown(test_accesses, begin, end),
		cmocka_unit_test_setup_teardown(test_fork, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
