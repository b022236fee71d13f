// SPDX-License-Identifier: Apache-2.0
/* Unit tests of loading findings that a user names, by a document or a schedule. */
#include "finding-fixture.h"
#include "golden.h"

#include "base/error.h"
#include "finding/load.h"
#include "finding/schedule.h"

static struct finding_set *opened(const char *name)
{
	char *path = golden_path(name);
	struct finding_set *set = NULL;

	assert_int_equal(finding_load(path, &set), RD_OK);
	free(path);
	return set;
}

static void documents(void **state)
{
	struct finding_set *set = opened("findings-v1.json");

	(void)state;
	assert_true(set->count > 1);
	assert_string_equal(set->items[0]->id, "4e2fcf35b1f5fee6");
	finding_set_free(set);
}

/* A schedule alone contains the places, threads and object of its finding. */
static void schedule_of_a_race(void **state)
{
	struct finding_set *set = opened("race-v1.schedule");
	const struct finding *f = set->items[0];

	(void)state;
	assert_int_equal(set->count, 1);
	assert_int_equal(f->kind, FINDING_RACE);
	assert_int_equal(f->status, FINDING_UNCONFIRMED);
	assert_int_equal(f->count, 0); /* the schedule does not say how often it was predicted */
	assert_string_equal(f->id, "4e2fcf35b1f5fee6");
	assert_int_equal(f->access_count, f->schedule->goal_count);
	assert_int_equal(f->access_count, 2);
	assert_string_equal(f->accesses[0].thread, f->schedule->goals[0].thread);
	assert_int_equal(f->accesses[0].op == FINDING_WRITE, f->schedule->goals[0].write);
	assert_string_equal(finding_top(&f->accesses[0].stack)->file, "src/counter.c");
	finding_set_free(set);
}

static void schedule_of_a_deadlock(void **state)
{
	struct finding_set *set = opened("deadlock-v1.schedule");
	const struct finding *f = set->items[0];

	(void)state;
	assert_int_equal(f->kind, FINDING_DEADLOCK);
	assert_int_equal(f->cycle_count, f->schedule->stop_count);
	/* the operation of its stop is mutex-lock */
	assert_string_equal(f->cycle[0].kind, "mutex");
	assert_string_equal(f->cycle[0].wants, "accounts[1].lock");
	finding_set_free(set);
}

static void what_is_neither(void **state)
{
	char *path = golden_path("report.txt"), *said = NULL;
	struct finding_set *set = NULL;

	(void)state;
	rd_log_set(rd_log_first, &said);
	assert_true(finding_load(path, &set) < 0);
	rd_log_set(NULL, NULL);
	assert_null(set);
	assert_non_null(said);
	free(said);
	free(path);
}

static void schedules_are_loaded_once(void **state)
{
	struct finding_set *set = finding_set_new();
	struct finding *f = finding_add(set, FINDING_RACE);
	char *path = golden_path("race-v1.schedule");
	const struct schedule *s;

	(void)state;
	assert_int_equal(finding_load_schedule(set, f), RD_OK); /* the finding has no schedule */
	assert_null(f->schedule);
	f->schedule_path = finding_text(set, path);
	assert_int_equal(finding_load_schedule(set, f), RD_OK);
	s = f->schedule;
	assert_int_equal(s->goal_count, 2);
	assert_int_equal(finding_load_schedule(set, f), RD_OK);
	assert_ptr_equal(f->schedule, s);
	finding_set_free(set);
	free(path);
}

static void programs(void **state)
{
	struct finding_set *set = opened("findings-v1.json"), *empty = finding_set_new();
	char *none[] = {NULL}, *own[] = {(char[]){"./mine"}, (char[]){"1"}, NULL}, **argv;

	(void)state;
	argv = finding_set_program(set, none);
	assert_string_equal(argv[0], "./counter");
	assert_string_equal(argv[2], "two words");
	assert_null(argv[3]);
	assert_null(finding_set_program(empty, none));
	argv = finding_set_program(empty, own);
	assert_ptr_equal(argv, own);
	assert_int_equal(empty->argc, 2); /* the document has the program from now on */
	finding_set_free(set);
	finding_set_free(empty);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(documents),
		cmocka_unit_test(schedule_of_a_race),
		cmocka_unit_test(schedule_of_a_deadlock),
		cmocka_unit_test(what_is_neither),
		cmocka_unit_test(schedules_are_loaded_once),
		cmocka_unit_test(programs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
