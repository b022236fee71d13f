// SPDX-License-Identifier: Apache-2.0
/* Unit tests of the contracts in raddle/: queries of the event table, the stacks of a session, keys
 * and checksums. */
#include "raddle/event.h"
#include "raddle/plugin.h"
#include "raddle/session.h"
#include "raddle/world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* ---- queries of the event table ---- */

static void every_kind_has_one_meaning(void **state)
{
	(void)state;
	for (uint32_t kind = 0; kind <= RADDLE_ACCESS; kind++) {
		assert_false(raddle_is_lock(kind) && !raddle_is_sync(kind));
		assert_false(raddle_is_access(kind) && raddle_is_sync(kind));
		assert_false(raddle_is_cond_wait(kind) && raddle_is_lock(kind));
		if (raddle_ends_segment(kind, 0))
			assert_true(raddle_has_q(kind));
		if (raddle_handling(kind) != RADDLE_HANDLES_NOT)
			assert_true(raddle_is_sync(kind) && raddle_object_size(kind) > 0);
	}
}

static void a_waiting_thread_waits_for_something(void **state)
{
	(void)state;
	assert_int_equal(raddle_awaited(RADDLE_MUTEX_LOCK), RADDLE_MUTEX_LOCK);
	assert_int_equal(raddle_awaited(RADDLE_COND_WAIT), RADDLE_COND_WAKE);
	for (uint32_t kind = 1; kind < RADDLE_ACCESS; kind++) {
		uint32_t awaited = raddle_awaited(kind);

		if (raddle_role(kind) != RADDLE_ROLE_REQUEST && raddle_role(kind) != RADDLE_ROLE_WAIT)
			continue;
		assert_int_not_equal(awaited, 0);
		assert_int_not_equal(awaited, kind);
		assert_int_equal(raddle_class(awaited), raddle_class(kind));
	}
}

static void atomics_may_keep_the_segment(void **state)
{
	(void)state;
	assert_true(raddle_ends_segment(RADDLE_ATOMIC, RADDLE_ATOMIC_STORED));
	assert_false(raddle_ends_segment(RADDLE_ATOMIC, RADDLE_ATOMIC_STORED | RADDLE_ATOMIC_PASSED));
	assert_false(raddle_ends_segment(RADDLE_ALLOC, 0));
	assert_false(raddle_ends_segment(RADDLE_ACCESS, 0));
}

static void descriptors_and_channels_are_apart(void **state)
{
	uint64_t last_descriptor =
		RADDLE_DESCRIPTORS + (uint64_t)RADDLE_DESCRIPTOR_COUNT * RADDLE_DESCRIPTOR_BYTES - 1;

	(void)state;
	assert_false(raddle_is_descriptor(RADDLE_DESCRIPTORS - 1));
	assert_true(raddle_is_descriptor(RADDLE_DESCRIPTORS));
	assert_true(raddle_is_descriptor(last_descriptor));
	assert_false(raddle_is_descriptor(last_descriptor + 1));
	assert_false(raddle_is_channel(last_descriptor));
	assert_true(raddle_is_channel(RADDLE_CHANNELS));
	assert_false(raddle_is_descriptor(RADDLE_CHANNELS));
}

/* ---- the stacks of buffers in a session ---- */

static struct raddle_session *new_session(uint32_t buffers)
{
	struct raddle_session *s = calloc(1, RADDLE_SESSION_SIZE(buffers));

	assert_non_null(s);
	s->buffer_count = buffers;
	return s;
}

static void used_buffers_come_first(void **state)
{
	struct raddle_session *s = new_session(4);

	(void)state;
	assert_int_equal(raddle_buffer_take(s), 0);
	assert_int_equal(raddle_buffer_take(s), 1);
	raddle_stack_push(s, &s->free_head, 0);
	raddle_stack_push(s, &s->free_head, 1);
	assert_int_equal(raddle_buffer_take(s), 1);
	assert_int_equal(raddle_buffer_take(s), 0);
	assert_int_equal(raddle_buffer_take(s), 2);
	atomic_store(&s->sealed_count, RADDLE_BACKLOG);
	assert_int_equal(raddle_buffer_take(s), -1);
	atomic_store(&s->sealed_count, 0);
	assert_int_equal(raddle_buffer_take(s), 3);
	assert_int_equal(raddle_buffer_take(s), -1);
	free(s);
}

