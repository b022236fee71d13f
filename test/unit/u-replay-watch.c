// SPDX-License-Identifier: Apache-2.0
/*
 * Unit tests of the owner graph and the watchdog, with made-up contents of the steering memory.
 * They test what is a deadlock, what only looks like one, and what is done about a program that
 * makes no progress.
 */
#include "base/alloc.h"
#include "raddle/event.h"
#include "replay/graph-int.h"
#include "replay/watch-int.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define A 0x1000ull
#define B 0x2000ull
#define SHARED 1ull

static struct schedule schedule;
static struct plan plan;
static struct watch w;
static uint64_t now;

/* The situation.  Every board is made from it. */
static struct board_row rows[8];
static uint64_t held[8][4];
static struct board board;

/* Two threads that must get stuck: T_0_0 in its third operation and T_0_1 in its fourth.  One
 * operation precedes them. */
static int start(void **state)
{
	struct schedule_op *op;

	(void)state;
	schedule_init(&schedule);
	op = schedule_add_op(&schedule);
	*op = (struct schedule_op){.thread = "T_0_0", .n = 2, .kind = "mutex-lock", .object = "a"};
	*schedule_add_stop(&schedule) =
		(struct schedule_stop){.thread = "T_0_0", .n = 3, .kind = "mutex-lock", .object = "b"};
	*schedule_add_stop(&schedule) =
		(struct schedule_stop){.thread = "T_0_1", .n = 4, .kind = "mutex-lock", .object = "a"};
	assert_int_equal(plan_compile(&plan, &schedule, NULL), 0);
	watch_start(&w, &plan, NULL);
	w.patience_ms = 2000;
	w.limit_ms = 20000;
	memset(rows, 0, sizeof rows);
	memset(held, 0, sizeof held);
	board = (struct board){.phase = RADDLE_LEADING, .count = 3};
	for (uint32_t i = 0; i < 8; i++) {
		rows[i].state = RADDLE_SLOT_RUNS;
		rows[i].thread = i < 3 ? i : RADDLE_STEER_NONE;
		rows[i].parent = i ? 0 : RADDLE_STEER_NONE;
		rows[i].index = i ? i - 1 : 0;
		rows[i].tid = 100 + i;
	}
	now = 1000;
	return 0;
}

static int stop(void **state)
{
	(void)state;
	watch_release(&w);
	plan_release(&plan);
	schedule_release(&schedule);
	return 0;
}

static void blocks(uint32_t number, enum raddle_event kind, uint64_t object)
{
	rows[number].state = RADDLE_SLOT_BLOCKED;
	rows[number].kind = kind;
	rows[number].object = object;
}

static void holds(uint32_t number, uint64_t lock)
{
	held[number][rows[number].held_count++] = lock;
}

static void make_board(struct board *b)
{
	*b = board;
	b->capacity = b->count;
	b->rows = rd_xcalloc(b->count, sizeof *b->rows);
	memcpy(b->rows, rows, b->count * sizeof *b->rows);
	for (size_t i = 0; i < b->count; i++) {
		if (!rows[i].held_count)
			continue;
		b->rows[i].held = rd_xcalloc(rows[i].held_count, sizeof(uint64_t));
		memcpy(b->rows[i].held, held[i], rows[i].held_count * sizeof(uint64_t));
	}
}

/* ---- the owner graph ---- */

/* Returns the closed threads as digits, those of the core first: "12/0". */
static const char *closed(void)
{
	static char text[32];
	bool is_closed[8] = {0}, core[8] = {0};
	struct board b;
	char *at = text;

	make_board(&b);
	graph_closed(&b, is_closed);
	graph_core(&b, is_closed, core);
	for (uint32_t i = 0; i < b.count; i++)
		if (core[i])
			*at++ = (char)('0' + i);
	*at++ = '/';
	for (uint32_t i = 0; i < b.count; i++)
		if (is_closed[i] && !core[i])
			*at++ = (char)('0' + i);
	*at = '\0';
	board_release(&b);
	return text;
}

