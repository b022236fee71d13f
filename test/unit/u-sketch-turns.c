// SPDX-License-Identifier: Apache-2.0
/*
 * Unit tests of sketch/turns-events.c and sketch/turns-failure.c with made-up stops.  The program
 * is this process: its accesses go to memory of the test, so the values are real.
 */
#include "sites-fixture.h"
#include "sketch/turns-parts-int.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

enum { THREADS = 3, OPERATIONS = 16, CELLS = 4 };

/* Sites: a read, a write and an atomic update of line 10, a call of free(), a site without a file,
 * a lock, the creation of a thread, and inlined code. */
enum {
	READ = SITE(1),
	WRITE = SITE(2),
	UPDATE = SITE(3),
	FREE = SITE(4),
	NOWHERE = SITE(5),
	LOCK = SITE(6),
	CREATE = SITE(7),
	INLINED = SITE(8)
};
static const char lines[] = "U\t1\t1\tprog.c\n"
			    "F\t0\t/home/a/prog.c\n"
			    "F\t1\t/usr/include/list.h\n"
			    "S\t1\tr\t4\t-\t0\t10\t1\tf\tx\tint\n"
			    "S\t2\tw\t4\t-\t0\t11\t2\tf\tx\tint\n"
			    "S\t3\tax\t4\tS\t0\t12\t3\tf\tx\tint\n"
			    "S\t4\tc\t0\t-\t0\t13\t4\tg\tfree\t-\n"
			    "S\t5\tr\t4\t-\t-1\t0\t0\t-\tx\tint\n"
			    "S\t6\tc\t0\t-\t0\t20\t1\tg\tpthread_mutex_lock\t-\n"
			    "S\t7\tc\t0\t-\t0\t21\t1\tmain\tpthread_create\t-\n"
			    "S\t8\tr\t4\t-\t1\t5\t1\tfirst\ty\tint\t0\t30\tmain\n";

static uint64_t seed = 9;

static uint32_t below(uint32_t n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % n;
}

/* ---- a made-up run ---- */

struct world {
	struct sketch_runs runs;
	struct sketch_turns turns;
	struct turns_now now;
	struct trial trial;
	struct sketch_failure failure;
	struct replay_stander standers[THREADS];
	struct replay_program program;
	struct run_program flavour;
};

static const char *const names[THREADS] = {"T_0", "T_0_0", "T_0_1"};

static struct world *begin(void)
{
	static struct world w;

	w = (struct world){.trial = {.counts = true, .text = {{"", 0}, {"", 0}, {"", 0}}}};
	w.program.program = &w.flavour;
	w.turns = (struct sketch_turns){.runs = &w.runs, .sites = made_sites(lines)};
	assert_non_null(w.turns.sites);
	w.turns.bench.arena = rd_arena_new();
	w.turns.bench.program = w.program;
	w.now = (struct turns_now){.turns = &w.turns,
				   .run = sketch_run_add(&w.runs),
				   .trial = &w.trial,
				   .failure = &w.failure,
				   .seed = 1};
	turns_init(&w.now);
	for (int i = 0; i < THREADS; i++)
		w.standers[i] = (struct replay_stander){.thread = names[i], .ready = true};
	return &w;
}

static void end(struct world *w)
{
	free(w->now.ranges);
	sketch_failure_release(&w->failure);
	sketch_runs_release(&w->runs);
	trace_sites_free((struct trace_sites *)w->turns.sites);
	rd_arena_free(w->turns.bench.arena);
}

static void stop_at_access(struct world *w, uint32_t thread, uint32_t site, const void *at, uint64_t size)
{
	struct replay_spot spot = {.thread = names[thread],
				   .site = site,
				   .address = (uint64_t)(uintptr_t)at,
				   .size = size,
				   .write = site == WRITE || site == UPDATE || site == FREE};
	struct replay_stand stand = {.pid = getpid(),
				     .threads = w->standers,
				     .thread_count = THREADS,
				     .who = thread,
				     .spot = &spot};
	const char *next = "";

	turns_stopped(&w->now, &stand, &next);
	assert_null(next); /* no order is forced */
}

static void stop_at_operation(struct world *w, uint32_t thread, const char *kind, uint64_t n,
			      const char *point)
{
	struct replay_stand stand = {
		.pid = getpid(), .threads = w->standers, .thread_count = THREADS, .who = thread};
	const char *next = "";

	w->standers[thread].kind = kind;
	w->standers[thread].n = n;
	w->standers[thread].object = 4096;
	w->standers[thread].point = point;
	w->standers[thread].site = !strcmp(kind, "thread-create") ? CREATE : LOCK;
	turns_stopped(&w->now, &stand, &next);
}

