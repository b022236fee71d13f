// SPDX-License-Identifier: Apache-2.0
/* Unit tests of making plans from schedules: threads with their ancestors, operations, sites, and
 * schedules that do not fit the program. */
#include "base/alloc.h"
#include "base/error.h"
#include "raddle/event.h"
#include "replay/plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

/* One unit in slot 1: a read and a write of x, and a call. */
static const char table[] = "raddle-sites\t1\n"
			    "U\t1\t1\tprog.c\n"
			    "F\t0\t/home/a/prog.c\n"
			    "S\t1\tr\t4\t-\t0\t10\t5\tworker\tx\tint\n"
			    "S\t2\tw\t4\t-\t0\t10\t5\tworker\tx\tint\n"
			    "S\t3\tc\t0\t-\t0\t12\t2\tworker\tf\t-\n";
#define READ (1 << 16 | 1)
#define WRITE (1 << 16 | 2)
#define CALL (1 << 16 | 3)

static struct trace_sites *sites;
static struct schedule s;
static struct plan p;
static char message[512];

static void keep(void *context, enum rd_level level, const char *text)
{
	(void)context;
	(void)level;
	snprintf(message, sizeof message, "%s", text);
}

static int start(void **state)
{
	char *text = rd_xasprintf("%send\t5\t%016llx\n", table,
				  (unsigned long long)XXH64(table, strlen(table), 0));
	int err = trace_sites_parse(&sites, text, strlen(text), "table");

	(void)state;
	free(text);
	rd_log_set(keep, NULL);
	schedule_init(&s);
	message[0] = '\0';
	return err;
}

static int stop(void **state)
{
	(void)state;
	rd_log_set(NULL, NULL);
	plan_release(&p);
	schedule_release(&s);
	trace_sites_free(sites);
	return 0;
}

static struct schedule_op *add_op(const char *thread, uint64_t n, const char *kind)
{
	struct schedule_op *op = schedule_add_op(&s);

	*op = (struct schedule_op){.thread = thread, .n = n, .kind = kind};
	return op;
}

static struct schedule_goal *add_goal(const char *thread, uint32_t site, bool write)
{
	struct schedule_goal *h = schedule_add_goal(&s);

	*h = (struct schedule_goal){
		.thread = thread, .after = 9, .occurrence = 2, .site = site, .write = write};
	h->place = (struct schedule_place){
		.file = "/elsewhere/prog.c", .function = "worker", .line = 10, .column = 5};
	return h;
}

static void add_stop(const char *thread, uint64_t n, uint32_t line)
{
	struct schedule_stop *t = schedule_add_stop(&s);

	*t = (struct schedule_stop){.thread = thread, .n = n, .kind = "mutex-lock"};
	t->place = (struct schedule_place){.file = "prog.c", .function = "worker", .line = line, .column = 2};
}

static uint32_t position(const char *thread)
{
	uint32_t n = RADDLE_STEER_NONE;

	assert_true(rd_names_find(&p.names, thread, strlen(thread), &n));
	return n;
}

static void test_threads_have_ancestors(void **state)
{
	(void)state;
	add_op("T_0_3_12", 1, "thread-start");
	add_op("T_0", 4, "mutex-lock");
	add_op("T_0_3_12", 2, "mutex-lock");
	add_stop("T_0_3_12", 3, 12);
	add_stop("T_0", 5, 12);
	assert_int_equal(plan_compile(&p, &s, sites), 0);
	assert_int_equal(p.thread_count, 3);
	assert_int_equal(position("T_0"), 0);
	assert_int_equal(p.threads[0].parent, RADDLE_STEER_NONE);
	assert_int_equal(p.threads[position("T_0_3")].parent, 0);
	assert_int_equal(p.threads[position("T_0_3")].index, 3);
	assert_int_equal(p.threads[position("T_0_3")].count, 0);
	assert_int_equal(p.threads[position("T_0_3_12")].parent, position("T_0_3"));
	assert_int_equal(p.threads[position("T_0_3_12")].index, 12);
	assert_string_equal(plan_thread_name(&p, position("T_0_3")), "T_0_3");
	assert_string_equal(plan_thread_name(&p, 77), "?");
}

static void test_operations_are_by_thread(void **state)
{
	const struct raddle_steer_thread *t;

	(void)state;
	add_op("T_0_1", 1, "thread-start");
	add_op("T_0", 4, "sem-post");
	add_op("T_0_1", 7, "sem-wait");
	schedule_add_limit(&s)->thread = "T_0_2";
	add_goal("T_0", READ, false);
	add_goal("T_0_1", WRITE, true);
	assert_int_equal(plan_compile(&p, &s, sites), 0);
	t = &p.threads[position("T_0_1")];
	assert_int_equal(t->count, 2);
	assert_int_equal(p.ops[t->first].n, 1);
	assert_int_equal(p.ops[t->first].turn, 0);
	assert_int_equal(p.ops[t->first + 1].n, 7);
	assert_int_equal(p.ops[t->first + 1].turn, 2);
	assert_int_equal(p.ops[t->first + 1].kind, RADDLE_SEM_WAIT);
	assert_int_equal(p.threads[0].limit, UINT64_MAX);
	assert_int_equal(p.threads[position("T_0_2")].limit, 0);
	assert_int_equal(t->goal, 1);
	assert_int_equal(p.goals[1].thread, position("T_0_1"));
	assert_int_equal(p.goals[1].after, 9);
	assert_int_equal(p.goals[1].occurrence, 2);
	assert_ptr_equal(p.turns[1], &s.ops[1]);
}

