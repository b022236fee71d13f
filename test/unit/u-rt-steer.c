// SPDX-License-Identifier: Apache-2.0
/*
 * Tests steering inside a program, with hand-written plans for test/prog/steer.c, in which two
 * threads, a and b, do one small thing each.  A plan decides in which order they act and where they
 * are stopped.  The program prints the order that it saw; everything else is checked in the
 * steering memory.  Each run is repeated and must end the same way.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "steer-run.h"

/* ---- the order of operations ---- */

static void check_order(const struct plan *p, const char *said)
{
	for (int i = 0; i < 20; i++) {
		struct run r = run_plan(p);
		assert_string_equal(r.said, said);
		assert_true(WIFEXITED(r.status));
		assert_int_equal(WEXITSTATUS(r.status), 0);
		assert_int_equal(r.steer->phase, RADDLE_LEADING);
		assert_int_equal(r.steer->turn, r.steer->op_count);
		assert_int_equal(r.slots[A].state, RADDLE_SLOT_ENDED);
		assert_int_equal(r.slots[A].held_count, 0);
		end_run(&r);
	}
}

/* The plan has the lock and unlock of `x` first, then those of `y`. */
static void check_sections(const char *name, const uint32_t take[2], uint32_t release)
{
	struct plan p = {.name = name};

	for (uint32_t x = A; x <= B; x++) {
		uint32_t y = A + B - x;
		p.ops[0] = (struct op){x, 2, take[x - A]};
		p.ops[1] = (struct op){x, 3, release};
		p.ops[2] = (struct op){y, 2, take[y - A]};
		p.ops[3] = (struct op){y, 3, release};
		check_order(&p, x == A ? "ab\n" : "ba\n");
	}
}