static void cross(void)
{
	holds(1, A);
	holds(2, B);
	blocks(1, RADDLE_MUTEX_LOCK, B);
	blocks(2, RADDLE_MUTEX_LOCK, A);
}

static void test_cycle_is_closed(void **state)
{
	(void)state;
	cross();
	assert_string_equal(closed(), "12/");
	blocks(0, RADDLE_THREAD_JOIN, 2);
	assert_string_equal(closed(), "12/0");
}

static void test_owner_that_runs_is_none(void **state)
{
	(void)state;
	cross();
	rows[2].state = RADDLE_SLOT_RUNS;
	assert_string_equal(closed(), "/");
}

/* The replayer itself has stopped the other thread, which would continue otherwise. */
static void test_owner_at_our_gate_is_none(void **state)
{
	static const uint32_t states[] = {RADDLE_SLOT_GATE, RADDLE_SLOT_LIMIT, RADDLE_SLOT_GOAL,
					  RADDLE_SLOT_STOP};

	(void)state;
	cross();
	for (size_t i = 0; i < sizeof states / sizeof *states; i++) {
		rows[2].state = states[i];
		assert_string_equal(closed(), "/");
	}
}

static void test_unknown_owner_is_none(void **state)
{
	(void)state;
	cross();
	rows[2].held_count = 0;
	assert_string_equal(closed(), "/");
}

static void test_time_limit_is_none(void **state)
{
	(void)state;
	cross();
	rows[1].timed = true;
	assert_string_equal(closed(), "/");
}

static void test_self_deadlock(void **state)
{
	(void)state;
	holds(1, A);
	blocks(1, RADDLE_MUTEX_LOCK, A);
	assert_string_equal(closed(), "1/");
}

static void test_lock_of_ended_thread(void **state)
{
	(void)state;
	holds(2, A);
	rows[2].state = RADDLE_SLOT_ENDED;
	blocks(1, RADDLE_MUTEX_LOCK, A);
	assert_string_equal(closed(), "1/");
}

/* A writer waits for two readers, one of which never releases the lock. */
static void test_one_reader_is_enough(void **state)
{
	(void)state;
	holds(0, A | SHARED);
	holds(1, A | SHARED);
	holds(2, B);
	blocks(1, RADDLE_MUTEX_LOCK, B);
	blocks(2, RADDLE_RWLOCK_WRLOCK, A);
	assert_string_equal(closed(), "12/");
}

static void test_readers_wait_for_writers_only(void **state)
{
	(void)state;
	holds(1, A | SHARED);
	holds(2, B);
	blocks(1, RADDLE_MUTEX_LOCK, B);
	blocks(2, RADDLE_RWLOCK_RDLOCK, A);
	assert_string_equal(closed(), "/");
	board.count = 4;
	blocks(3, RADDLE_RWLOCK_WRLOCK, A);
	assert_non_null(strchr(closed(), '3'));
	assert_non_null(strchr(closed(), '2'));
}

static void test_wait_that_nobody_ends(void **state)
{
	(void)state;
	blocks(0, RADDLE_THREAD_JOIN, 1);
	blocks(1, RADDLE_COND_WAKE, A);
	assert_string_equal(closed(), "/");
	rows[2].state = RADDLE_SLOT_ENDED;
	assert_string_equal(closed(), "1/0");
	board.strangers = true;
	assert_string_equal(closed(), "/");
	board.strangers = false;
	board.others = true;
	assert_string_equal(closed(), "/");
}

static void test_semaphore_and_handlers(void **state)
{
	(void)state;
	board.count = 1;
	blocks(0, RADDLE_SEM_WAIT, A);
	assert_string_equal(closed(), "0/");
	board.catches = true;
	assert_string_equal(closed(), "/");
}

static void test_woken_waiter_wants_its_mutex(void **state)
{
	(void)state;
	holds(2, A);
	holds(1, B);
	blocks(1, RADDLE_COND_WAKE, A);
	blocks(2, RADDLE_MUTEX_LOCK, B);
	assert_string_equal(closed(), "12/");
}

