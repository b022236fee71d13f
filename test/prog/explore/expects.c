// SPDX-License-Identifier: Apache-2.0
/*
 * Two threads wait in loops for something that real time brings.  The argument is its name.  Nothing
 * is wrong with the program, except in the modes `stuck` and `crash-handler`: there nothing comes.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SOON_NS 20000000 /* 20 ms */

static volatile sig_atomic_t hit;
static atomic_int flag, *shared = &flag;
static int timer_fd = -1, polled_fd = -1;
static const char *file;
static sigset_t user_signal;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;

static void handle(int number)
{
	(void)number;
	hit = 1;
}

static void expire(union sigval value)
{
	(void)value;
	atomic_store(&flag, 1);
}

static void set_timer(int notify)
{
	struct sigevent event = {.sigev_notify = notify, .sigev_signo = SIGUSR1};
	struct itimerspec soon = {.it_value = {0, SOON_NS}};
	timer_t timer;

	if (notify == SIGEV_THREAD)
		event.sigev_notify_function = expire;
	signal(SIGUSR1, handle);
	timer_create(CLOCK_MONOTONIC, &event, &timer);
	timer_settime(timer, 0, &soon, NULL);
}

static void start_child(void)
{
	if (fork())
		return;
	usleep(SOON_NS / 1000);
	atomic_store(shared, 1);
	kill(getppid(), SIGUSR1);
	_exit(0);
}

static void *wait_for_signal(void *context)
{
	int number;

	sigwait(&user_signal, &number);
	atomic_store(&flag, 1);
	return context;
}

static void *wait_with_limit(void *context)
{
	struct timespec end;

	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec++;
	pthread_mutex_lock(&mutex);
	pthread_cond_timedwait(&cond, &mutex, &end);
	pthread_mutex_unlock(&mutex);
	atomic_store(&flag, 1);
	return context;
}

/* The other thread ends only after the limit. */
static int join_with_limit(pthread_t thread)
{
	struct timespec end;
	int result;

	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += 3600;
	result = pthread_timedjoin_np(thread, NULL, &end);
	atomic_store(&flag, 1);
	return result;
}

/* The limit is far away, so the timer comes first. */
static void *poll_timer(void *context)
{
	struct pollfd wanted = {polled_fd, POLLIN, 0};

	if (poll(&wanted, 1, 60000) != 1)
		abort();
	atomic_store(&flag, 1);
	return context;
}

static int is_there(void)
{
	uint64_t times;

	if (timer_fd >= 0)
		return read(timer_fd, &times, sizeof times) == sizeof times || atomic_load(&flag);
	if (file)
		return access(file, F_OK) == 0;
	return hit || atomic_load(shared);
}

static void *spin(void *context)
{
	while (!is_there())
		usleep(1000);
	atomic_store(&flag, 1);
	return context;
}

/* Returns the function of a third thread, or NULL. */
static void *(*prepare(const char *mode))(void *)
{
	struct itimerval soon = {.it_value = {0, SOON_NS / 1000}};
	struct itimerspec also_soon = {.it_value = {0, SOON_NS}};

	if (!strcmp(mode, "itimer") && signal(SIGALRM, handle) != SIG_ERR)
		setitimer(ITIMER_REAL, &soon, NULL);
	if (!strcmp(mode, "timer"))
		set_timer(SIGEV_SIGNAL);
	if (!strcmp(mode, "timer-thread"))
		set_timer(SIGEV_THREAD);
	if (!strcmp(mode, "timerfd")) {
		timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
		timerfd_settime(timer_fd, 0, &also_soon, NULL);
	}
	if (!strcmp(mode, "poll")) {
		polled_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK);
		timerfd_settime(polled_fd, 0, &also_soon, NULL);
	}
	if (!strcmp(mode, "shared"))
		shared =
			mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (!strcmp(mode, "child"))
		signal(SIGUSR1, handle);
	if (!strcmp(mode, "signal"))
		signal(SIGTERM, handle);
	if (!strcmp(mode, "shared"))
		signal(SIGUSR1, SIG_IGN);
	if (!strcmp(mode, "crash-handler"))
		signal(SIGSEGV, handle);
	if (!strcmp(mode, "sigwait")) {
		sigaddset(&user_signal, SIGUSR1);
		pthread_sigmask(SIG_BLOCK, &user_signal, NULL);
	}
	if (!strcmp(mode, "child") || !strcmp(mode, "shared") || !strcmp(mode, "sigwait"))
		start_child();
	return !strcmp(mode, "poll")	  ? poll_timer
	       : !strcmp(mode, "sigwait") ? wait_for_signal
	       : !strcmp(mode, "limit")	  ? wait_with_limit
					  : NULL;
}

int main(int argc, char **argv)
{
	void *(*third)(void *) = argc > 1 ? prepare(argv[1]) : NULL;
	pthread_t threads[3];

	if (argc > 2)
		file = argv[2];
	pthread_create(&threads[0], NULL, spin, NULL);
	pthread_create(&threads[1], NULL, spin, NULL);
	if (third)
		pthread_create(&threads[2], NULL, third, NULL);
	if (argc > 1 && !strcmp(argv[1], "join") && join_with_limit(threads[0]) != ETIMEDOUT)
		return 1;
	for (int i = 0; i < 2 + !!third; i++)
		pthread_join(threads[i], NULL);
	while (wait(NULL) > 0)
		;
	puts("there");
	return 0;
}
