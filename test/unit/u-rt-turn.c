// SPDX-License-Identifier: Apache-2.0
/*
 * Tests threads that take turns (rt/steer/turn.c), with the plans of u-rt-steer.c and with
 * decisions, watched accesses and seeds.  The plan alone must determine the program's output, every
 * time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "steer-run.h"

#define TURNS RADDLE_STEER_TURNS

/* Runs a plan so often, expects this output each time, and returns the trail of the last run. */
static uint64_t check_turns(const struct plan *p, const char *said, int times)
{
	uint64_t trail = 0;

	for (int i = 0; i < times; i++) {
		struct run r = run_plan(p);
		assert_string_equal(r.said, said);
		assert_true(WIFEXITED(r.status));
		assert_int_equal(WEXITSTATUS(r.status), 0);
		assert_int_equal(r.steer->phase, RADDLE_GOES_ON);
		assert_int_equal(r.steer->past_count, r.steer->decision_count);
		assert_int_equal(r.steer->unsure, 0);
		assert_true(i == 0 || r.steer->trail == trail);
		trail = r.steer->trail;
		end_run(&r);
	}
	return trail;
}

/* By default a thread runs until it waits, and then the next thread runs. */
static void defaults(void **state)
{
	static const char *const names[] = {"mutex", "timed", "c11", "rwlock", "spin", "sem", "start"};

	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		check_turns(&(struct plan){.name = names[i], .flags = TURNS}, "ab\n", 5);
	check_turns(&(struct plan){.name = "once", .flags = TURNS}, "a\n", 5);
	check_turns(&(struct plan){.name = "barrier", .flags = TURNS}, "b\n", 5);
}

/* The main thread joins a (operation 4) and has to wait.  The decision names the thread that runs
 * next. */
static void decides(void **state)
{
	struct plan p = {
		.name = "mutex", .flags = TURNS, .decisions = {{MAIN, B, 4, RADDLE_POINT_WAIT, 1, 0, 0}}};

	(void)state;
	check_turns(&p, "ba\n", 20);
	/* When b wants the lock, a has it.  So b waits, and a continues. */
	p.decisions[0] = (struct raddle_steer_decision){A, B, 3, RADDLE_POINT_OP, 1, 0, 0};
	p.decisions[1] = (struct raddle_steer_decision){B, A, 2, RADDLE_POINT_WAIT, 1, 0, 0};
	check_turns(&p, "ab\n", 20);
}

/* The same seed gives the same run.  Among several seeds, both possible outputs occur. */
static void seeds(void **state)
{
	static const char *const names[] = {"mutex", "try", "rwlock", "spin", "sem", "once", "barrier"};

	(void)state;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		char seen[2][256] = {"", ""};
		struct plan p = {.name = names[i], .flags = TURNS};
		for (p.seed = 1; p.seed <= 12; p.seed++) {
			struct run r = run_plan(&p);
			snprintf(seen[*seen[0] && strcmp(seen[0], r.said) != 0], sizeof seen[0], "%s",
				 r.said);
			if (p.seed <= 3)
				assert_true(check_turns(&p, r.said, 3) == r.steer->trail);
			end_run(&r);
		}
		assert_true(*seen[0] && *seen[1]);
	}
}

/* The decisions that a seed made are recorded.  A plan with these decisions gives the same run. */
static void written_down(void **state)
{
	struct plan p = {.name = "cells",
			 .flags = TURNS,
			 .watches = {{"fill", true, false, false}, {"look", false, false, false}}};

	(void)state;
	for (p.seed = 1; p.seed <= 5; p.seed++) {
		struct run r = run_plan(&p);
		struct plan again = {
			.name = "cells",
			.flags = TURNS,
			.watches = {{"fill", true, false, false}, {"look", false, false, false}}};
		uint32_t count = r.steer->made_count;
		assert_in_range(count, 1, OPS_MAX);
		for (uint32_t i = 0; i < count; i++) /* in these plans, slots are positions */
			again.decisions[i] = raddle_steer_made(r.steer)[i];
		assert_true(check_turns(&again, r.said, 5) == r.steer->trail);
		end_run(&r);
	}
}

/* Tests the order of two accesses that met, and of what follows them. */
static void meets(void **state)
{
	struct plan p = {
		.name = "race", .flags = TURNS, .goals = {{"write_a", 3, 1, true}, {"write_b", 3, 1, true}}};

	(void)state;
	check_turns(&p, "b\n", 20);
	p.order = 1;
	check_turns(&p, "a\n", 20);
	/* b accesses first, but then a runs before b continues. */
	p.decisions[0] = (struct raddle_steer_decision){B, A, 3, RADDLE_POINT_BACK, 1, 0, 0};
	check_turns(&p, "a\n", 20);
}