static void test_join_of_ended_thread_ends(void **state)
{
	(void)state;
	rows[1].state = rows[2].state = RADDLE_SLOT_ENDED;
	blocks(0, RADDLE_THREAD_JOIN, 2);
	assert_string_equal(closed(), "/");
	rows[0].object = 99;
	assert_string_equal(closed(), "/");
}

/* ---- the watchdog ---- */

/* Lets `ms` milliseconds pass.  Returns the first action that is not WATCH_GO_ON. */
static enum watch_action wait_for(uint64_t ms)
{
	enum watch_action action = WATCH_GO_ON;
	uint64_t end = now + ms;

	while (now < end && action == WATCH_GO_ON) {
		struct board b;

		now += WATCH_LOOK_MS;
		make_board(&b);
		action = watch_step(&w, &b, now);
		board_release(&b);
	}
	return action;
}

static void test_planned_deadlock_is_confirmed(void **state)
{
	(void)state;
	cross();
	rows[1].n = 3;
	rows[2].n = 4;
	board.phase = RADDLE_RUNS_FREE;
	board.turn = 1;
	assert_int_equal(wait_for(WATCH_STAND_MS - 20), WATCH_GO_ON);
	assert_int_equal(wait_for(100), WATCH_END);
	assert_int_equal(w.outcome, REPLAY_CONFIRMED);
	assert_int_equal(w.end, REPLAY_DEADLOCKED);
}

/* Thread 0 continues to run; the other two are in the planned deadlock nevertheless. */
static void test_planned_deadlock_beside_others(void **state)
{
	(void)state;
	cross();
	rows[1].n = 3;
	rows[2].n = 4;
	board.phase = RADDLE_RUNS_FREE;
	for (int i = 0; i < 9; i++) {
		rows[0].n++;
		assert_int_equal(wait_for(20), WATCH_GO_ON);
	}
	rows[0].n++;
	assert_int_equal(wait_for(60), WATCH_END);
	assert_int_equal(w.outcome, REPLAY_CONFIRMED);
}

static void test_cycle_that_changes_does_not_stand(void **state)
{
	(void)state;
	cross();
	board.phase = RADDLE_RUNS_FREE;
	for (int i = 0; i < 30; i++) {
		rows[1].n++;
		assert_int_equal(wait_for(100), WATCH_GO_ON);
	}
}

static void test_other_deadlock_on_the_way(void **state)
{
	(void)state;
	cross();
	blocks(0, RADDLE_THREAD_JOIN, 1);
	assert_int_equal(wait_for(500), WATCH_END);
	assert_int_equal(w.outcome, REPLAY_DEADLOCK);
	assert_int_equal(w.end, REPLAY_DEADLOCKED);
}

/* The runtime reports that no thread can ever continue, so the replay ends at once. */
static void test_stuck_program_is_known_at_once(void **state)
{
	(void)state;
	cross();
	blocks(0, RADDLE_THREAD_JOIN, 1);
	board.idle = board.stuck = true;
	assert_int_equal(wait_for(WATCH_LOOK_MS), WATCH_END);
	assert_int_equal(w.outcome, REPLAY_DEADLOCK);
	assert_int_equal(w.end, REPLAY_DEADLOCKED);
}

static void test_stuck_plan_is_given_up_at_once(void **state)
{
	(void)state;
	holds(2, A);
	blocks(1, RADDLE_MUTEX_LOCK, A);
	rows[2].state = RADDLE_SLOT_GATE;
	blocks(0, RADDLE_THREAD_JOIN, 1);
	board.idle = board.stuck = true;
	assert_int_equal(wait_for(WATCH_LOOK_MS), WATCH_GIVE_UP);
	assert_int_equal(w.outcome, REPLAY_DIVERGED);
}

