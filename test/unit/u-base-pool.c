// SPDX-License-Identifier: Apache-2.0
/* Unit tests of base/pool.h: tasks that succeed, that kill or end their worker, and that never
 * end. */
#include "base/error.h"
#include "base/pool.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define WORKERS 3
#define LARGE (3u << 20) /* bytes, more than a socket takes at once */
#define PATIENCE 10000	 /* milliseconds until a test fails; a test that passes does not wait */

enum { DIE = 1000, GIVE_UP, SLEEP, LEAVE_CHILD, SPEAK_LONG };

/* Memory that all processes share. */
static struct shared {
	_Atomic int entered, left;
	_Atomic int slots; /* a bit for each worker slot that was used */
	_Atomic pid_t child;
} * shared;

/* A worker gets a copy of this when it is forked. */
static uint64_t factor;

static int set_up(void **state)
{
	(void)state;
	shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	factor = 3;
	return shared == MAP_FAILED ? -1 : 0;
}

static int tear_down(void **state)
{
	(void)state;
	return munmap(shared, sizeof *shared);
}

static void enter(void *context, unsigned slot)
{
	assert_ptr_equal(context, &factor);
	shared->entered++;
	shared->slots |= 1 << slot;
}

static void leave(void *context)
{
	(void)context;
	shared->left++;
}

static void leave_child(void)
{
	pid_t pid = fork();

	if (pid == 0)
		for (;;)
			pause();
	shared->child = pid;
}

static int work(void *context, uint64_t task, struct rd_buf *answer)
{
	switch (task) {
	case DIE: raise(SIGKILL); break;
	case GIVE_UP: return 7;
	case SLEEP:
		for (;;)
			pause();
	case LEAVE_CHILD: leave_child(); break;
	case SPEAK_LONG:
		for (uint32_t i = 0; i < LARGE / sizeof i; i++)
			rd_buf_add(answer, &i, sizeof i);
		break;
	default:
		rd_buf_addf(answer, "%d %llu", (int)getpid(),
			    (unsigned long long)(task * *(uint64_t *)context));
	}
	return 0;
}

static struct rd_pool *open_pool(unsigned workers, bool fresh)
{
	struct rd_pool_opts opts = {.workers = workers,
				    .fresh = fresh,
				    .enter = enter,
				    .work = work,
				    .leave = leave,
				    .context = &factor};
	struct rd_pool *pool;

	rd_pool_open(&pool, &opts);
	return pool;
}

/* ---- tasks that succeed ---- */

/* Does tasks 0 to count - 1.  Counts the right answers (the factor times the task) and the
 * processes that gave them. */
static void do_tasks(struct rd_pool *pool, uint64_t count, size_t *right, size_t *processes)
{
	uint64_t next = 0;
	pid_t seen[256];

	*right = *processes = 0;
	while (next < count || rd_pool_busy(pool)) {
		struct rd_pool_event event;
		int pid;
		unsigned long long product;
		size_t i = 0;

		if (next < count && rd_pool_has_room(pool)) {
			assert_int_equal(rd_pool_submit(pool, next++), RD_OK);
			continue;
		}
		rd_pool_next(pool, -1, &event);
		assert_int_equal(event.what, RD_POOL_DONE);
		assert_int_equal(sscanf(event.answer, "%d %llu", &pid, &product), 2);
		assert_int_equal(strlen(event.answer), event.length);
		*right += product == event.task * factor;
		while (i < *processes && seen[i] != pid)
			i++;
		if (i == *processes)
			seen[(*processes)++] = pid;
	}
}