static void a_stack_is_taken_whole_and_its_tag_changes(void **state)
{
	struct raddle_session *s = new_session(3);
	uint64_t before;

	(void)state;
	raddle_stack_push(s, &s->sealed_head, 0);
	raddle_stack_push(s, &s->sealed_head, 2);
	before = atomic_load(&s->sealed_head);
	assert_int_equal(raddle_stack_take(&s->sealed_head), 3);
	assert_int_equal(raddle_buffer_at(s, 2)->next, 1);
	assert_int_equal(raddle_buffer_at(s, 0)->next, 0);
	assert_int_equal(raddle_stack_take(&s->sealed_head), 0);
	assert_int_not_equal(before >> 32, atomic_load(&s->sealed_head) >> 32);
	assert_int_equal(raddle_stack_pop(s, &s->sealed_head), -1);
	free(s);
}

/* The program can overwrite the head of a stack, so an index that is out of range must not be
 * used. */
static void a_damaged_head_is_empty(void **state)
{
	struct raddle_session *s = new_session(2);

	(void)state;
	atomic_store(&s->free_head, 3);
	assert_int_equal(raddle_stack_pop(s, &s->free_head), -1);
	free(s);
}

static void processes_are_found_by_their_forks(void **state)
{
	struct raddle_session *s = new_session(1);
	uint32_t path[] = {2, 1}, other[] = {1, 1};

	(void)state;
	s->processes[0].parent = -1;
	s->processes[1] = (struct raddle_process){.parent = 0, .fork_index = 2};
	s->processes[2] = (struct raddle_process){.parent = 1, .fork_index = 1};
	assert_true(raddle_process_is(s, 0, NULL, 0));
	assert_true(raddle_process_is(s, 2, path, 2));
	assert_false(raddle_process_is(s, 2, other, 2));
	assert_false(raddle_process_is(s, 1, path, 2));
	s->processes[2].parent = -1;
	assert_false(raddle_process_is(s, 2, path, 2));
	assert_false(raddle_process_is(s, RADDLE_MAX_PROCESSES, path, 2));
	free(s);
}

/* ---- keys of plugins and checksums of input ---- */

static void keys_are_fnv_1a(void **state)
{
	char key[RADDLE_PLUGIN_KEY_SIZE];

	(void)state;
	raddle_plugin_key("", key);
	assert_string_equal(key, "cbf29ce484222325");
	raddle_plugin_key("a", key);
	assert_string_equal(key, "af63dc4c8601ec8c");
}

static void sums_do_not_depend_on_pieces(void **state)
{
	static const char text[] = "GET / HTTP/1.1\r\n\r\n";
	uint64_t whole = raddle_world_sum(0, text, sizeof text);

	(void)state;
	for (size_t cut = 0; cut <= sizeof text; cut++)
		assert_int_equal(
			raddle_world_sum(raddle_world_sum(0, text, cut), text + cut, sizeof text - cut),
			whole);
	assert_int_not_equal(raddle_world_sum(0, "\0", 1), raddle_world_sum(0, "\0\0", 2));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kind_has_one_meaning),
		cmocka_unit_test(a_waiting_thread_waits_for_something),
		cmocka_unit_test(atomics_may_keep_the_segment),
		cmocka_unit_test(descriptors_and_channels_are_apart),
		cmocka_unit_test(used_buffers_come_first),
		cmocka_unit_test(a_stack_is_taken_whole_and_its_tag_changes),
		cmocka_unit_test(a_damaged_head_is_empty),
		cmocka_unit_test(processes_are_found_by_their_forks),
		cmocka_unit_test(keys_are_fnv_1a),
		cmocka_unit_test(sums_do_not_depend_on_pieces),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