/* All threads share a kernel thread, which waits in the kernel.  Such a run has no result. */
static void test_held_up_program_is_ended(void **state)
{
	(void)state;
	board.one = board.held_up = true;
	assert_int_equal(wait_for(WATCH_STAND_MS - 20), WATCH_GO_ON);
	assert_int_equal(wait_for(40), WATCH_END);
	assert_int_equal(w.end, REPLAY_HUNG);
}

/* All threads share a kernel thread.  It runs, but reaches no point at which it could be
 * interrupted. */
static void test_one_kernel_thread_without_steps_is_ended(void **state)
{
	(void)state;
	board.phase = RADDLE_GOES_ON;
	board.one = true;
	w.patience_ms = 2 * WATCH_STEP_MS;
	for (int i = 0; i < 4; i++) {
		rows[1].accesses++;
		rows[1].ran++;
		assert_int_equal(wait_for(WATCH_STEP_MS - WATCH_LOOK_MS), WATCH_GO_ON);
	}
	rows[1].ran++;
	assert_int_equal(wait_for(2 * WATCH_LOOK_MS), WATCH_END);
	assert_int_equal(w.end, REPLAY_HUNG);
}

/* The thread that has the turn waits for a lock whose holder is stopped at a gate. */
static void test_plan_that_blocks_itself_is_given_up(void **state)
{
	(void)state;
	holds(2, A);
	blocks(1, RADDLE_MUTEX_LOCK, A);
	rows[2].state = RADDLE_SLOT_GATE;
	blocks(0, RADDLE_THREAD_JOIN, 1);
	assert_int_equal(wait_for(WATCH_STAND_MS - 20), WATCH_GO_ON);
	assert_int_equal(wait_for(100), WATCH_GIVE_UP);
	assert_int_equal(w.outcome, REPLAY_DIVERGED);
	assert_string_equal(w.why.data,
			    "T_0_0 should do its operation 2, mutex-lock of a, but waits in mutex-lock of "
			    "0x1000 at an unknown place, which T_0_1 holds");
	board.phase = RADDLE_DIVERGED;
	assert_int_equal(wait_for(WATCH_STAND_MS), WATCH_GO_ON);
}

static void test_ended_thread_is_named(void **state)
{
	(void)state;
	rows[1].state = RADDLE_SLOT_ENDED;
	rows[1].n = 5;
	rows[2].state = RADDLE_SLOT_STOP;
	rows[0].state = RADDLE_SLOT_LIMIT;
	assert_int_equal(wait_for(300), WATCH_GIVE_UP);
	assert_non_null(strstr(w.why.data, "but has ended after 5 operations"));
}

static void test_spin_is_a_livelock(void **state)
{
	enum watch_action action = WATCH_GO_ON;
	uint64_t begin;

	(void)state;
	rows[2].state = RADDLE_SLOT_STOP;
	rows[1].kind = RADDLE_MUTEX_UNLOCK;
	for (begin = now; action == WATCH_GO_ON && now < begin + 5000;) {
		rows[1].ran += 1000;
		action = wait_for(20);
	}
	assert_int_equal(action, WATCH_GIVE_UP);
	assert_true(now - begin >= w.patience_ms);
	assert_int_equal(w.outcome, REPLAY_LIVELOCK);
}

/* Makes the thread that the plan waits for yield until the replayer gives up.  Returns true if it
 * gave up before its patience ended. */
static bool yields_in_vain(void (*also)(void))
{
	enum watch_action action = WATCH_GO_ON;
	uint64_t begin = now;

	w.patience_yields = 1000;
	while (action == WATCH_GO_ON && now < begin + 5000) {
		rows[1].yields += 100;
		if (also)
			also();
		action = wait_for(20);
	}
	assert_int_equal(action, WATCH_GIVE_UP);
	return now - begin < w.patience_ms && w.outcome == REPLAY_LIVELOCK;
}

static void also_accesses(void)
{
	rows[1].accesses++;
}

static void also_creates(void)
{
	board.strangers = true;
}

static void test_yields_in_vain_are_a_livelock(void **state)
{
	(void)state;
	rows[0].state = RADDLE_SLOT_BLOCKED;
	rows[2].state = RADDLE_SLOT_STOP;
	assert_true(yields_in_vain(NULL));
}