static void test_done(void **state)
{
	struct rd_pool *pool = open_pool(WORKERS, false);
	size_t right, processes;

	(void)state;
	do_tasks(pool, 100, &right, &processes);
	assert_int_equal(right, 100);
	assert_true(processes <= WORKERS);
	assert_int_equal(shared->entered, processes);
	assert_int_equal(shared->left, 0);
	rd_pool_close(pool);
	assert_int_equal(shared->left, processes);
	assert_int_equal(shared->slots, (1 << processes) - 1);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

/* With `fresh`, each task has a process of its own.  It knows what the leader knew when it was
 * forked. */
static void test_fresh(void **state)
{
	struct rd_pool *pool = open_pool(WORKERS, true);
	size_t right, processes;

	(void)state;
	do_tasks(pool, 20, &right, &processes);
	assert_int_equal(right, 20);
	factor = 5;
	do_tasks(pool, 20, &right, &processes);
	assert_int_equal(right, 20);
	assert_int_equal(processes, 20);
	assert_int_equal(shared->entered, 40);
	rd_pool_close(pool);
}

static void test_long_answer(void **state)
{
	struct rd_pool *pool = open_pool(1, false);
	struct rd_pool_event event;

	(void)state;
	rd_pool_submit(pool, SPEAK_LONG);
	rd_pool_next(pool, -1, &event);
	assert_int_equal(event.what, RD_POOL_DONE);
	assert_int_equal(event.length, LARGE);
	for (uint32_t i = 0; i < LARGE / sizeof i; i++)
		assert_memory_equal(event.answer + i * sizeof i, &i, sizeof i);
	rd_pool_close(pool);
}

/* ---- tasks that fail or never end ---- */

static void assert_lost(struct rd_pool *pool, uint64_t task, int status)
{
	struct rd_pool_event event;

	assert_int_equal(rd_pool_submit(pool, task), RD_OK);
	rd_pool_next(pool, -1, &event);
	assert_int_equal(event.what, RD_POOL_LOST);
	assert_int_equal(event.task, task);
	assert_int_equal(event.status, status);
	assert_int_equal(rd_pool_busy(pool), 0);
}

static void check_lost(bool fresh)
{
	struct rd_pool *pool = open_pool(1, fresh);
	size_t right, processes;

	assert_lost(pool, DIE, SIGKILL);
	assert_lost(pool, GIVE_UP, 7 << 8);
	do_tasks(pool, 5, &right, &processes);
	assert_int_equal(right, 5);
	assert_lost(pool, DIE, SIGKILL);
	rd_pool_close(pool);
}

static void test_lost(void **state)
{
	(void)state;
	check_lost(false);
	check_lost(true);
}

static void check_stop(bool fresh)
{
	struct rd_pool *pool = open_pool(2, fresh);
	struct rd_pool_event event;
	size_t right, processes;

	rd_pool_submit(pool, SLEEP);
	rd_pool_submit(pool, SLEEP);
	assert_false(rd_pool_has_room(pool));
	rd_pool_next(pool, 0, &event);
	assert_int_equal(event.what, RD_POOL_IDLE);
	rd_pool_stop(pool);
	assert_int_equal(rd_pool_busy(pool), 0);
	do_tasks(pool, 4, &right, &processes);
	assert_int_equal(right, 4);
	rd_pool_submit(pool, SLEEP);
	rd_pool_close(pool);
	assert_int_equal(waitpid(-1, NULL, WNOHANG), -1);
}

static void test_stop(void **state)
{
	(void)state;
	check_stop(false);
	check_stop(true);
}

/* ---- workers that are sent new data with a task ---- */

/* Each worker gets the new factor with its next task, unless it was forked after the change. */
static size_t briefs, starts;

static void brief(void *context, unsigned slot, bool started, struct rd_buf *text)
{
	assert_true(slot < WORKERS);
	starts += started;
	briefs++;
	if (!started)
		rd_buf_add(text, context, sizeof factor);
}

static void learn(void *context, const char *text, size_t length)
{
	assert_int_equal(length, sizeof factor);
	memcpy(context, text, length);
}

static void test_learn(void **state)
{
	struct rd_pool_opts opts = {.workers = WORKERS,
				    .group = true,
				    .work = work,
				    .brief = brief,
				    .learn = learn,
				    .context = &factor};
	struct rd_pool *pool;
	size_t right, processes;

	(void)state;
	briefs = starts = 0;
	rd_pool_open(&pool, &opts);
	do_tasks(pool, 20, &right, &processes);
	assert_int_equal(right, 20);
	factor = 11;
	do_tasks(pool, 20, &right, &processes);
	assert_int_equal(right, 20);
	assert_true(processes <= WORKERS);
	assert_int_equal(briefs, 40);
	assert_int_equal(starts, WORKERS);
	rd_pool_close(pool);
}

/* ---- processes that outlive a task or the leader must end ---- */

static void assert_goes(pid_t pid)
{
	for (int i = 0; i < PATIENCE && !kill(pid, 0); i++) {
		char path[64], text[256];
		FILE *in;

		snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
		in = fopen(path, "re");
		text[in ? fread(text, 1, sizeof text - 1, in) : 0] = '\0';
		if (in)
			fclose(in);
		if (strstr(text, ") Z "))
			/* it has ended, but the process that adopted it has not reaped it yet */
			return;
		usleep(1000);
	}
	assert_int_equal(kill(pid, 0), -1);
}

static void test_left_behind(void **state)
{
	struct rd_pool_opts group = {.workers = 1, .group = true, .work = work, .context = &factor};

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct rd_pool *pool = open_pool(1, true);
		struct rd_pool_event event;

		if (i) {
			rd_pool_close(pool);
			rd_pool_open(&pool, &group);
		}
		rd_pool_submit(pool, LEAVE_CHILD);
		rd_pool_next(pool, -1, &event);
		assert_int_equal(event.what, RD_POOL_DONE);
		assert_true(shared->child > 0);
		if (i)
			rd_pool_close(pool); /* with `group`, children live as long as the worker */
		assert_goes(shared->child);
		if (!i)
			rd_pool_close(pool);
	}
}