static void sections(void **state)
{
	static const struct {
		const char *name;
		uint32_t take[2], release;
	} rows[] = {
		{"mutex", {RADDLE_MUTEX_LOCK, RADDLE_MUTEX_LOCK}, RADDLE_MUTEX_UNLOCK},
		{"timed", {RADDLE_MUTEX_TIMEDLOCK, RADDLE_MUTEX_TIMEDLOCK}, RADDLE_MUTEX_UNLOCK},
		{"c11", {RADDLE_MUTEX_LOCK, RADDLE_MUTEX_LOCK}, RADDLE_MUTEX_UNLOCK},
		{"rwlock", {RADDLE_RWLOCK_RDLOCK, RADDLE_RWLOCK_WRLOCK}, RADDLE_RWLOCK_UNLOCK},
		{"spin", {RADDLE_SPIN_LOCK, RADDLE_SPIN_LOCK}, RADDLE_SPIN_UNLOCK},
		{"sem", {RADDLE_SEM_WAIT, RADDLE_SEM_WAIT}, RADDLE_SEM_POST},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		check_sections(rows[i].name, rows[i].take, rows[i].release);
}

/* Whether a thread gets the lock depends only on the plan. */
static void tries(void **state)
{
	struct plan p = {.name = "try"};

	(void)state;
	for (uint32_t x = A; x <= B; x++) {
		p.ops[0] = (struct op){x, 2, RADDLE_MUTEX_TRYLOCK};
		p.ops[1] = (struct op){A + B - x, 2, RADDLE_MUTEX_TRYLOCK};
		p.ops[2] = (struct op){A + B - x, 3, RADDLE_THREAD_END};
		p.ops[3] = (struct op){x, 3, RADDLE_MUTEX_UNLOCK};
		for (int i = 0; i < 20; i++) {
			struct run r = run_plan(&p);
			/* The thread that gets the lock may print before or after the other. */
			assert_non_null(strchr(r.said, x == A ? 'a' : 'b'));
			assert_non_null(strchr(r.said, x == A ? 'B' : 'A'));
			assert_int_equal(r.steer->turn, 4);
			end_run(&r);
		}
	}
}

static void starts(void **state)
{
	struct plan p = {.name = "start"};

	(void)state;
	for (uint32_t x = A; x <= B; x++) {
		p.ops[0] = (struct op){MAIN, 2, RADDLE_THREAD_CREATE};
		p.ops[1] = (struct op){MAIN, 3, RADDLE_THREAD_CREATE};
		p.ops[2] = (struct op){x, 1, RADDLE_THREAD_START};
		p.ops[3] = (struct op){x, 2, RADDLE_THREAD_END};
		p.ops[4] = (struct op){A + B - x, 1, RADDLE_THREAD_START};
		p.ops[5] = (struct op){MAIN, 4, RADDLE_THREAD_JOIN};
		p.ops[6] = (struct op){MAIN, 5, RADDLE_THREAD_JOIN};
		check_order(&p, x == A ? "ab\n" : "ba\n");
	}
}

static void onces(void **state)
{
	struct plan p = {.name = "once"};

	(void)state;
	for (uint32_t x = A; x <= B; x++) {
		p.ops[0] = (struct op){x, 2, RADDLE_ONCE_RUN};
		p.ops[1] = (struct op){x, 3, RADDLE_ONCE_DONE};
		p.ops[2] = (struct op){A + B - x, 2, RADDLE_ONCE_PASS};
		check_order(&p, x == A ? "a\n" : "b\n");
	}
}

/* The last thread to enter is the serial one. */
static void barriers(void **state)
{
	struct plan p = {.name = "barrier"};

	(void)state;
	for (uint32_t x = A; x <= B; x++) {
		p.ops[0] = (struct op){x, 2, RADDLE_BARRIER_ENTER};
		p.ops[1] = (struct op){A + B - x, 2, RADDLE_BARRIER_ENTER};
		p.ops[2] = (struct op){A, 3, RADDLE_BARRIER_EXIT};
		p.ops[3] = (struct op){B, 3, RADDLE_BARRIER_EXIT};
		check_order(&p, x == A ? "b\n" : "a\n");
	}
}

/* Two threads wait, and the plan decides which of them the first signal wakes. */
static void conds(void **state)
{
	(void)state;
	for (uint32_t x = A; x <= B; x++) {
		uint32_t y = A + B - x;
		struct plan p = {
			.name = "cond",
			.ops = {{A, 2, RADDLE_MUTEX_LOCK},
				{A, 3, RADDLE_COND_WAIT},
				{B, 2, RADDLE_MUTEX_LOCK},
				{B, 3, RADDLE_COND_WAIT},
				{MAIN, 4, RADDLE_MUTEX_LOCK},
				{MAIN, 5, RADDLE_COND_SIGNAL},
				{MAIN, 6, RADDLE_MUTEX_UNLOCK},
				{x, 4, RADDLE_COND_WAKE},
				{x, 5, RADDLE_MUTEX_UNLOCK},
				{MAIN, 7, RADDLE_MUTEX_LOCK},
				{MAIN, 8, RADDLE_COND_SIGNAL},
				{MAIN, 9, RADDLE_MUTEX_UNLOCK},
				{y, 4, RADDLE_COND_WAKE}},
		};
		check_order(&p, x == A ? "ab\n" : "ba\n");
	}
}

/* ---- races: threads that meet ---- */

static void check_met(const struct plan *p, const char *said)
{
	for (int i = 0; i < 20; i++) {
		struct run r = run_plan(p);
		const struct raddle_steer_spot *a = &r.steer->spots[0], *b = &r.steer->spots[1];
		assert_int_equal(r.steer->phase, RADDLE_RUNS_FREE);
		if (said)
			assert_string_equal(r.said, said);
		assert_int_equal(WEXITSTATUS(r.status), 0);
		assert_int_equal(a->slot, A);
		assert_int_equal(b->slot, B);
		assert_int_equal(a->site, r.steer->goals[0].site);
		assert_int_equal(b->site, r.steer->goals[1].site);
		assert_true(a->address < b->address + b->size && b->address < a->address + a->size);
		assert_int_equal(a->n, 3);
		assert_int_not_equal(a->frame_count, 0);
		end_run(&r);
	}
}

/* The thread that goes first writes first, so the program prints the other one. */
static void races(void **state)
{
	struct plan p = {.name = "race", .goals = {{"write_a", 3, 1, true}, {"write_b", 3, 1, true}}};

	(void)state;
	check_met(&p, "b\n");
	p.order = 1;
	check_met(&p, "a\n");
	for (uint32_t x = A; x <= B; x++) {
		p.ops[0] = (struct op){x, 2, RADDLE_MUTEX_LOCK};
		p.ops[1] = (struct op){x, 3, RADDLE_MUTEX_UNLOCK};
		p.ops[2] = (struct op){A + B - x, 2, RADDLE_MUTEX_LOCK};
		check_met(&p, "a\n");
	}
}

/* No thread is led.  A thread that reaches one of the accesses waits there until another thread,
 * never itself, reaches the other access. */
static void anywhere(void **state)
{
	struct plan p = {.name = "often",
			 .goals = {{"write_a", 77, 7, true}, {"write_b", 77, 7, true}},
			 .flags = RADDLE_STEER_ANYWHERE};
	struct run r = run_plan(&p);

	(void)state;
	assert_int_equal(r.steer->phase, RADDLE_RUNS_FREE);
	assert_int_equal(WEXITSTATUS(r.status), 0);
	assert_int_equal(r.steer->spots[0].slot, A);
	assert_int_equal(r.steer->spots[1].slot, B);
	assert_int_equal(r.steer->spots[0].site, r.steer->goals[0].site);
	assert_int_equal(r.steer->spots[1].site, r.steer->goals[1].site);
	assert_int_equal(r.steer->spots[0].address, r.steer->spots[1].address);
	end_run(&r);
	p.goals[1].function = "write_a";
	r = run_plan(&p);
	assert_int_equal(r.steer->phase, RADDLE_LEADING);
	assert_int_equal(WEXITSTATUS(r.status), 0);
	end_run(&r);
}

/* A waits for B, which only yields until A has written.  With PATIENT, A waits 20 times as long,
 * unless it is known that B will not come. */
static void yields_in_vain(void **state)
{
	struct plan p = {.name = "yields",
			 .goals = {{"write_a", 1, 1, true}, {"write_b", 1, 1, true}},
			 .flags = RADDLE_STEER_ANYWHERE};
	struct run r = run_plan(&p);

	(void)state;
	assert_int_equal(WEXITSTATUS(r.status), 0);
	p.flags |= RADDLE_STEER_PATIENT;
	p.most_yields = r.slots[B].yields;
	end_run(&r);
	r = run_plan(&p);
	assert_int_equal(WEXITSTATUS(r.status), 0);
	assert_int_equal(r.steer->phase, RADDLE_LEADING);
	assert_true(r.slots[B].yields >= p.most_yields);
	assert_true(r.slots[B].yields < 10 * p.most_yields);
	end_run(&r);
}

/* The goal is the eighth write of a loop, which is reported by a hook or as part of a stride. */
static void occurrences(void **state)
{
	struct plan p = {.name = "cells", .goals = {{"fill", 3, 8, true}, {"look", 3, 1, false}}};

	(void)state;
	check_met(&p, NULL);
	p.fast = true;
	check_met(&p, NULL);
}

static void atomics(void **state)
{
	struct plan p = {.name = "atomic", .goals = {{"store_flag", 3, 1, true}, {"load_flag", 3, 1, false}}};

	(void)state;
	check_met(&p, NULL);
}

static void ranges(void **state)
{
	struct plan p = {.name = "range", .goals = {{"clear_cells", 3, 1, true}, {"look", 3, 1, false}}};

	(void)state;
	check_met(&p, NULL);
}

/* The threads stay stopped until they are told to continue. */
static void stays(void **state)
{
	struct plan p = {.name = "race",
			 .goals = {{"write_a", 3, 1, true}, {"write_b", 3, 1, true}},
			 .flags = RADDLE_STEER_STAY};
	int out;
	struct run r = begin(&p, &out);

	(void)state;
	while (atomic_load(&r.steer->phase) == RADDLE_LEADING)
		nap();
	await(&r, RADDLE_SLOT_GOAL, RADDLE_SLOT_GOAL);
	for (int i = 0; i < 50; i++)
		nap();
	assert_int_equal(r.steer->phase, RADDLE_MET);
	await(&r, RADDLE_SLOT_GOAL, RADDLE_SLOT_GOAL);
	r.steer->order = 1;
	atomic_store(&r.steer->command, RADDLE_COMMAND_GO);
	finish(&r, out);
	assert_int_equal(r.steer->phase, RADDLE_RUNS_FREE);
	assert_string_equal(r.said, "a\n");
	end_run(&r);
}

/* ---- programs that diverge from the plan ---- */

static void check_difference(const struct plan *p, struct raddle_steer_difference d)
{
	for (int i = 0; i < 10; i++) {
		struct run r = run_plan(p);
		const struct raddle_steer_difference *is = &r.steer->difference;
		assert_int_equal(r.steer->phase, RADDLE_DIVERGED);
		assert_int_equal(WEXITSTATUS(r.status), 0);
		assert_int_equal(is->cause, d.cause);
		assert_int_equal(is->slot, d.slot);
		assert_int_equal(is->n, d.n);
		assert_int_equal(is->expected, d.expected);
		assert_int_equal(is->found, d.found);
		assert_int_equal(is->turn, d.turn);
		end_run(&r);
	}
}

static void differs(void **state)
{
	struct plan kind = {.name = "mutex",
			    .ops = {{A, 2, RADDLE_MUTEX_LOCK}, {A, 3, RADDLE_RWLOCK_UNLOCK}}};
	struct plan once = {.name = "once", .ops = {{A, 2, RADDLE_ONCE_PASS}, {B, 2, RADDLE_ONCE_RUN}}};
	struct plan ended = {.name = "mutex", .ops = {{A, 9, RADDLE_MUTEX_LOCK}}};
	struct plan past = {.name = "race",
			    .goals = {{"fill", 2, 1, true}, {"write_b", 3, 1, true}},
			    .limits = {[B] = 1}};

	(void)state;
	check_difference(&kind,
			 (struct raddle_steer_difference){RADDLE_CAUSE_KIND, A, 3, RADDLE_RWLOCK_UNLOCK,
							  RADDLE_MUTEX_UNLOCK, 0, 1});
	check_difference(&once, (struct raddle_steer_difference){RADDLE_CAUSE_KIND, A, 2, RADDLE_ONCE_PASS,
								 RADDLE_ONCE_RUN, 0, 0});
	check_difference(&ended, (struct raddle_steer_difference){RADDLE_CAUSE_ENDED, A, 4, RADDLE_MUTEX_LOCK,
								  RADDLE_THREAD_END, 0, 0});
	check_difference(&past, (struct raddle_steer_difference){RADDLE_CAUSE_PAST, A, 3, 0,
								 RADDLE_MUTEX_UNLOCK, 0, 0});
	past.goals[0].after = 4; /* the fourth operation of a is its end */
	check_difference(&past, (struct raddle_steer_difference){RADDLE_CAUSE_ENDED, A, 4, 0,
								 RADDLE_THREAD_END, 0, 0});
}

/* Both threads reach their goals, but access different memory.  The one that comes second is not
 * stopped. */
static void apart(void **state)
{
	struct plan p = {.name = "cells", .goals = {{"fill", 3, 9, true}, {"look", 3, 1, false}}};

	(void)state;
	for (int i = 0; i < 10; i++) {
		struct run r = run_plan(&p);
		assert_int_equal(r.steer->phase, RADDLE_DIVERGED);
		assert_int_equal(r.steer->difference.cause, RADDLE_CAUSE_APART);
		assert_int_equal(r.steer->difference.n, 4);
		end_run(&r);
	}
}

/* ---- limits, and giving up ---- */

static void limits(void **state)
{
	struct plan p = {.name = "mutex", .limits = {[A] = 1}};
	int out;
	struct run r = begin(&p, &out);

	(void)state;
	await(&r, RADDLE_SLOT_LIMIT, RADDLE_SLOT_ENDED);
	assert_int_equal(r.slots[A].kind, RADDLE_MUTEX_LOCK);
	assert_int_equal(r.slots[A].n, 2);
	assert_int_equal(r.steer->phase, RADDLE_LEADING);
	atomic_store(&r.steer->command, RADDLE_COMMAND_GIVE_UP);
	finish(&r, out);
	assert_int_equal(r.steer->phase, RADDLE_DIVERGED);
	assert_int_equal(r.steer->difference.cause, RADDLE_CAUSE_GIVE_UP);
	assert_string_equal(r.said, "ba\n");
	end_run(&r);
}

/* ---- deadlocks: threads that are stopped in an operation ---- */

static void kill_run(struct run *r, int out)
{
	kill(r->pid, SIGKILL);
	finish(r, out);
	end_run(r);
}

static void deadlocks(void **state)
{
	struct plan p = {.name = "both",
			 .ops = {{A, 2, RADDLE_MUTEX_LOCK}, {B, 2, RADDLE_MUTEX_LOCK}},
			 .stops = {{A, 3, RADDLE_MUTEX_LOCK}, {B, 3, RADDLE_MUTEX_LOCK}}};

	(void)state;
	for (int i = 0; i < 20; i++) {
		int out;
		struct run r = begin(&p, &out);
		await(&r, RADDLE_SLOT_BLOCKED, RADDLE_SLOT_BLOCKED);
		assert_int_equal(r.steer->phase, RADDLE_RUNS_FREE);
		assert_int_equal(r.steer->stops_reached, 2);
		assert_int_equal(r.slots[A].kind, RADDLE_MUTEX_LOCK);
		assert_int_equal(r.slots[A].held_count, 1);
		assert_true(r.slots[A].object == r.slots[B].held[0]);
		assert_true(r.slots[B].object == r.slots[A].held[0]);
		while (atomic_load(&r.slots[MAIN].state) != RADDLE_SLOT_BLOCKED)
			nap();
		assert_int_equal(r.slots[MAIN].kind, RADDLE_THREAD_JOIN);
		assert_int_equal(r.slots[MAIN].object, A);
		kill_run(&r, out);
	}
}

static void self_deadlock(void **state)
{
	struct plan p = {.name = "twice", .stops = {{A, 3, RADDLE_MUTEX_LOCK}}};
	int out;
	struct run r = begin(&p, &out);

	(void)state;
	await(&r, RADDLE_SLOT_BLOCKED, RADDLE_SLOT_ENDED);
	assert_true(r.slots[A].object == r.slots[A].held[0]);
	assert_int_equal(r.steer->phase, RADDLE_RUNS_FREE);
	kill_run(&r, out);
}

/* The signal comes before the wait and is lost. */
static void lost_signal(void **state)
{
	struct plan p = {.name = "lost",
			 .ops = {{B, 2, RADDLE_MUTEX_LOCK},
				 {B, 3, RADDLE_COND_SIGNAL},
				 {B, 4, RADDLE_MUTEX_UNLOCK},
				 {A, 2, RADDLE_MUTEX_LOCK},
				 {A, 3, RADDLE_COND_WAIT}},
			 .stops = {{A, 4, RADDLE_COND_WAKE}}};
	int out;
	struct run r = begin(&p, &out);

	(void)state;
	await(&r, RADDLE_SLOT_BLOCKED, RADDLE_SLOT_ENDED);
	assert_int_equal(r.steer->phase, RADDLE_RUNS_FREE);
	assert_int_equal(r.slots[A].kind, RADDLE_COND_WAKE);
	assert_int_equal(r.slots[A].n, 4);
	assert_int_equal(r.slots[A].timed, 0);
	assert_int_equal(r.slots[A].held_count, 0);
	kill_run(&r, out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sections),    cmocka_unit_test(tries),	    cmocka_unit_test(starts),
		cmocka_unit_test(onces),       cmocka_unit_test(barriers),  cmocka_unit_test(conds),
		cmocka_unit_test(races),       cmocka_unit_test(anywhere),  cmocka_unit_test(yields_in_vain),
		cmocka_unit_test(occurrences), cmocka_unit_test(atomics),   cmocka_unit_test(ranges),
		cmocka_unit_test(stays),       cmocka_unit_test(differs),   cmocka_unit_test(apart),
		cmocka_unit_test(limits),      cmocka_unit_test(deadlocks), cmocka_unit_test(self_deadlock),
		cmocka_unit_test(lost_signal),
	};

	return cmocka_run_group_tests(tests, build_steer, NULL);
}