/* Each of these could end the loop. */
static void test_yields_may_be_for_something(void **state)
{
	rows[0].state = RADDLE_SLOT_BLOCKED;
	rows[2].state = RADDLE_SLOT_STOP;
	assert_false(yields_in_vain(also_accesses));
	stop(state);
	start(state);
	rows[2].state = RADDLE_SLOT_STOP;
	assert_false(yields_in_vain(NULL));
	stop(state);
	start(state);
	rows[0].state = RADDLE_SLOT_BLOCKED;
	rows[2].state = RADDLE_SLOT_STOP;
	assert_false(yields_in_vain(also_creates));
}

/* Makes the thread that the plan waits for sleep and work until the replayer gives up.  Returns true
 * if it gave up before its patience ended. */
static bool sleeps_in_vain(void (*also)(void))
{
	enum watch_action action = WATCH_GO_ON;
	uint64_t begin = now;

	w.patience_sleep_ns = 300000000;
	while (action == WATCH_GO_ON && now < begin + 5000) {
		rows[1].slept += 20000000;
		rows[1].accesses++;
		if (also)
			also();
		action = wait_for(20);
	}
	return action == WATCH_GIVE_UP && now - begin < w.patience_ms && w.outcome == REPLAY_LIVELOCK;
}

static void also_leads(void)
{
	board.turn++;
}

/* A thread that sleeps and polls in a loop waits in vain, whatever it does between its sleeps, unless the
 * plan makes progress or another thread runs. */
static void test_sleeps_in_vain_are_a_livelock(void **state)
{
	(void)state;
	rows[0].state = RADDLE_SLOT_BLOCKED;
	rows[2].state = RADDLE_SLOT_STOP;
	assert_true(sleeps_in_vain(NULL));
	stop(state);
	start(state);
	rows[0].state = RADDLE_SLOT_BLOCKED;
	rows[2].state = RADDLE_SLOT_STOP;
	assert_false(sleeps_in_vain(also_leads));
	stop(state);
	start(state);
	rows[2].state = RADDLE_SLOT_STOP;
	assert_false(sleeps_in_vain(NULL));
}

/* A thread runs, but it is not the one that the plan waits for. */
static void test_busy_stranger_is_not_a_livelock(void **state)
{
	enum watch_action action = WATCH_GO_ON;

	(void)state;
	while (action == WATCH_GO_ON) {
		rows[0].ran += 1000;
		action = wait_for(20);
	}
	assert_int_equal(action, WATCH_GIVE_UP);
	assert_int_equal(w.outcome, REPLAY_STUCK);
}

/* The thread that has the turn waits for a lock whose holder spins. */
static void test_owner_that_spins_is_a_livelock(void **state)
{
	enum watch_action action = WATCH_GO_ON;

	(void)state;
	blocks(1, RADDLE_MUTEX_LOCK, A);
	holds(0, A);
	rows[2].state = RADDLE_SLOT_LIMIT;
	while (action == WATCH_GO_ON) {
		rows[0].ran += 1000;
		action = wait_for(20);
	}
	assert_int_equal(w.outcome, REPLAY_LIVELOCK);
}

static void test_sleep_is_not_a_livelock(void **state)
{
	(void)state;
	rows[2].state = RADDLE_SLOT_STOP;
	assert_int_equal(wait_for(w.patience_ms), WATCH_GO_ON);
	assert_int_equal(wait_for(100), WATCH_GIVE_UP);
	assert_int_equal(w.outcome, REPLAY_STUCK);
}

/* A thread polls a lock: it does operations, but not those of the plan. */
static void test_polling_does_not_lead(void **state)
{
	enum watch_action action = WATCH_GO_ON;

	(void)state;
	for (uint64_t begin = now; action == WATCH_GO_ON && now < begin + 5000;) {
		rows[1].ran++;
		rows[1].n += 2;
		action = wait_for(20);
	}
	assert_int_equal(action, WATCH_GIVE_UP);
}