/* A watched access is a point. */
static void watches(void **state)
{
	struct plan p = {.name = "race",
			 .flags = TURNS,
			 .watches = {{"write_a", true, false, false}, {"write_b", true, false, false}}};

	(void)state;
	check_turns(&p, "b\n", 5);
	p.decisions[0] = (struct raddle_steer_decision){A, B, 3, RADDLE_POINT_ACCESS, 1, 0, 0};
	p.decisions[1] = (struct raddle_steer_decision){B, A, 4, RADDLE_POINT_OP, 1, 0, 0};
	check_turns(&p, "a\n", 20);
}

/* Some decisions cannot be followed. */
static void cannot(void **state)
{
	struct plan p = {
		.name = "mutex", .flags = TURNS, .decisions = {{A, MAIN, 2, RADDLE_POINT_OP, 1, 0, 0}}};
	struct run r = run_plan(&p);

	(void)state;
	assert_int_equal(r.steer->phase, RADDLE_DIVERGED);
	assert_int_equal(r.steer->difference.cause, RADDLE_CAUSE_CANNOT);
	assert_int_equal(r.steer->difference.slot, A);
	assert_int_equal(WEXITSTATUS(r.status), 0);
	end_run(&r);
	p.decisions[0] = (struct raddle_steer_decision){A, B, 3, RADDLE_POINT_ACCESS, 1, 0, 0};
	r = run_plan(&p);
	assert_int_equal(r.steer->phase, RADDLE_DIVERGED);
	assert_int_equal(r.steer->difference.cause, RADDLE_CAUSE_MISSED);
	assert_int_equal(r.steer->difference.n, 4);
	end_run(&r);
}

/* The program deadlocks, and no decision could prevent that. */
static void deadlock(void **state)
{
	struct plan p = {.name = "both", .flags = TURNS, .decisions = {{A, B, 3, RADDLE_POINT_OP, 1, 0, 0}}};
	int out;
	struct run r = begin(&p, &out);

	(void)state;
	await(&r, RADDLE_SLOT_BLOCKED, RADDLE_SLOT_BLOCKED);
	while (atomic_load(&r.steer->running) != RADDLE_STEER_NONE)
		nap();
	for (int i = 0; i < 100; i++) {
		nap();
		await(&r, RADDLE_SLOT_BLOCKED, RADDLE_SLOT_BLOCKED);
	}
	assert_int_equal(r.steer->phase, RADDLE_GOES_ON);
	assert_int_equal(r.slots[MAIN].state, RADDLE_SLOT_BLOCKED);
	assert_true(r.slots[A].object == r.slots[B].held[0]);
	assert_true(r.slots[B].object == r.slots[A].held[0]);
	kill(r.pid, SIGKILL);
	finish(&r, out);
	end_run(&r);
}

/* A thread that spins until another one does something gives that thread a turn. */
static void spins(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 4; seed++)
		check_turns(&(struct plan){.name = "spins", .flags = TURNS, .seed = seed}, "ba\n", 3);
}

static void await_ask(const struct run *r, uint32_t asks)
{
	for (int i = 0; i < PATIENCE_MS && atomic_load(&r->steer->asks) != asks; i++)
		nap();
	assert_int_equal(r->steer->asks, asks);
	assert_int_equal(r->steer->running, RADDLE_STEER_ASKING);
}

static void answer(const struct run *r, uint32_t next)
{
	r->steer->next = next;
	atomic_store(&r->steer->answers, atomic_load(&r->steer->asks));
}

/* A thread is stopped at a watched access.  The replayer names the thread that continues, and
 * extends the plan. */
static void extends(void **state)
{
	struct plan p = {.name = "race", .flags = TURNS, .watches = {{"write_a", true, true, false}}};

	(void)state;
	for (uint32_t x = A; x <= B; x++) {
		int out;
		struct run r = begin(&p, &out);
		struct raddle_steer_watch *w = raddle_steer_watches(r.steer);
		await_ask(&r, 1);
		assert_int_equal(r.steer->ask.slot, A);
		assert_int_equal(r.steer->ask.watch, 0);
		assert_int_equal(r.steer->ask.spot.site, w[0].site);
		assert_int_equal(r.slots[A].state, RADDLE_SLOT_GOAL);
		assert_int_equal(r.slots[A].point, RADDLE_POINT_ACCESS);
		assert_int_equal(r.slots[B].state, RADDLE_SLOT_GATE);
		/* Watch thread b at the same memory, by its address. */
		w[1] = (struct raddle_steer_watch){.thread = B,
						   .address = r.steer->ask.spot.address,
						   .size = r.steer->ask.spot.size,
						   .after = UINT64_MAX,
						   .how = 3,
						   .stand = 1};
		atomic_store(&r.steer->watch_count, 2);
		answer(&r, B);
		await_ask(&r, 2);
		assert_int_equal(r.steer->ask.slot, B);
		assert_int_equal(r.steer->ask.watch, 1);
		assert_int_equal(r.slots[A].state, RADDLE_SLOT_GOAL);
		/* Thread x writes first.  A new decision lets the other one run before x ends. */
		raddle_steer_decisions(r.steer)[0] =
			(struct raddle_steer_decision){x, A + B - x, 4, RADDLE_POINT_OP, 1, 0, 0};
		atomic_store(&r.steer->decision_count, 1);
		answer(&r, x);
		finish(&r, out);
		assert_string_equal(r.said, x == A ? "b\n" : "a\n");
		assert_int_equal(r.steer->past_count, 1);
		assert_int_equal(r.steer->phase, RADDLE_GOES_ON);
		end_run(&r);
	}
}