static void end_thread(struct world *w, uint32_t thread)
{
	stop_at_operation(w, thread, "thread-end", 1000, "op");
}

/* Checks that the event is of this thread, line and kind. */
static void expect(const struct world *w, size_t at, uint32_t thread, uint32_t line, enum slice_kind kind)
{
	const struct sketch_event *e = &w->now.run->events[at];
	const struct slice_statement *s = &w->runs.statements[e->statement];

	assert_true(at < w->now.run->count);
	assert_int_equal(e->thread, thread);
	assert_int_equal(s->line, line);
	assert_int_equal(s->kind, kind);
}

/* ---- accesses and their values ---- */

struct operation {
	uint32_t site;
	size_t cell;
	int32_t value; /* the value that is written or added */
};

struct expected {
	uint32_t thread;
	uint32_t line;
	enum slice_kind kind;
	const void *at;
	int64_t value;
};

static size_t perform(const struct operation *o, uint32_t thread, int32_t *cells, struct expected *out)
{
	int32_t before = cells[o->cell];

	if (o->site == WRITE)
		cells[o->cell] = o->value;
	if (o->site == UPDATE)
		cells[o->cell] += o->value;
	out[0] =
		(struct expected){thread, 9 + (o->site & 0xffff), o->site == WRITE ? SLICE_WRITE : SLICE_READ,
				  &cells[o->cell], o->site == WRITE ? o->value : before};
	out[1] = (struct expected){thread, 12, SLICE_WRITE, &cells[o->cell], cells[o->cell]};
	return o->site == UPDATE ? 2 : 1;
}

/* Threads read, write and update four numbers in random order.  The events must be what was done,
 * in that order, with the value that was read or written. */
static void test_values(void **state)
{
	(void)state;
	for (int round = 0; round < 300; round++) {
		struct operation operations[THREADS][OPERATIONS];
		struct expected expected[2 * THREADS * OPERATIONS];
		size_t done[THREADS] = {0}, length[THREADS], count = 0, left = 0;
		int32_t cells[CELLS] = {1, -2, 3, -4};
		struct world *w = begin();

		for (uint32_t t = 0; t < THREADS; t++) {
			length[t] = 1 + below(OPERATIONS - 1);
			left += length[t];
			for (size_t i = 0; i < length[t]; i++)
				operations[t][i] = (struct operation){READ + below(3), below(CELLS),
								      (int32_t)below(9) - 4};
			stop_at_access(w, t, operations[t][0].site, &cells[operations[t][0].cell], 4);
		}
		while (left) {
			uint32_t t = below(THREADS);

			if (done[t] == length[t])
				continue;
			count += perform(&operations[t][done[t]++], t, cells, &expected[count]);
			left--;
			if (done[t] == length[t])
				end_thread(w, t);
			else
				stop_at_access(w, t, operations[t][done[t]].site,
					       &cells[operations[t][done[t]].cell], 4);
		}
		assert_int_equal(w->now.run->count, count);
		for (size_t i = 0; i < count; i++) {
			const struct sketch_event *e = &w->now.run->events[i];

			expect(w, i, expected[i].thread, expected[i].line, expected[i].kind);
			assert_ptr_equal((void *)(uintptr_t)e->address, expected[i].at);
			assert_int_equal(e->size, 4);
			assert_int_equal((int64_t)e->value, expected[i].value);
		}
		end(w);
	}
}

/* Values may have other sizes.  Memory that cannot be read has no value. */
static void test_sizes(void **state)
{
	static const struct {
		uint64_t size;
		int64_t expected;
	} rows[] = {{1, 0xfe}, {2, 0xfffe}, {4, -2}, {8, -2}};
	int64_t cell = -2;
	struct world *w;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		w = begin();
		stop_at_access(w, 0, READ, &cell, rows[i].size);
		end_thread(w, 0);
		assert_int_equal(w->now.run->count, 1);
		assert_int_equal(w->now.run->events[0].size, rows[i].size);
		assert_int_equal((int64_t)w->now.run->events[0].value, rows[i].expected);
		end(w);
	}
	w = begin();
	stop_at_access(w, 0, READ, (void *)8, 4);
	end_thread(w, 0);
	assert_int_equal(w->now.run->events[0].size, 0);
	end(w);
}

/* Code without a line is left out.  Code that was inlined from a header gets the line of the
 * program. */