static void test_plan_that_advances_is_left_alone(void **state)
{
	(void)state;
	for (int i = 0; i < 50; i++) {
		board.turn++;
		assert_int_equal(wait_for(1900), WATCH_GO_ON);
	}
}

static void test_interrupted(void **state)
{
	(void)state;
	assert_int_equal(wait_for(100), WATCH_GO_ON);
	w.interrupted = true;
	assert_int_equal(wait_for(100), WATCH_GIVE_UP);
	assert_int_equal(w.outcome, REPLAY_STOPPED);
}

static void test_hang_after_going_free(void **state)
{
	(void)state;
	board.phase = RADDLE_RUNS_FREE;
	assert_int_equal(wait_for(w.patience_ms), WATCH_GO_ON);
	assert_int_equal(wait_for(100), WATCH_END);
	assert_int_equal(w.end, REPLAY_HUNG);
	assert_false(w.decided);
}

/* The runtime reports a livelock, so the replay ends at once. */
static void test_livelock_ends_at_once(void **state)
{
	(void)state;
	board.phase = RADDLE_GOES_ON;
	assert_int_equal(wait_for(100), WATCH_GO_ON);
	board.livelocked = true;
	assert_int_equal(wait_for(20), WATCH_END);
	assert_int_equal(w.end, REPLAY_LIVELOCKED);
	board.livelocked = false;
}

/* Lets the threads that run yield until the run ends.  Returns true if it ended before its time limit. */
static bool rests_in_vain(bool all)
{
	enum watch_action action = WATCH_GO_ON;
	uint64_t begin = now;

	board.phase = RADDLE_RUNS_FREE;
	rows[0].state = RADDLE_SLOT_BLOCKED;
	w.patience_yields = 1000;
	while (action == WATCH_GO_ON && now < begin + w.limit_ms) {
		rows[1].yields += 10;
		rows[2].yields += all ? 10 : 0;
		rows[1].accesses++;
		rows[2].accesses++;
		action = wait_for(20);
	}
	return action == WATCH_END && w.end == REPLAY_RAN_ON && now - begin < w.limit_ms;
}

/* A run in which all threads only yield is not worth its time limit.  A thread that does not yield may be
 * computing. */
static void test_threads_that_only_yield_are_ended(void **state)
{
	assert_true(rests_in_vain(true));
	stop(state);
	start(state);
	assert_false(rests_in_vain(false));
}

static void test_endless_program_is_ended(void **state)
{
	enum watch_action action = WATCH_GO_ON;

	(void)state;
	board.phase = RADDLE_DIVERGED;
	while (action == WATCH_GO_ON) {
		rows[1].accesses++;
		action = wait_for(20);
	}
	assert_int_equal(action, WATCH_END);
	assert_int_equal(w.end, REPLAY_RAN_ON);
	assert_int_equal(w.limit, REPLAY_LIMIT_TIME);
	assert_true(now - 1000 >= w.limit_ms);
}

/* A limit that the user set is in real time, which only the caller knows. */
static void test_program_is_ended_at_the_users_limit(void **state)
{
	(void)state;
	board.phase = RADDLE_GOES_ON;
	rows[1].accesses++;
	assert_int_equal(wait_for(20), WATCH_GO_ON);
	w.late = true;
	rows[1].accesses++;
	assert_int_equal(wait_for(20), WATCH_END);
	assert_int_equal(w.end, REPLAY_RAN_ON);
	assert_int_equal(w.limit, REPLAY_LIMIT_TIME);
}

/* The program is ended at its extent, however long that takes.  Each point counts as one, and
 * accesses count by the thousand, of all threads together. */
