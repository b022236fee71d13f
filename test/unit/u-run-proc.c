// SPDX-License-Identifier: Apache-2.0
/* Unit tests of run/proc: what the kernel reports about processes of the test, each in a different
 * state. */
#include "run/proc.h"

#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* Whether a process waits at a futex, by the number of the system call that it is in. */
static bool waits_at_futex(pid_t pid)
{
	char path[64];
	long number = -1;
	FILE *file;

	snprintf(path, sizeof path, "/proc/%d/syscall", pid);
	file = fopen(path, "r");
	if (!file)
		return false;
	if (fscanf(file, "%ld", &number) != 1)
		number = -1;
	fclose(file);
	return number == SYS_futex;
}

#define TRIES 10000 /* milliseconds to wait until a process is in its state */

/* Starts a process that does `work`, which reports when it is ready.  It must not return before the
 * process is ended. */
static pid_t start(void (*work)(int ready))
{
	int ends[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe(ends), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (int n = 1; n < NSIG; n++)
			signal(n, SIG_DFL); /* cmocka and sanitizers install handlers */
		work(ends[1]);
		_exit(1);
	}
	close(ends[1]);
	assert_int_equal(read(ends[0], &byte, 1), 1);
	close(ends[0]);
	return pid;
}

static void stop(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void say_ready(int ready)
{
	if (write(ready, "", 1) != 1)
		_exit(2);
}

/* ---- signals that a process may handle ---- */

static void handler(int number)
{
	(void)number;
}

static void wait_bare(int ready)
{
	say_ready(ready);
	for (;;)
		pause();
}

static void wait_with_signal(int ready)
{
	signal(SIGUSR1, handler);
	wait_bare(ready);
}

static void wait_with_first_real_time_signal(int ready)
{
	signal(SIGRTMIN, handler);
	wait_bare(ready);
}

static void wait_with_last_real_time_signal(int ready)
{
	signal(SIGRTMAX, handler);
	wait_bare(ready);
}

static void *sleep_on(void *unused)
{
	for (;;)
		pause();
	return unused;
}

/* glibc installs its handler when a thread is cancelled for the first time. */
static void wait_after_cancellation(int ready)
{
	pthread_t thread;

	pthread_create(&thread, NULL, sleep_on, NULL);
	pthread_cancel(thread);
	pthread_join(thread, NULL);
	wait_bare(ready);
}

static bool catches(void (*work)(int ready))
{
	struct run_process process;
	pid_t pid = start(work);

	assert_true(run_process_read(pid, &process));
	assert_int_equal(process.threads, 1);
	stop(pid);
	return process.catches;
}

static void test_signals(void **state)
{
	(void)state;
	assert_false(catches(wait_bare));
	assert_true(catches(wait_with_signal));
	assert_true(catches(wait_with_first_real_time_signal));
	assert_true(catches(wait_with_last_real_time_signal));
	assert_false(catches(wait_after_cancellation));
}

static void test_gone(void **state)
{
	struct run_process process;
	struct run_still still = {0};
	struct run_task task;
	pid_t pid = start(wait_bare);

	(void)state;
	stop(pid);
	assert_false(run_process_read(pid, &process));
	assert_true(process.catches);
	assert_false(run_task_read(pid, pid, &task));
	assert_false(waits_at_futex(pid));
	assert_false(run_task_in_io(pid, pid));
	assert_int_equal(run_task_switches(pid, pid), 0);
	run_still_look(pid, &still);
	assert_false(still.all);
	assert_int_equal(still.waiting_count, 0);
	run_still_release(&still);
}

/* ---- processes whose threads all wait ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *take_lock(void *unused)
{
	pthread_mutex_lock(&lock);
	return unused;
}

static void wait_for_each_other(int ready)
{
	pthread_t first, second;

	pthread_mutex_lock(&lock);
	pthread_create(&first, NULL, take_lock, NULL);
	pthread_create(&second, NULL, take_lock, NULL);
	say_ready(ready);
	pthread_join(first, NULL);
}

static void wait_beside_a_sleeper(int ready)
{
	pthread_t thread;

	pthread_create(&thread, NULL, sleep_on, NULL);
	pthread_mutex_lock(&lock);
	say_ready(ready);
	pthread_mutex_lock(&lock);
}

/* The initial thread ends and becomes a zombie of the process. */
static void end_first_thread(int ready)
{
	pthread_t thread;

	pthread_mutex_lock(&lock);
	pthread_create(&thread, NULL, take_lock, NULL);
	say_ready(ready);
	pthread_exit(NULL);
}

/* Reads a byte that no process writes. */
static void *read_pipe(void *end)
{
	char byte;

	return read(*(int *)end, &byte, 1) > 0 ? end : NULL;
}

static void wait_for_own_pipe(int ready)
{
	pthread_t thread;
	int ends[2];

	if (pipe(ends))
		_exit(1);
	pthread_create(&thread, NULL, read_pipe, &ends[0]);
	say_ready(ready);
	pthread_join(thread, NULL);
}

/* A pipe whose other end the test has. */
static int common_pipe[2];

static void wait_for_common_pipe(int ready)
{
	say_ready(ready);
	read_pipe(&common_pipe[0]);
}

/* Polls other descriptors that no other process has.  The socket may have a time limit, and a timer
 * may be waited for, too. */
static void wait_in_poll(bool limited, bool timer)
{
	struct pollfd watched[3];
	struct epoll_event event = {.events = EPOLLIN};
	struct timeval limit = {.tv_sec = 1000};
	int pair[2], ends[2], set = epoll_create1(0);

	if (set < 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, pair) || pipe(ends) ||
	    epoll_ctl(set, EPOLL_CTL_ADD, ends[0], &event) ||
	    (limited && setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit)))
		_exit(1);
	watched[0] = (struct pollfd){.fd = pair[0], .events = POLLIN};
	watched[1] = (struct pollfd){.fd = set, .events = POLLIN};
	watched[2] = (struct pollfd){.fd = timer ? timerfd_create(CLOCK_MONOTONIC, 0) : eventfd(0, 0),
				     .events = POLLIN};
	poll(watched, 3, -1);
}