/* A watched access is noted, and the program goes on. */
static void notes(void **state)
{
	struct plan p = {.name = "race",
			 .flags = TURNS,
			 .watches = {{"write_a", true, true, true}, {"write_b", true, true, true}}};
	struct run r = run_plan(&p);

	(void)state;
	assert_int_equal(r.steer->asks, 0);
	assert_int_equal(r.steer->seen_count, 2);
	for (uint32_t i = 0; i < 2; i++) {
		const struct raddle_steer_seen *seen = &r.steer->seen[i];

		assert_in_range(seen->slot, A, B);
		assert_int_equal(seen->site, raddle_steer_watches(r.steer)[seen->slot - A].site);
		assert_int_equal(seen->n, r.slots[seen->slot].n - 1);
		assert_int_equal(seen->address, r.steer->seen[0].address);
		assert_true(seen->write && seen->size == r.steer->seen[0].size);
	}
	assert_int_not_equal(r.steer->seen[0].slot, r.steer->seen[1].slot);
	end_run(&r);
}

/* A run that has noted as many accesses as there is room for does not continue. */
static void notes_no_more(void **state)
{
	struct plan p = {.name = "race", .flags = TURNS, .watches = {{"write_a", true, true, true}}};
	int out;
	struct run r = begin(&p, &out);

	(void)state;
	r.steer->seen_count = RADDLE_STEER_SEEN - 1;
	for (int i = 0; i < PATIENCE_MS && !atomic_load(&r.steer->ran_on); i++)
		nap();
	assert_int_equal(r.steer->ran_on, RADDLE_LIMIT_POINTS);
	assert_int_equal(r.steer->seen_count, RADDLE_STEER_SEEN);
	kill(r.pid, SIGKILL);
	finish(&r, out);
	end_run(&r);
}

/* The runtime asks before the first operation, and at each point after the last decision. */
static void asks(void **state)
{
	struct plan p = {.name = "mutex", .flags = TURNS | RADDLE_STEER_ASK_START | RADDLE_STEER_ASK};
	int out;
	struct run r = begin(&p, &out);
	uint32_t n = 1;

	(void)state;
	await_ask(&r, n);
	assert_int_equal(r.steer->ask.slot, MAIN);
	assert_int_equal(r.steer->ask.watch, RADDLE_STEER_NONE);
	/* Answer main as long as it can run, otherwise the thread with the higher number. */
	while (r.slots[MAIN].n < 5 && n < 100) {
		uint32_t next = RADDLE_STEER_NONE;
		for (uint32_t i = MAIN; i <= B; i++)
			next = r.slots[i].ready && (i == MAIN || next != MAIN) ? i : next;
		answer(&r, next);
		for (int i = 0;
		     i < 2000 && atomic_load(&r.steer->asks) == n && !waitpid(r.pid, &r.status, WNOHANG); i++)
			nap();
		n++;
	}
	r.steer->flags &= ~(uint32_t)RADDLE_STEER_ASK;
	answer(&r, RADDLE_STEER_NONE);
	finish(&r, out);
	assert_in_range(n, 8, 99);
	assert_string_equal(r.said, "ba\n");
	end_run(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults),	 cmocka_unit_test(decides),  cmocka_unit_test(seeds),
		cmocka_unit_test(written_down),	 cmocka_unit_test(meets),    cmocka_unit_test(watches),
		cmocka_unit_test(cannot),	 cmocka_unit_test(deadlock), cmocka_unit_test(spins),
		cmocka_unit_test(extends),	 cmocka_unit_test(asks),     cmocka_unit_test(notes),
		cmocka_unit_test(notes_no_more),
	};

	return cmocka_run_group_tests(tests, build_steer, NULL);
}
