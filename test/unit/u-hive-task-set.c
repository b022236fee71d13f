// SPDX-License-Identifier: Apache-2.0
/*
 * Unit tests of answers to polls.  Task ids can be parsed again, and wrong ones are rejected.
 * Equal requests share an answer; different ones have different tags.  A new epoch or a new
 * revision makes a new set.
 */
#include "base/alloc.h"
#include "base/buf.h"
#include "base/error.h"
#include "hive/task-set-int.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { CANDIDATES = 3, BOUND = 60 };

struct fixture {
	struct hive_program p;
	struct protocol_signer *signer;
};

static int begin(void **state)
{
	static const char document[] =
		"{\"version\":1,\"build\":\"0123456789abcdef\",\"name\":\"p\",\"candidates\":["
		"{\"id\":\"0000000000000001\",\"rank\":1,\"accesses\":[{},{}]},"
		"{\"id\":\"0000000000000002\",\"rank\":2,\"accesses\":[{},{}]},"
		"{\"id\":\"0000000000000003\",\"rank\":3,\"accesses\":[{},{}]}]}";
	struct fixture *f = rd_xcalloc(1, sizeof *f);
	char secret[PROTOCOL_KEY_TEXT];

	*state = f;
	if (hive_program_read(&f->p, document, strlen(document)) || protocol_key_make(secret))
		return 1;
	f->p.cache = hive_task_cache_new(f->p.count);
	return protocol_signer_open(&f->signer, secret);
}

static int end(void **state)
{
	struct fixture *f = *state;

	hive_program_release(&f->p);
	protocol_signer_close(f->signer);
	free(f);
	return 0;
}

/* An answer that note() received.  If two answers have the same `response`, it was made only once
 * and shared. */
struct seen {
	const struct MHD_Response *response;
	char tag[sizeof((struct hive_task_answer *)0)->tag];
	unsigned calls;
	int result;
};

static int note(void *context, const struct hive_task_answer *answer)
{
	struct seen *s = context;

	s->response = answer->response;
	strcpy(s->tag, answer->tag);
	s->calls++;
	return s->result;
}

static struct seen ask(struct fixture *f, const struct hive_task *task, enum protocol_mode state, int64_t now)
{
	struct hive_task_ask question = {
		.task = task, .state = state, .time = {now, BOUND}, .signer = f->signer};
	struct seen s = {0};

	assert_int_equal(hive_task_cache_use(&f->p, &question, note, &s), 0);
	assert_int_equal(s.calls, 1);
	assert_non_null(s.response);
	return s;
}

/* Lists all tasks that can be given in an epoch. */
static size_t all_tasks(struct hive_task *tasks, uint64_t epoch)
{
	size_t n = 0;

	for (uint32_t c = 0; c < CANDIDATES; c++)
		for (int order = HIVE_PRIMARY; order <= HIVE_ALTERNATE; order++)
			for (int age = 0; age < 2; age++) {
				struct hive_task t = {.candidate = c,
						      .order = (enum hive_order)order,
						      .epoch = epoch - (uint64_t)age};

				tasks[n++] = t;
				t.validate = t.look = true;
				tasks[n++] = t;
				t.look = false;
				for (t.level = 0; t.level < HIVE_LEVELS; t.level++)
					tasks[n++] = t;
			}
	return n;
}

/* Each task has a different id, which can be parsed again. */
static void ids_name_tasks(void **state)
{
	struct fixture *f = *state;
	struct hive_task tasks[128], back;
	size_t count = all_tasks(tasks, 1000);
	char ids[128][PROTOCOL_TASK_ID];

	for (size_t i = 0; i < count; i++) {
		hive_task_id(&f->p, &tasks[i], ids[i]);
		assert_true(hive_task_parse(&f->p, ids[i], &back));
		assert_int_equal(back.candidate, tasks[i].candidate);
		assert_int_equal(back.order, tasks[i].order);
		assert_int_equal(back.validate, tasks[i].validate);
		assert_int_equal(back.look, tasks[i].look);
		assert_int_equal(back.level, tasks[i].level);
		assert_int_equal(back.epoch, tasks[i].epoch);
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(ids[i], ids[k]);
	}
}