static void test_memory_is_filled(void **state)
{
	struct raddle_steer *steer;

	(void)state;
	add_op("T_0", 2, "thread-create");
	add_stop("T_0_0", 3, 12);
	add_stop("T_0", 5, 12);
	assert_int_equal(plan_compile(&p, &s, sites), 0);
	steer = aligned_alloc(4096, plan_size(&p));
	memset(steer, 0, plan_size(&p));
	plan_write(&p, steer, RADDLE_STEER_DETECT, 1);
	assert_int_equal(steer->version, RADDLE_STEER_VERSION);
	assert_int_equal(steer->flags, RADDLE_STEER_DETECT);
	assert_int_equal(steer->order, 1);
	assert_int_equal(steer->stop_count, 2);
	assert_int_equal(steer->goal_count, 0);
	assert_int_equal(raddle_steer_ops(steer)[0].kind, RADDLE_THREAD_CREATE);
	assert_int_equal(raddle_steer_threads(steer)[1].stop, 1);
	assert_int_equal(raddle_steer_threads(steer)[1].stop_n, 3);
	assert_int_equal(raddle_steer_threads(steer)[1].stop_kind, RADDLE_MUTEX_LOCK);
	assert_true(steer->slots_at % 64 == 0);
	assert_true(steer->slots_at + RADDLE_SLOTS * sizeof(struct raddle_slot) <= plan_size(&p));
	free(steer);
}

/* A site without a number, or with that of another build, is found by its place. */
static void test_sites_are_found_by_place(void **state)
{
	(void)state;
	add_goal("T_0", 0, false);
	add_goal("T_0_1", 7 << 16 | 4, true);
	assert_int_equal(plan_compile(&p, &s, sites), 0);
	assert_int_equal(p.goals[0].site, READ);
	assert_int_equal(p.goals[1].site, WRITE);
}

static void test_number_at_another_place_is_not_believed(void **state)
{
	(void)state;
	add_goal("T_0", CALL, false);
	add_goal("T_0_1", WRITE, true);
	assert_int_equal(plan_compile(&p, &s, sites), 0);
	assert_int_equal(p.goals[0].site, READ);
}

static void refused(const char *why)
{
	assert_true(plan_compile(&p, &s, sites) < 0);
	if (!strstr(message, why))
		fail_msg("\"%s\" does not say \"%s\"", message, why);
}

static void test_other_program_is_refused(void **state)
{
	(void)state;
	add_goal("T_0", READ, false);
	add_goal("T_0_1", WRITE, true)->place.line = 11;
	refused("does not fit this program: it has no write at /elsewhere/prog.c:11:5");
}

static void test_other_deadlock_is_refused(void **state)
{
	(void)state;
	add_stop("T_0", 3, 90);
	refused("no call at prog.c:90");
}

static void test_bad_names_are_refused(void **state)
{
	static const char *const names[] = {"T",     "T_",     "T_x",	 "T_?1",  "U_1",
					    "T_0_",  "T_0_01", "T_0__1", "T_0_x", "T_0_1_1234567890",
					    "X_0_1", "T_00",   ""};

	(void)state;
	add_stop("T_0", 3, 12);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		s.op_count = 0;
		add_op(names[i], 1, "thread-start");
		refused("no thread can have the name");
		plan_release(&p);
	}
}

/* Threads that libc created for itself are distinguished only by their index. */
static void test_threads_without_creator(void **state)
{
	(void)state;
	add_op("T_0", 1, "thread-start");
	add_op("T_2", 1, "thread-start");
	add_op("T_2_1", 1, "thread-start");
	add_stop("T_0", 3, 12);
	assert_int_equal(plan_compile(&p, &s, sites), 0);
	assert_int_equal(p.thread_count, 3);
	assert_int_equal(p.threads[1].parent, RADDLE_STEER_NONE);
	assert_int_equal(p.threads[1].index, 2);
	assert_int_equal(p.threads[2].parent, 1);
}

static void test_bad_kinds_are_refused(void **state)
{
	static const char *const kinds[] = {"mutex-init", "join-request", "alloc", "access", "frobnicate"};

	(void)state;
	add_stop("T_0", 3, 12);
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		s.op_count = 0;
		add_op("T_0", 1, kinds[i]);
		refused("there is no operation");
		plan_release(&p);
	}
}

static void test_end_is_needed(void **state)
{
	(void)state;
	refused("needs two accesses, a stop or an order");
}