static void test_places(void **state)
{
	int32_t cell = 0;
	struct world *w = begin();

	(void)state;
	stop_at_access(w, 0, NOWHERE, &cell, 4);
	stop_at_access(w, 0, SITE(99), &cell, 4); /* this site is not in the table */
	stop_at_access(w, 0, INLINED, &cell, 4);
	end_thread(w, 0);
	assert_int_equal(w->now.run->count, 1);
	expect(w, 0, 0, 30, SLICE_READ);
	assert_string_equal(w->runs.statements[0].file, "/home/a/prog.c");
	assert_string_equal(w->runs.statements[0].function, "main");
	end(w);
}

/* If a thread has too high a number to be followed, its stops change nothing. */
static void test_too_many_threads(void **state)
{
	struct world *w = begin();
	struct replay_stand stand = {.pid = getpid(), .threads = w->standers, .thread_count = 1, .who = 1};
	const char *next = "unchanged";

	(void)state;
	turns_stopped(&w->now, &stand, &next);
	assert_string_equal(next, "unchanged");
	assert_int_equal(w->now.run->count, 0);
	end(w);
}

/* ---- memory that is freed ---- */

struct touch {
	size_t cell;
	bool frees;
};

/* The definition: each release is followed by one event for each other address of the block that
 * the run accesses, in the order of first access. */
static size_t spread(const struct touch *touches, size_t count, size_t block, struct touch *out)
{
	size_t all = 0;

	for (size_t i = 0; i < count; i++) {
		out[all++] = touches[i];
		for (size_t k = 0; k < count && touches[i].frees; k++) {
			bool first = true;

			for (size_t j = 0; j < k; j++)
				first &= touches[j].cell != touches[k].cell;
			if (first && touches[k].cell > touches[i].cell &&
			    touches[k].cell < touches[i].cell + block)
				out[all++] = (struct touch){touches[k].cell, true};
		}
	}
	return all;
}

static void test_release(void **state)
{
	enum { MOST = 12, BLOCK = 3, MEMORY = 8 };

	(void)state;
	for (int round = 0; round < 500; round++) {
		struct touch touches[MOST], expected[MOST * MEMORY + MOST];
		size_t count = 1 + below(MOST - 1), all;
		int32_t cells[MEMORY + BLOCK] = {0};
		struct world *w = begin();

		for (size_t i = 0; i < count; i++) {
			touches[i] = (struct touch){below(MEMORY), below(3) == 0};
			stop_at_access(w, 0, touches[i].frees ? FREE : READ, &cells[touches[i].cell],
				       touches[i].frees ? BLOCK * sizeof *cells : 4);
		}
		end_thread(w, 0);
		turns_finish(&w->now, false, false);
		all = spread(touches, count, BLOCK, expected);
		assert_int_equal(w->now.run->count, all);
		for (size_t i = 0; i < all; i++) {
			expect(w, i, 0, expected[i].frees ? 13 : 10,
			       expected[i].frees ? SLICE_CALL : SLICE_READ);
			assert_ptr_equal((void *)(uintptr_t)w->now.run->events[i].address,
					 &cells[expected[i].cell]);
		}
		end(w);
	}
}

/* ---- synchronisation operations ---- */

/* A thread that waits for its lock is stopped several times at the same operation.  That is one
 * event. */
static void test_lock(void **state)
{
	int32_t cell = 7;
	struct world *w = begin();

	(void)state;
	stop_at_operation(w, 0, "mutex-lock", 1, "op");
	stop_at_operation(w, 0, "mutex-lock", 1, "wait");
	stop_at_operation(w, 0, "mutex-lock", 1, "wait");
	assert_int_equal(w->now.run->count, 0);
	stop_at_access(w, 0, READ, &cell, 4);
	assert_int_equal(w->now.run->count, 1);
	expect(w, 0, 0, 20, SLICE_SYNC);
	assert_int_equal(w->runs.statements[w->now.run->events[0].statement].role, SLICE_ACQUIRES);
	assert_int_equal(w->now.run->events[0].address, 4096);
	stop_at_operation(w, 0, "mutex-lock", 2, "op");
	stop_at_operation(w, 0, "mutex-lock", 3, "op"); /* the second lock was free */
	assert_int_equal(w->now.run->count, 3);
	stop_at_operation(w, 0, "mutex-unlock", 4, "op");
	/* after the operation, so this is not a new one */
	stop_at_operation(w, 0, "mutex-unlock", 4, "back");
	end_thread(w, 0);
	assert_int_equal(w->now.run->count, 5);
	assert_int_equal(w->runs.statements[w->now.run->events[4].statement].role, SLICE_RELEASES);
	end(w);
}

