// SPDX-License-Identifier: Apache-2.0
/* Unit tests of report/words-int.h: phrases for findings of which everything is known, and for
 * those with as little as a document may contain. */
#include "report/words-int.h"
#include "trace/words.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#define CHECK(expected, call)                                                                                \
	do {                                                                                                 \
		struct rd_buf out = RD_BUF_INIT;                                                             \
		call;                                                                                        \
		assert_string_equal(out.data, expected);                                                     \
		rd_buf_release(&out);                                                                        \
	} while (0)

static void operations(void **state)
{
	(void)state;
	CHECK("locks a", trace_words(&out, "mutex-lock", "a"));
	CHECK("unlocks a", trace_words(&out, "mutex-unlock", "a"));
	CHECK("does something", trace_words(&out, NULL, NULL));
	CHECK("does no-such-thing b", trace_words(&out, "no-such-thing", "b"));
	CHECK("?", trace_words_brief(&out, NULL, NULL));
	CHECK("no-such-thing b", trace_words_brief(&out, "no-such-thing", "b"));
}

static void roles(void **state)
{
	(void)state;
	assert_int_equal(word_role("mutex-lock"), WORD_ACQUIRE);
	assert_int_equal(word_role("mutex-unlock"), WORD_RELEASE);
	assert_int_equal(word_role("thread-create"), WORD_THREAD);
	assert_int_equal(word_role("no-such-thing"), WORD_OTHER);
}

static void places(void **state)
{
	struct finding_frame whole = {.function = "add", .file = "src/counter.c", .line = 12, .column = 7};
	struct finding_frame no_column = {.file = "counter.c", .line = 12};
	struct finding_frame module = {.module = "libx.so"}, unknown = {0};
	struct schedule_place spot = {.file = "src/counter.c", .line = 12}, nowhere = {0};

	(void)state;
	CHECK("src/counter.c:12:7", word_place(&out, &whole));
	CHECK("src/counter.c:12 in add", word_place_in(&out, &whole));
	CHECK("counter.c:12", word_place(&out, &no_column));
	CHECK("libx.so", word_place(&out, &module));
	CHECK("an unknown place", word_place(&out, &unknown));
	CHECK("counter.c:12", word_spot(&out, &spot));
	CHECK("", word_spot(&out, &nowhere));
}

static void accesses(void **state)
{
	struct finding_access plain = {.op = FINDING_WRITE, .size = 4},
			      atomic = {.op = FINDING_READ, .atomic = true};
	struct finding_access release = {.op = FINDING_FREE, .size = 16};

	(void)state;
	CHECK("Write of size 4", word_access(&out, &plain));
	CHECK("Atomic read", word_access(&out, &atomic));
	CHECK("Free", word_access(&out, &release));
}

static void locks_and_waits(void **state)
{
	struct finding_lock locks[] = {{.name = "a"}, {.name = "b", .shared = true}, {0}};

	(void)state;
	CHECK("holding no lock", word_locks(&out, NULL, 0));
	CHECK("holding a, b (shared), a lock", word_locks(&out, locks, 3));
	CHECK("waits for mutex b", word_wait(&out, "mutex", "b"));
	CHECK("waits for the end of T_0_1", word_wait(&out, "join", "T_0_1"));
	CHECK("waits for lock ?", word_wait(&out, NULL, NULL));
	CHECK("ended the program by SIGSEGV", word_wait(&out, "signal", "SIGSEGV"));
}

static void objects(void **state)
{
	struct finding_object global = {.name = "hits", .type = "int", .kind = FINDING_GLOBAL, .size = 4};
	struct finding_object unknown = {.size = 1};
	struct finding f = {0};

	(void)state;
	CHECK("global 'hits' of type int, 4 bytes", word_object(&out, &global));
	CHECK("memory '?', 1 byte", word_object(&out, &unknown));
	CHECK("an unknown thread", word_thread(&out, &f, NULL));
	CHECK("thread T_0_1", word_thread(&out, &f, "T_0_1"));
}

/* Operation 3 of the run comes before operations 1 and 2, so it was moved.  An operation that was
 * not recorded never counts as moved. */
static void moved_operations(void **state)
{
	struct schedule_op ops[] = {{.seen = 3}, {.seen = 1}, {.seen = 0}, {.seen = 2}};
	struct schedule s = {.ops = ops, .op_count = 4};
	bool moved[4];

	(void)state;
	word_moved(&s, moved);
	assert_true(moved[0]);
	assert_false(moved[1]);
	assert_false(moved[2]);
	assert_false(moved[3]);
}

/* If two threads take a lock and no release is named between them, the reader is told that releases
 * are omitted. */
static void omitted_releases(void **state)
{
	struct schedule_op ops[] = {{.thread = "T_0_0", .kind = "mutex-lock", .object = "m"},
				    {.thread = "T_0_0", .kind = "mutex-unlock", .object = "m"},
				    {.thread = "T_0_1", .kind = "mutex-lock", .object = "m"}};
	struct schedule s = {.ops = ops, .op_count = 3};

	(void)state;
	assert_null(word_left_out(&s));
	ops[1].object = "n";
	assert_non_null(word_left_out(&s));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(operations),	    cmocka_unit_test(roles),
		cmocka_unit_test(places),	    cmocka_unit_test(accesses),
		cmocka_unit_test(locks_and_waits),  cmocka_unit_test(objects),
		cmocka_unit_test(moved_operations), cmocka_unit_test(omitted_releases),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