static void test_program_is_ended_at_its_extent(void **state)
{
	(void)state;
	board.phase = RADDLE_GOES_ON;
	/* the extent is estimated, and may be twice as large */
	w.most = 5 + 3 * BOARD_EXTENT_THREAD / 2;
	rows[0].arrivals = 4;
	rows[1].arrivals = 4;
	rows[2].accesses = 2 * BOARD_EXTENT_ACCESSES - 1;
	assert_int_equal(wait_for(40), WATCH_GO_ON);
	rows[2].accesses++;
	assert_int_equal(wait_for(40), WATCH_END);
	assert_int_equal(w.end, REPLAY_RAN_ON);
	assert_int_equal(w.limit, REPLAY_LIMIT_POINTS);
}

static void check_stopped(uint32_t by_runtime, enum replay_limit limit)
{
	board.phase = RADDLE_GOES_ON;
	assert_int_equal(wait_for(40), WATCH_GO_ON);
	board.ran_on = by_runtime;
	assert_int_equal(wait_for(40), WATCH_END);
	assert_int_equal(w.end, REPLAY_RAN_ON);
	assert_int_equal(w.limit, limit);
	board.ran_on = RADDLE_LIMIT_NONE;
}

/* The runtime has stopped the threads, because they wait for a signal. */
static void test_program_that_waits_for_a_signal_is_ended(void **state)
{
	(void)state;
	check_stopped(RADDLE_LIMIT_OUTSIDE, REPLAY_LIMIT_OUTSIDE);
}

/* The runtime has stopped the threads at another limit than one of points, for instance because it has
 * noted enough accesses. */
static void test_program_that_the_runtime_has_stopped_is_ended(void **state)
{
	(void)state;
	check_stopped(RADDLE_LIMIT_POINTS, REPLAY_LIMIT_POINTS);
}

/* A user debugs the program, so no time limit applies. */
static void test_nobody_is_hurried_who_looks(void **state)
{
	(void)state;
	board.phase = RADDLE_MET;
	w.staying = true;
	assert_int_equal(wait_for(100000), WATCH_GO_ON);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_cycle_is_closed),
		TEST(test_owner_that_runs_is_none),
		TEST(test_owner_at_our_gate_is_none),
		TEST(test_unknown_owner_is_none),
		TEST(test_time_limit_is_none),
		TEST(test_self_deadlock),
		TEST(test_lock_of_ended_thread),
		TEST(test_one_reader_is_enough),
		TEST(test_readers_wait_for_writers_only),
		TEST(test_wait_that_nobody_ends),
		TEST(test_semaphore_and_handlers),
		TEST(test_woken_waiter_wants_its_mutex),
		TEST(test_join_of_ended_thread_ends),
		TEST(test_planned_deadlock_is_confirmed),
		TEST(test_planned_deadlock_beside_others),
		TEST(test_cycle_that_changes_does_not_stand),
		TEST(test_other_deadlock_on_the_way),
		TEST(test_stuck_program_is_known_at_once),
		TEST(test_stuck_plan_is_given_up_at_once),
		TEST(test_held_up_program_is_ended),
		TEST(test_one_kernel_thread_without_steps_is_ended),
		TEST(test_plan_that_blocks_itself_is_given_up),
		TEST(test_ended_thread_is_named),
		TEST(test_spin_is_a_livelock),
		TEST(test_yields_in_vain_are_a_livelock),
		TEST(test_yields_may_be_for_something),
		TEST(test_sleeps_in_vain_are_a_livelock),
		TEST(test_busy_stranger_is_not_a_livelock),
		TEST(test_owner_that_spins_is_a_livelock),
		TEST(test_sleep_is_not_a_livelock),
		TEST(test_polling_does_not_lead),
		TEST(test_plan_that_advances_is_left_alone),
		TEST(test_interrupted),
		TEST(test_hang_after_going_free),
		TEST(test_livelock_ends_at_once),
		TEST(test_threads_that_only_yield_are_ended),
		TEST(test_endless_program_is_ended),
		TEST(test_program_is_ended_at_the_users_limit),
		TEST(test_program_is_ended_at_its_extent),
		TEST(test_program_that_waits_for_a_signal_is_ended),
		TEST(test_program_that_the_runtime_has_stopped_is_ended),
		TEST(test_nobody_is_hurried_who_looks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