static void wrong_ids_are_refused(void **state)
{
	static const char *const wrong[] = {"",
					    "0000000000000001",
					    "0000000000000001.pv0",
					    "0000000000000001.pv0.",
					    "0000000000000004.pv0.1", /* no such candidate */
					    "000000000000001.pv0.1",
					    "0000000000000001.xv0.1",
					    "0000000000000001.px0.1",
					    "0000000000000001.pv5.1", /* no such level */
					    "0000000000000001.pv10.1",
					    "0000000000000001.pv0.1 ",
					    "0000000000000001.pv0.1.2",
					    "../../etc/passwd",
					    ("0000000000000001.pv0.00000000000000000000000000000000000000000"
					     "000000000000000000001")};
	struct fixture *f = *state;
	struct hive_task t;

	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
		assert_false(hive_task_parse(&f->p, wrong[i], &t));
}

/* Equal requests share an answer until the epoch ends.  Different requests have different tags. */
static void answers_are_shared(void **state)
{
	struct fixture *f = *state;
	struct hive_task tasks[128];
	struct seen seen[128 * 2 + 2];
	int64_t now = 1000 * BOUND;
	size_t count = all_tasks(tasks, 1000), n = 0;

	for (size_t i = 0; i < count; i++)
		seen[n++] = ask(f, &tasks[i], PROTOCOL_VALIDATE, now);
	seen[n++] = ask(f, NULL, PROTOCOL_VALIDATE, now);
	seen[n++] = ask(f, NULL, PROTOCOL_OBSERVE, now);
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < i; k++) {
			assert_string_not_equal(seen[i].tag, seen[k].tag);
			assert_ptr_not_equal(seen[i].response, seen[k].response);
		}
	for (size_t i = 0; i < count; i++) {
		struct seen again = ask(f, &tasks[i], PROTOCOL_VALIDATE, now + BOUND - 1);

		assert_ptr_equal(again.response, seen[i].response);
		assert_string_equal(again.tag, seen[i].tag);
	}
	for (size_t i = 0; i < count; i++) {
		struct seen later = ask(f, &tasks[i], PROTOCOL_VALIDATE, now + BOUND);

		assert_string_not_equal(later.tag, seen[i].tag); /* its serial number is larger */
	}
}

/* After a change of the program, task sets have another serial number. */
static void a_revision_changes_the_tag(void **state)
{
	struct fixture *f = *state;
	struct seen before = ask(f, NULL, PROTOCOL_VALIDATE, 1000 * BOUND), after;

	f->p.revision++;
	hive_task_cache_free(f->p.cache); /* as if the changed program had been loaded again */
	f->p.cache = hive_task_cache_new(f->p.count);
	after = ask(f, NULL, PROTOCOL_VALIDATE, 1000 * BOUND);
	assert_string_not_equal(before.tag, after.tag);
}

/* The result of the function that uses the answer is returned. */
static void failures_are_passed_on(void **state)
{
	struct fixture *f = *state;
	struct hive_task_ask question = {
		.state = PROTOCOL_OBSERVE, .time = {BOUND, BOUND}, .signer = f->signer};
	struct seen s = {.result = RD_ESYSTEM};

	assert_int_equal(hive_task_cache_use(&f->p, &question, note, &s), RD_ESYSTEM);
	s.result = 0;
	/* the lock was released */
	assert_int_equal(hive_task_cache_use(&f->p, &question, note, &s), 0);
	assert_int_equal(s.calls, 2);
}

static void epochs(void **state)
{
	(void)state;
	assert_int_equal(hive_epoch(&(struct hive_time){0, BOUND}), 0);
	assert_int_equal(hive_epoch(&(struct hive_time){BOUND - 1, BOUND}), 0);
	assert_int_equal(hive_epoch(&(struct hive_time){BOUND, BOUND}), 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(ids_name_tasks),	      TEST(wrong_ids_are_refused),
		TEST(answers_are_shared),     TEST(a_revision_changes_the_tag),
		TEST(failures_are_passed_on), cmocka_unit_test(epochs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