static void test_leader_dies(void **state)
{
	pid_t leader = fork();

	(void)state;
	if (leader == 0) {
		struct rd_pool *pool = open_pool(1, false);
		struct rd_pool_event event;

		rd_pool_submit(pool, 1);
		rd_pool_next(pool, -1, &event);
		shared->child = atoi(event.answer);
		raise(SIGKILL);
	}
	waitpid(leader, NULL, 0);
	assert_true(shared->child > 0);
	assert_goes(shared->child);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

/* ---- rd_pool_run(): tasks in a loop with callbacks ---- */

struct looped {
	struct rd_pool *pool;
	uint64_t next, most; /* number of the next task, and the number of tasks */
	size_t done, lost, looks;
	bool over;
	int err; /* result of the callback for the next task that ends */
};

static int loop_give(void *context)
{
	struct looped *l = context;
	int err = RD_OK;

	while (!err && l->next < l->most && rd_pool_has_room(l->pool))
		err = rd_pool_submit(l->pool, l->next++ == 5 ? DIE : l->next);
	return err;
}

static int loop_take(void *context, const struct rd_pool_event *event)
{
	struct looped *l = context;

	assert_int_not_equal(event->what, RD_POOL_IDLE);
	l->done += event->what == RD_POOL_DONE;
	l->lost += event->what == RD_POOL_LOST;
	return l->err;
}

static bool loop_is_over(void *context)
{
	return ((struct looped *)context)->over;
}

static void loop_look(void *context)
{
	((struct looped *)context)->looks++;
}

static struct looped run_loop(struct looped l, const struct rd_interrupt *signals, int expected, bool stopped)
{
	struct rd_pool_loop loop = {loop_give, loop_take, loop_is_over, loop_look, signals, &l};
	bool interrupted = false;

	l.pool = open_pool(WORKERS, false);
	assert_int_equal(rd_pool_run(l.pool, &loop, &interrupted), expected);
	assert_int_equal(interrupted, stopped);
	rd_pool_stop(l.pool);
	rd_pool_close(l.pool);
	return l;
}

static void test_run(void **state)
{
	struct rd_interrupt signals;
	struct looped l = run_loop((struct looped){.most = 20}, NULL, RD_OK, false);

	(void)state;
	assert_int_equal(l.done, 19);
	assert_int_equal(l.lost, 1);
	assert_true(l.looks >= 20);
	l = run_loop((struct looped){.most = 20, .over = true}, NULL, RD_OK, false);
	assert_int_equal(l.next, 0);
	l = run_loop((struct looped){.most = 20, .err = RD_ETOOL}, NULL, RD_ETOOL, false);
	assert_int_equal(l.done + l.lost, 1);
	rd_interrupt_begin(&signals);
	kill(getpid(), SIGTERM);
	l = run_loop((struct looped){.most = 20}, &signals, RD_OK, true);
	assert_int_equal(l.looks, 1);
	rd_interrupt_end(&signals);
}

/* Answers whether SIGTERM is blocked in the worker: b or u. */
static int report_mask(void *context, uint64_t task, struct rd_buf *answer)
{
	sigset_t mask;

	(void)context;
	(void)task;
	sigprocmask(SIG_SETMASK, NULL, &mask);
	rd_buf_addc(answer, sigismember(&mask, SIGTERM) ? 'b' : 'u');
	return 0;
}

static char mask_of_worker(const struct rd_interrupt *signals)
{
	struct rd_pool_opts opts = {.workers = 1, .work = report_mask, .signals = signals};
	struct rd_pool_event event;
	struct rd_pool *pool;
	char answer;

	rd_pool_open(&pool, &opts);
	assert_int_equal(rd_pool_submit(pool, 0), 0);
	rd_pool_next(pool, PATIENCE, &event);
	assert_int_equal(event.what, RD_POOL_DONE);
	answer = event.answer[0];
	rd_pool_close(pool);
	return answer;
}

/* Workers do not inherit the signals that rd_interrupt_begin() blocks, if they are told which these
 * are. */
static void test_signals(void **state)
{
	struct rd_interrupt signals;

	(void)state;
	rd_interrupt_begin(&signals);
	assert_int_equal(mask_of_worker(&signals), 'u');
	assert_int_equal(mask_of_worker(NULL), 'b');
	rd_interrupt_end(&signals);
	assert_int_equal(mask_of_worker(NULL), 'u');
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_done), TEST(test_fresh),  TEST(test_long_answer), TEST(test_lost),
		TEST(test_stop), TEST(test_learn),  TEST(test_left_behind), TEST(test_leader_dies),
		TEST(test_run),	 TEST(test_signals)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