static void test_one_hold_is_no_end(void **state)
{
	(void)state;
	add_op("T_0", 1, "thread-start");
	add_goal("T_0", READ, false);
	refused("needs two accesses, a stop or an order");
}

static void test_order_is_an_end(void **state)
{
	(void)state;
	add_op("T_0", 1, "thread-start");
	assert_int_equal(plan_compile(&p, &s, sites), 0);
	assert_int_equal(p.op_count, 1);
	assert_int_equal(p.goal_count + p.stop_count, 0);
}

static void test_one_thread_does_not_race(void **state)
{
	(void)state;
	add_goal("T_0", READ, false);
	add_goal("T_0", WRITE, true);
	refused("both accesses are of one thread");
}

/* A schedule with decisions, and with watches by site, place and thread.  Decisions can be added
 * while the program is stopped. */
static void test_goes_on(void **state)
{
	static const struct schedule_place here = {"/elsewhere/prog.c", "worker", 10, 5};
	struct raddle_steer *steer;
	struct schedule more;

	(void)state;
	s.turns = true;
	s.seed = 5;
	*schedule_add_watch(&s) = (struct schedule_watch){
		.thread = "T_0_1", .after = SCHEDULE_ALWAYS, .reads = true, .writes = true, .place = here};
	*schedule_add_watch(&s) = (struct schedule_watch){
		.after = 3, .writes = true, .occurrence = 2, .address = 99, .bytes = 8};
	*schedule_add_decision(&s) = (struct schedule_decision){
		.thread = "T_0_1", .n = 2, .point = "wait", .count = 1, .next = "T_0"};
	assert_int_equal(plan_compile(&p, &s, sites), 0);
	assert_int_equal(p.watch_count, 3);
	assert_int_equal(p.watches[0].site, READ);
	assert_int_equal(p.watches[0].how, 1);
	assert_int_equal(p.watches[1].site, WRITE);
	assert_int_equal(p.watches[1].how, 2);
	assert_int_equal(p.watches[1].thread, position("T_0_1"));
	assert_int_equal(p.watches[2].thread, RADDLE_STEER_NONE);
	assert_int_equal(p.watches[2].occurrence, 2);
	steer = rd_xcalloc(1, plan_size(&p));
	plan_write(&p, steer, RADDLE_STEER_TURNS, 0);
	assert_int_equal(steer->phase, RADDLE_GOES_ON);
	assert_int_equal(steer->seed, 5);
	assert_int_equal(steer->watch_count, 3);
	assert_int_equal(steer->decision_count, 1);
	assert_int_equal(raddle_steer_decisions(steer)[0].point, RADDLE_POINT_WAIT);
	assert_int_equal(raddle_steer_decisions(steer)[0].next, 0);
	schedule_init(&more);
	*schedule_add_decision(&more) = (struct schedule_decision){
		.thread = "T_0", .n = 9, .point = "end", .count = 1, .next = "T_0_4_2"};
	assert_int_equal(plan_extend(&p, &more, sites), 0);
	assert_int_equal(plan_write_more(&p, steer), 0);
	assert_int_equal(steer->decision_count, 2);
	assert_int_equal(steer->thread_count, 2);
	assert_int_equal(steer->thread_added, 2);
	assert_int_equal(raddle_steer_decisions(steer)[1].next, position("T_0_4_2"));
	assert_int_equal(raddle_steer_threads(steer)[position("T_0_4_2")].index, 2);
	schedule_release(&more);
	free(steer);
}

static void test_bad_watches_are_refused(void **state)
{
	(void)state;
	s.turns = true;
	*schedule_add_watch(&s) = (struct schedule_watch){.reads = true, .object = "heap T_0#4"};
	refused("only a variable");
	plan_release(&p);
	s.watches[0] = (struct schedule_watch){.reads = true, .place = {"prog.c", NULL, 77, 1}};
	refused("it has no read at prog.c:77");
}

/* The thread that the schedule names as the first one runs first. */
static void test_first(void **state)
{
	(void)state;
	add_goal("T_0_1", READ, false);
	add_goal("T_0_2", WRITE, true);
	s.turns = true;
	assert_int_equal(plan_compile(&p, &s, sites), 0);
	assert_int_equal(plan_first(&p, 1), 1);
	s.first = "T_0_1";
	assert_int_equal(plan_first(&p, 1), 0);
	s.first = "T_0_2";
	assert_int_equal(plan_first(&p, 0), 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_threads_have_ancestors),
		TEST(test_operations_are_by_thread),
		TEST(test_memory_is_filled),
		TEST(test_sites_are_found_by_place),
		TEST(test_number_at_another_place_is_not_believed),
		TEST(test_other_program_is_refused),
		TEST(test_other_deadlock_is_refused),
		TEST(test_bad_names_are_refused),
		TEST(test_threads_without_creator),
		TEST(test_bad_kinds_are_refused),
		TEST(test_end_is_needed),
		TEST(test_one_hold_is_no_end),
		TEST(test_order_is_an_end),
		TEST(test_one_thread_does_not_race),
		TEST(test_goes_on),
		TEST(test_bad_watches_are_refused),
		TEST(test_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
