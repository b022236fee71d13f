// SPDX-License-Identifier: Apache-2.0
/* A thread writes `data`, and another one reads it.  The argument names what
 * orders the two accesses, in a way that predictions do not know.  "nothing",
 * "relaxed" and "large" do not order them; "large" makes many events.
 */
#include "micro/case.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <exception>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static int data, noise[1000];
static std::atomic<int> flag;
static const char *mode;
static int to_helper[2], from_helper[2], file_out, file_in;
static sem_t done;
static pthread_t reader_thread;
static std::exception_ptr owned[2]; /* one for each thread */

static bool is(const char *name)
{
	return strcmp(mode, name) == 0;
}

static int read_data()
{
	return data;
}

struct guarded {
	int value;
	guarded() : value(7) {}
};

static int use_guarded()
{
	static guarded once;
	return once.value;
}

struct failure {
	int code;
	explicit failure(int c) : code(c) {}
	failure(const failure &other) : code(other.code) {}
	~failure() { code = 0; }
};

/* The thread that releases its reference last destroys the exception. */
static int caught(std::exception_ptr &mine)
{
	int code = 0;

	try {
		std::rethrow_exception(mine);
	} catch (failure &f) {
		code = f.code;
	}
	mine = nullptr;
	return code;
}

static void make_noise()
{
	for (int round = 0; round < 2000; round++) {
		for (int &n : noise)
			n += round;
		flag.fetch_add(1); /* begins a new segment */
	}
}

static void *writer(void *)
{
	data = 42;
	if (is("file") && write(file_out, "x", 1) != 1)
		abort();
	if (is("helper") && write(to_helper[1], "x", 1) != 1)
		abort();
	if (is("fence"))
		std::atomic_thread_fence(std::memory_order_release);
	if (is("fence") || is("relaxed"))
		flag.store(1, std::memory_order_relaxed);
	if (is("signal"))
		pthread_kill(reader_thread, SIGUSR1);
	if (is("guard"))
		use_guarded();
	if (is("exception"))
		caught(owned[0]);
	if (is("large"))
		make_noise();
	return nullptr;
}

static void *reader(void *)
{
	char c;

	while (is("file") && read(file_in, &c, 1) != 1)
		usleep(100);
	if (is("helper") && read(from_helper[0], &c, 1) != 1)
		abort();
	while ((is("fence") || is("relaxed")) && !flag.load(std::memory_order_relaxed))
		;
	if (is("fence"))
		std::atomic_thread_fence(std::memory_order_acquire);
	if (is("signal"))
		pause();
	else if (is("guard"))
		use_guarded();
	else if (is("exception"))
		caught(owned[1]);
	else
		read_data();
	return nullptr;
}

static void on_signal(int)
{
	read_data();
}

static void on_timer(sigval)
{
	read_data();
	sem_post(&done);
}

static void run_timer()
{
	sigevent event = {};
	itimerspec soon = {{0, 0}, {0, 1000000}};
	timer_t timer;

	event.sigev_notify = SIGEV_THREAD;
	event.sigev_notify_function = on_timer;
	data = 42;
	if (timer_create(CLOCK_MONOTONIC, &event, &timer) || timer_settime(timer, 0, &soon, nullptr))
		abort();
	sem_wait(&done);
}

/* Starts another process, which passes the writer's byte on to the reader. */
static void start_helper()
{
	char c;

	if (pipe(to_helper) || pipe(from_helper))
		abort();
	if (fork())
		return;
	_exit(read(to_helper[0], &c, 1) == 1 && write(from_helper[1], &c, 1) == 1 ? 0 : 1);
}

int main(int argc, char **argv)
{
	char name[] = "firm-XXXXXX";
	pthread_t threads[2];

	mode = argc > 1 ? argv[1] : "nothing";
	sem_init(&done, 0, 0);
	signal(SIGUSR1, on_signal);
	file_out = mkstemp(name);
	file_in = open(name, O_RDONLY);
	unlink(name);
	if (is("timer")) {
		run_timer();
		return 0;
	}
	if (is("helper"))
		start_helper();
	if (is("exception")) {
		try {
			throw failure(3);
		} catch (...) {
			owned[0] = owned[1] = std::current_exception();
		}
	}
	pthread_create(&reader_thread, nullptr, reader, nullptr);
	if (is("signal"))
		settle(); /* so that the reader waits in pause() */
	threads[0] = reader_thread;
	pthread_create(&threads[1], nullptr, writer, nullptr);
	for (pthread_t t : threads)
		pthread_join(t, nullptr);
	return 0;
}