static void wait_in_own_poll(int ready)
{
	say_ready(ready);
	wait_in_poll(false, false);
}

static void wait_in_limited_poll(int ready)
{
	say_ready(ready);
	wait_in_poll(true, false);
}

static void wait_in_poll_with_timer(int ready)
{
	say_ready(ready);
	wait_in_poll(false, true);
}

/* A pair of sockets whose other end the test has. */
static int common_pair[2];

static void wait_for_common_socket(int ready)
{
	say_ready(ready);
	close(common_pair[1]);
	read_pipe(&common_pair[0]);
}

/* Looks at the process until so many threads wait. `all` says whether no other thread runs. */
static struct run_still look_until(pid_t pid, size_t waiting, bool all)
{
	struct run_still still = {0};

	for (int i = 0; i < TRIES; i++) {
		run_still_release(&still);
		run_still_look(pid, &still);
		if (still.waiting_count == waiting && still.all == all)
			break;
		usleep(1000);
	}
	assert_int_equal(still.waiting_count, waiting);
	assert_int_equal(still.all, all);
	return still;
}

static void check_stillness(void (*work)(int ready), size_t waiting, bool all)
{
	pid_t pid = start(work);
	struct run_still still = look_until(pid, waiting, all);

	assert_false(still.catches);
	run_still_release(&still);
	stop(pid);
}

/* Checks a process that has reached the place where it waits, and that another process may wake. */
static void check_hope(void (*work)(int ready))
{
	struct run_still still;
	pid_t pid = start(work);

	for (int i = 0, there = 0; i < TRIES && there < 10; i++) {
		there = run_task_in_io(pid, pid) ? there + 1 : 0;
		usleep(1000);
	}
	assert_true(run_task_in_io(pid, pid));
	still = look_until(pid, 0, false);
	run_still_release(&still);
	stop(pid);
}

static void test_who_could_wake_it(void **state)
{
	struct run_still still = {.all = true, .alone = true};

	(void)state;
	assert_true(run_still_forever(&still));
	still.catches = true; /* a signal handler */
	assert_false(run_still_forever(&still));
	still = (struct run_still){.all = true}; /* a process that the program forked */
	assert_false(run_still_forever(&still));
	still = (struct run_still){.alone = true}; /* another thread */
	assert_false(run_still_forever(&still));
}

static void test_stillness(void **state)
{
	(void)state;
	check_stillness(wait_for_each_other, 3, true);
	check_stillness(wait_beside_a_sleeper, 1, false);
	check_stillness(end_first_thread, 1, true);
	check_stillness(wait_for_own_pipe, 2, true);
	assert_int_equal(pipe(common_pipe), 0);
	check_stillness(wait_for_common_pipe, 0, false);
	close(common_pipe[0]);
	close(common_pipe[1]);
	check_stillness(wait_in_own_poll, 1, true);
	check_hope(wait_in_limited_poll);
	check_hope(wait_in_poll_with_timer);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, common_pair), 0);
	check_hope(wait_for_common_socket);
	close(common_pair[0]);
	close(common_pair[1]);
}

static void spin(int ready)
{
	say_ready(ready);
	for (;;)
		;
}

static void read_a_pipe(int ready)
{
	int ends[2];
	char byte;

	if (pipe(ends))
		return;
	say_ready(ready);
	while (read(ends[0], &byte, 1) >= 0)
		;
}