/* Operations acquire, release, read or write the object at their address. */
static void test_roles(void **state)
{
	static const struct {
		const char *kind;
		enum slice_role role;
	} rows[] = {{"mutex-lock", SLICE_ACQUIRES},    {"mutex-unlock", SLICE_RELEASES},
		    {"rwlock-rdlock", SLICE_ACQUIRES}, {"cond-signal", SLICE_WRITES},
		    {"cond-wait", SLICE_READS},	       {"mutex-destroy", SLICE_WRITES},
		    {"thread-create", SLICE_NEUTRAL}};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct world *w = begin();

		stop_at_operation(w, 0, rows[i].kind, 1, "op");
		turns_finish(&w->now, true, false);
		if (w->now.run->count != 1)
			fail_msg("%s: %zu events", rows[i].kind, w->now.run->count);
		if (w->runs.statements[0].role != rows[i].role)
			fail_msg("%s: role %d", rows[i].kind, w->runs.statements[0].role);
		assert_string_equal(w->runs.statements[0].operation, rows[i].kind);
		end(w);
	}
}

/* A thread exists when it is stopped for the first time, even if its creator has not returned from
 * the creation. */
static void test_creation(void **state)
{
	int32_t cell = 7;
	struct world *w = begin();

	(void)state;
	stop_at_operation(w, 0, "thread-create", 1, "op");
	stop_at_access(w, 1, READ, &cell, 4);
	assert_int_equal(w->now.run->count, 1);
	expect(w, 0, 0, 21, SLICE_SYNC);
	stop_at_access(w, 0, READ, &cell, 4); /* the creation is not recorded again */
	stop_at_access(w, 2, READ, &cell, 4); /* now its creator is stopped before an access */
	assert_int_equal(w->now.run->count, 1);
	assert_int_equal(turns_thread(&w->now, "T_0_0"), 1);
	/* this is the thread that was stopped last */
	assert_int_equal(turns_thread(&w->now, "T_9"), 2);
	assert_int_equal(turns_thread(&w->now, NULL), 2);
	end(w);
}

/* ---- the end of a run ---- */

/* The failing thread did the access before which it was stopped.  In a deadlock, all threads wait
 * in their operations. */
static void test_finish(void **state)
{
	int32_t cell = 7;

	(void)state;
	for (int way = 0; way < 3; way++) {
		struct world *w = begin();

		for (uint32_t t = 0; t < THREADS; t++)
			stop_at_access(w, t, READ, &cell, 4);
		w->now.last = 1;
		turns_finish(&w->now, way == 1, way == 2);
		assert_int_equal(w->now.run->count, way == 0 ? 0 : way == 1 ? 1 : THREADS);
		if (way == 1)
			expect(w, 0, 1, 10, SLICE_READ);
		end(w);
	}
}

static void describe(struct world *w, struct replay_result *r, const char *errors)
{
	w->trial.text[1] = (struct trial_text){errors, strlen(errors)};
	turns_describe(&w->now, r);
}

static void test_describe_passed(void **state)
{
	struct world *w = begin();
	struct replay_result r = {0};

	(void)state;
	w->trial.end = REPLAY_EXITED;
	describe(w, &r, "");
	assert_int_equal(w->failure.kind, SKETCH_PASSED);
	w->trial.fault = "crash"; /* a crash in a run that does not count */
	w->trial.counts = false;
	describe(w, &r, "");
	assert_int_equal(w->failure.kind, SKETCH_PASSED);
	end(w);
}

static void test_describe_status(void **state)
{
	struct world *w = begin();
	struct replay_result r = {0};

	(void)state;
	w->trial.end = REPLAY_EXITED;
	w->trial.status = 3;
	describe(w, &r, "");
	assert_int_equal(w->failure.kind, SKETCH_EXIT);
	assert_string_equal(w->failure.what, "status 3");
	assert_null(w->failure.file);
	end(w);
}