static void test_tasks(void **state)
{
	pid_t spinner = start(spin), reader = start(read_a_pipe), waiter = start(wait_for_each_other);
	struct run_task task = {0};
	int tries = 0;

	(void)state;
	while (task.user + task.system < 2 && tries++ < TRIES) {
		assert_true(run_task_read(spinner, spinner, &task));
		assert_int_equal(task.state, 'R');
		usleep(1000);
	}
	assert_true(task.user + task.system >= 2);
	assert_false(run_process_is_asleep(spinner));
	assert_false(run_task_in_io(spinner, spinner));
	for (tries = 0; !run_task_in_io(reader, reader) && tries < TRIES; tries++)
		usleep(1000);
	assert_true(run_task_in_io(reader, reader));
	assert_true(run_process_is_asleep(reader));
	assert_false(waits_at_futex(reader));
	for (tries = 0; !waits_at_futex(waiter) && tries < TRIES; tries++)
		usleep(1000);
	assert_true(waits_at_futex(waiter));
	assert_false(run_task_in_io(waiter, waiter));
	assert_true(run_task_switches(waiter, waiter) > 0);
	stop(spinner);
	stop(reader);
	stop(waiter);
}

static char seen[] = "what another process may see";

/* The child reads into `seen`, which has the same address here. */
static void read_into_seen(int ready)
{
	int ends[2];

	if (pipe(ends))
		return;
	seen[0] = 'W';
	say_ready(ready);
	while (read(ends[0], seen + 1, 5) >= 0)
		;
}

static void test_calls(void **state)
{
	pid_t spinner = start(spin), reader = start(read_into_seen);
	char copy[sizeof seen], none[8];
	struct run_call call;
	int tries;

	(void)state;
	for (tries = 0; (!run_task_call(reader, reader, &call) || call.number != SYS_read) && tries < TRIES;
	     tries++)
		usleep(1000);
	assert_int_equal(call.number, SYS_read);
	assert_false(call.running);
	assert_true(call.argument[1] == (uintptr_t)seen + 1);
	assert_int_equal(call.argument[2], 5);
	assert_true(run_process_peek(reader, call.stack, none, sizeof none));
	assert_true(run_process_peek(reader, (uintptr_t)seen, copy, sizeof copy));
	assert_string_equal(copy, "What another process may see");
	assert_false(run_process_peek(reader, 8, none, sizeof none));
	for (tries = 0; run_task_call(spinner, spinner, &call) && tries < TRIES; tries++)
		usleep(1000);
	assert_true(call.running);
	stop(spinner);
	stop(reader);
	assert_false(run_task_call(reader, reader, &call));
	assert_false(call.running);
}

/* ---- processes and their descendants ---- */

static void test_descent(void **state)
{
	pid_t child = start(wait_bare);

	(void)state;
	assert_true(run_process_descends(child, getpid()));
	assert_true(run_process_descends(child, getppid()));
	assert_false(run_process_descends(getpid(), child));
	assert_false(run_process_descends(child, child));
	stop(child);
}

static bool is_ours(void *context, const struct run_mapping *m)
{
	struct run_mapping *found = context;

	if (!strstr(m->name, "memfd:u-run-proc name"))
		return false;
	*found = *m;
	return true;
}

static bool is_nothing(void *context, const struct run_mapping *m)
{
	size_t *count = context;

	(void)m;
	++*count;
	return false;
}

static bool has_main(void *context, const struct run_mapping *m)
{
	uintptr_t here = (uintptr_t)has_main;

	(void)context;
	return m->start <= here && here < m->end && m->code;
}

static void test_mappings(void **state)
{
	int fd = memfd_create("u-run-proc name", MFD_CLOEXEC);
	size_t page = (size_t)sysconf(_SC_PAGESIZE), count = 0;
	struct run_mapping found = {0};
	char *memory;

	(void)state;
	assert_int_equal(ftruncate(fd, (off_t)(3 * page)), 0);
	memory = mmap(NULL, 2 * page, PROT_READ, MAP_SHARED, fd, (off_t)page);
	assert_true(run_process_mappings(getpid(), is_ours, &found));
	assert_int_equal(found.start, (uintptr_t)memory);
	assert_int_equal(found.end, (uintptr_t)memory + 2 * page);
	assert_int_equal(found.offset, page);
	assert_false(found.code);
	munmap(memory, 2 * page);
	close(fd);
	assert_false(run_process_mappings(getpid(), is_ours, &found));
	assert_false(run_process_mappings(getpid(), is_nothing, &count));
	assert_true(count > 5);
	assert_true(run_process_mappings(getpid(), has_main, NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_signals),
		cmocka_unit_test(test_gone),
		cmocka_unit_test(test_who_could_wake_it),
		cmocka_unit_test(test_stillness),
		cmocka_unit_test(test_tasks),
		cmocka_unit_test(test_calls),
		cmocka_unit_test(test_descent),
		cmocka_unit_test(test_mappings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