/* The message of an assertion contains the place.  The thread is the one that had the turn. */
static void test_describe_assertion(void **state)
{
	struct world *w = begin();
	struct replay_result r = {.turns.runner = "T_0_1"};
	int32_t cell = 0;

	(void)state;
	for (uint32_t t = 0; t < THREADS; t++)
		stop_at_access(w, t, READ, &cell, 4);
	stop_at_access(w, 0, READ, &cell, 4);
	w->trial.end = REPLAY_SIGNALLED;
	w->trial.status = SIGABRT;
	w->trial.fault = "assertion";
	describe(w, &r, "prog: prog.c:12: f: Assertion `x' failed.\n");
	assert_int_equal(w->failure.kind, SKETCH_ASSERTION);
	assert_string_equal(w->failure.what, "Assertion `x' failed");
	assert_string_equal(w->failure.file, "prog.c");
	assert_int_equal(w->failure.line, 12);
	assert_int_equal(w->failure.thread, 2);
	end(w);
}

/* If nothing else is known about a crash, its place is the last access of the thread. */
static void test_describe_crash(void **state)
{
	struct world *w = begin();
	struct replay_result r = {.turns = {.runner = "T_0", .runner_site = WRITE}};

	(void)state;
	w->trial.end = REPLAY_SIGNALLED;
	w->trial.status = SIGSEGV;
	w->trial.fault = "crash";
	describe(w, &r, "");
	assert_int_equal(w->failure.kind, SKETCH_CRASH);
	assert_string_equal(w->failure.what, "SIGSEGV");
	assert_string_equal(w->failure.file, "/home/a/prog.c");
	assert_int_equal(w->failure.line, 11);
	assert_string_equal(w->failure.function, "f");
	end(w);
}

/* An error that the runtime reports outweighs the signal. */
static void test_describe_memory_error(void **state)
{
	struct world *w = begin();
	struct replay_result r = {.fault = {.what = "use after free", .place = "prog.c:7: g"}};

	(void)state;
	w->trial.end = REPLAY_SIGNALLED;
	w->trial.status = SIGSEGV;
	w->trial.fault = "memory-error";
	describe(w, &r, "");
	assert_int_equal(w->failure.kind, SKETCH_CRASH);
	assert_string_equal(w->failure.what, "use after free");
	assert_string_equal(w->failure.file, "prog.c");
	assert_int_equal(w->failure.line, 7);
	end(w);
}

/* The failure of a deadlock is its first wait, sorted by place, with thread and line. */
static void test_describe_deadlock(void **state)
{
	struct world *w = begin();
	struct replay_wait waits[] = {
		{.thread = "T_0", .name = "b", .kind = "mutex-lock", .site = CREATE, .core = true},
		{.thread = "T_0_1", .name = "a", .kind = "mutex-lock", .site = LOCK, .core = true}};
	struct replay_result r = {.waits = waits, .wait_count = 2};
	int32_t cell = 0;

	(void)state;
	for (uint32_t t = 0; t < THREADS; t++)
		stop_at_access(w, t, READ, &cell, 4);
	w->trial.end = REPLAY_DEADLOCKED;
	w->trial.fault = "deadlock";
	describe(w, &r, "");
	assert_int_equal(w->failure.kind, SKETCH_HANG);
	assert_int_equal(w->failure.thread, 2);
	assert_int_equal(w->failure.line, 20);
	assert_string_equal(w->failure.what, "deadlock");
	end(w);
}

/* A thread writes and loses the turn at a point at which the program is not stopped.  The event of
 * its write must come before another thread's later read. */
static void test_lost_turn(void **state)
{
	int32_t cell = 1;
	struct world *w = begin();

	(void)state;
	stop_at_access(w, 1, READ, &cell, 4);
	stop_at_access(w, 0, WRITE, &cell, 4);
	cell = 2;
	w->standers[0].arrivals++;
	stop_at_access(w, 2, READ, &cell, 4);
	assert_int_equal(w->now.run->count, 1);
	w->standers[1].arrivals++;
	stop_at_access(w, 1, READ, &cell, 4);
	end_thread(w, 0);
	assert_int_equal(w->now.run->count, 2);
	expect(w, 0, 0, 9 + (WRITE & 0xffff), SLICE_WRITE);
	assert_int_equal(w->now.run->events[0].value, 2);
	expect(w, 1, 1, 9 + (READ & 0xffff), SLICE_READ);
	end(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_lost_turn),
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_too_many_threads),
		cmocka_unit_test(test_release),
		cmocka_unit_test(test_lock),
		cmocka_unit_test(test_roles),
		cmocka_unit_test(test_creation),
		cmocka_unit_test(test_finish),
		cmocka_unit_test(test_describe_passed),
		cmocka_unit_test(test_describe_status),
		cmocka_unit_test(test_describe_assertion),
		cmocka_unit_test(test_describe_crash),
		cmocka_unit_test(test_describe_memory_error),
		cmocka_unit_test(test_describe_deadlock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
