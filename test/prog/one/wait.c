// SPDX-License-Identifier: Apache-2.0
/*
 * Threads wait for each other through the kernel or through locks of libc (test/cli/one-wait.sh):
 * wait MODE.  Each mode prints its name when all threads have ended.
 */
#define _GNU_SOURCE
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ROUNDS = 3 };

static int ends[2], back[2], shared;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void together(void *(*one)(void *), void *(*two)(void *))
{
	pthread_t threads[2];

	pthread_create(&threads[0], NULL, one, NULL);
	pthread_create(&threads[1], NULL, two, NULL);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
}

/* ---- pipes, socket pairs, event counters ---- */

static void *sends(void *unused)
{
	char c = 'x';

	for (int i = 0; i < ROUNDS; i++) {
		shared = i;
		assert(write(ends[1], &c, 1) == 1);
		assert(read(back[0], &c, 1) == 1);
	}
	return unused;
}

static void *echoes(void *unused)
{
	char c;

	for (int i = 0; i < ROUNDS; i++) {
		assert(read(ends[0], &c, 1) == 1);
		assert(shared == i);
		assert(write(back[1], &c, 1) == 1);
	}
	return unused;
}

static void pipe_mode(void)
{
	assert(!pipe(ends) && !pipe(back));
	together(echoes, sends);
}

static void pair_mode(void)
{
	int fds[2];

	assert(!socketpair(AF_UNIX, SOCK_STREAM, 0, fds));
	ends[0] = back[1] = fds[0];
	ends[1] = back[0] = fds[1];
	together(echoes, sends);
}

static void *counts(void *unused)
{
	eventfd_t got, sum = 0;

	while (sum < ROUNDS) {
		assert(!eventfd_read(ends[0], &got));
		sum += got;
	}
	return unused;
}

static void *adds(void *unused)
{
	for (int i = 0; i < ROUNDS; i++)
		assert(!eventfd_write(ends[0], 1));
	return unused;
}

static void eventfd_mode(void)
{
	ends[0] = eventfd(0, 0);
	together(counts, adds);
}

/* Fills the pipe, so that the writer has to wait for the reader. */
static void *fills(void *unused)
{
	static char block[1 << 16];

	for (int i = 0; i < ROUNDS; i++)
		assert(write(ends[1], block, sizeof block) == sizeof block);
	close(ends[1]);
	return unused;
}

static void *drains(void *unused)
{
	static char block[5000];
	size_t sum = 0;
	ssize_t n;

	while ((n = read(ends[0], block, sizeof block)) > 0)
		sum += (size_t)n;
	assert(sum == (size_t)ROUNDS << 16);
	return unused;
}

static void full_mode(void)
{
	assert(!pipe(ends));
	together(fills, drains);
}

/* The threads use streams, for which libc itself calls read() and write(). */
static void *prints(void *unused)
{
	FILE *to = fdopen(ends[1], "w");

	for (int i = 0; i < ROUNDS; i++) {
		fprintf(to, "%d\n", i);
		fflush(to);
	}
	fclose(to);
	return unused;
}

static void *scans(void *unused)
{
	FILE *from = fdopen(ends[0], "r");
	char line[16];
	int n = 0;

	while (fgets(line, sizeof line, from))
		assert(atoi(line) == n++);
	assert(n == ROUNDS);
	fclose(from);
	return unused;
}

static void stream_mode(void)
{
	assert(!pipe(ends));
	together(scans, prints);
}

/* ---- poll, select, epoll ---- */

static void *polls(void *unused)
{
	struct pollfd fds[2] = {{back[0], POLLIN, 0}, {ends[0], POLLIN, 0}};
	char c;

	for (int i = 0; i < ROUNDS; i++) {
		while (poll(fds, 2, i ? -1 : 100000) != 1)
			assert(!i); /* a schedule may let the time limit expire */
		assert(fds[1].revents == POLLIN && read(ends[0], &c, 1) == 1);
	}
	return unused;
}

static void *selects(void *unused)
{
	fd_set set;
	char c;

	for (int i = 0; i < ROUNDS; i++) {
		FD_ZERO(&set);
		FD_SET(ends[0], &set);
		assert(select(ends[0] + 1, &set, NULL, NULL, NULL) == 1);
		assert(FD_ISSET(ends[0], &set) && read(ends[0], &c, 1) == 1);
	}
	return unused;
}

static void *writes(void *unused)
{
	for (int i = 0; i < ROUNDS; i++)
		assert(write(ends[1], "x", 1) == 1);
	return unused;
}

static void poll_mode(void)
{
	assert(!pipe(ends) && !pipe(back));
	together(polls, writes);
}

static void select_mode(void)
{
	assert(!pipe(ends));
	together(selects, writes);
}

/* Waits in a loop for an edge-triggered pipe by epoll, until an eventfd ends the loop. */
static void *loops(void *unused)
{
	int set = epoll_create1(0), got = 0;
	struct epoll_event event = {.events = EPOLLIN | EPOLLET, .data.fd = ends[0]}, events[4];
	char block[8];

	assert(!epoll_ctl(set, EPOLL_CTL_ADD, ends[0], &event));
	event = (struct epoll_event){.events = EPOLLIN, .data.fd = back[0]};
	assert(!epoll_ctl(set, EPOLL_CTL_ADD, back[0], &event));
	for (bool end = false; !end;) {
		int n = epoll_wait(set, events, 4, -1);

		for (int i = 0; i < n; i++) {
			ssize_t r = 0;

			if (events[i].data.fd == back[0]) {
				end = true;
				continue;
			}
			while ((r = read(ends[0], block, sizeof block)) > 0)
				got += (int)r;
		}
	}
	assert(got <= ROUNDS);
	close(set);
	return unused;
}

static void *writes_and_ends(void *unused)
{
	writes(NULL);
	assert(!eventfd_write(back[0], 1));
	return unused;
}

static void epoll_mode(void)
{
	assert(!pipe2(ends, O_NONBLOCK));
	back[0] = eventfd(0, 0);
	together(loops, writes_and_ends);
}

/* The time limit of a poll() passes: no thread writes until the reader has given up once. */
static sem_t gave_up;

static void *gives_up(void *unused)
{
	struct pollfd fd = {ends[0], POLLIN, 0};

	assert(poll(&fd, 1, 20) == 0);
	sem_post(&gave_up);
	assert(poll(&fd, 1, -1) == 1);
	return unused;
}

static void *writes_late(void *unused)
{
	sem_wait(&gave_up);
	return writes(unused);
}

static void limit_mode(void)
{
	assert(!pipe(ends));
	sem_init(&gave_up, 0, 0);
	together(gives_up, writes_late);
}

/* ---- sockets ---- */

static struct sockaddr_un address = {.sun_family = AF_UNIX};

static void *accepts(void *unused)
{
	char line[4];
	int fd = accept(ends[0], NULL, NULL);

	assert(fd >= 0 && recv(fd, line, 2, 0) == 2 && recv(fd, line, 2, 0) == 2);
	assert(send(fd, "pong", 4, 0) == 4);
	close(fd);
	return unused;
}

static void *connects(void *unused)
{
	char line[4];
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	assert(!connect(fd, (struct sockaddr *)&address, sizeof address));
	assert(send(fd, "pi", 2, 0) == 2);
	assert(send(fd, "ng", 2, 0) == 2);
	assert(recv(fd, line, sizeof line, 0) == 4 && !memcmp(line, "pong", 4));
	close(fd);
	return unused;
}

static void accept_mode(void)
{
	snprintf(address.sun_path, sizeof address.sun_path, "wait-%d", getpid());
	ends[0] = socket(AF_UNIX, SOCK_STREAM, 0);
	assert(!bind(ends[0], (struct sockaddr *)&address, sizeof address) && !listen(ends[0], 4));
	together(accepts, connects);
	unlink(address.sun_path);
}

/* ---- locks of libc and of files ---- */

static void *writes_lines(void *unused)
{
	for (int i = 0; i < ROUNDS; i++) {
		flockfile(stderr);
		pthread_mutex_lock(&mutex);
		shared++;
		pthread_mutex_unlock(&mutex);
		funlockfile(stderr);
	}
	return unused;
}

static void *writes_quickly(void *unused)
{
	for (int i = 0; i < ROUNDS; i++) {
		fputs("x", stderr);
		pthread_mutex_lock(&mutex);
		shared++;
		pthread_mutex_unlock(&mutex);
	}
	return unused;
}

static void stdio_mode(void)
{
	together(writes_lines, writes_quickly);
	assert(shared == 2 * ROUNDS);
}

static void flockfile_mode(void)
{
	together(writes_lines, writes_lines);
	assert(shared == 2 * ROUNDS);
}

/* The lock of a stream and a mutex, in both orders. */
static void *writes_locked(void *unused)
{
	pthread_mutex_lock(&mutex);
	fputs("x", stderr);
	pthread_mutex_unlock(&mutex);
	return unused;
}

static void crossed_mode(void)
{
	together(writes_lines, writes_locked);
}

static void *locks_file(void *unused)
{
	int fd = open("/proc/self/exe", O_RDONLY);

	for (int i = 0; i < ROUNDS; i++) {
		assert(!flock(fd, LOCK_EX));
		pthread_mutex_lock(&mutex);
		shared++;
		pthread_mutex_unlock(&mutex);
		assert(!flock(fd, LOCK_UN));
	}
	close(fd);
	return unused;
}

static void flock_mode(void)
{
	together(locks_file, locks_file);
	assert(shared == 2 * ROUNDS);
}

/* ---- signals ---- */

static sem_t handled;
static atomic_int handler_thread;
static pthread_t target;

static void handler(int number)
{
	(void)number;
	atomic_store(&handler_thread, (int)syscall(SYS_gettid));
	sem_post(&handled);
}

static void *is_signalled(void *unused)
{
	while (!atomic_load(&handler_thread))
		sched_yield();
	assert(atomic_load(&handler_thread) == (int)syscall(SYS_gettid));
	return unused;
}

static void kill_mode(void)
{
	struct sigaction action = {.sa_handler = handler};

	sem_init(&handled, 0, 0);
	sigaction(SIGUSR1, &action, NULL);
	pthread_create(&target, NULL, is_signalled, NULL);
	assert(!pthread_kill(target, 0) && !pthread_kill(target, SIGUSR1));
	sem_wait(&handled);
	pthread_join(target, NULL);
}

/* The thread waits for input when it gets the signal, so its read() fails. */
static void *is_interrupted(void *unused)
{
	char c;

	assert(read(ends[0], &c, 1) == -1 && errno == EINTR);
	return unused;
}

static void interrupt_mode(void)
{
	struct sigaction action = {.sa_handler = handler};

	assert(!pipe(ends));
	sem_init(&handled, 0, 0);
	sigaction(SIGUSR1, &action, NULL);
	pthread_create(&target, NULL, is_interrupted, NULL);
	do
		assert(!pthread_kill(target, SIGUSR1));
	while (usleep(1000), pthread_tryjoin_np(target, NULL) == EBUSY);
}

/* The thread waits by sigwait() for a signal that it blocks. */
static void *awaits_signal(void *unused)
{
	sigset_t set;
	int got;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR2);
	assert(!sigwait(&set, &got) && got == SIGUSR2);
	return unused;
}

static void sigwait_mode(void)
{
	sigset_t set;

	sigfillset(&set);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	pthread_create(&target, NULL, awaits_signal, NULL);
	assert(!pthread_kill(target, SIGUSR2));
	pthread_join(target, NULL);
}

/* ---- processes ---- */

/* In the child, libc waits for a futex until the time limit. */
static int waits_in_child(void)
{
	struct timespec soon = {0, 1000000};
	sem_t never;

	sem_init(&never, 0, 0);
	clock_gettime(CLOCK_REALTIME, &soon);
	return sem_timedwait(&never, &soon) == -1 && errno == ETIMEDOUT ? 7 : 1;
}

static void *starts_child(void *unused)
{
	int status;
	pid_t child = fork();

	if (!child) {
		_exit(waits_in_child());
	}
	assert(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 7);
	return unused;
}

static void fork_mode(void)
{
	flockfile_mode();
	together(starts_child, writes_lines);
}

static void *starts_program(void *unused)
{
	int status;
	pid_t child = fork();

	if (!child) {
		execlp("sh", "sh", "-c", "exit 7", (char *)NULL);
		_exit(1);
	}
	assert(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 7);
	return unused;
}

static void exec_mode(void)
{
	flockfile_mode();
	together(starts_program, writes_lines);
}

static void *calls_shell(void *unused)
{
	FILE *from = popen("echo 5; sleep 0.3", "r");
	int got = 0;

	assert(from && fscanf(from, "%d", &got) == 1 && got == 5 && pclose(from) == 0);
	assert(system("exit 3") == 3 << 8);
	return unused;
}

static void shell_mode(void)
{
	flockfile_mode();
	together(calls_shell, writes_lines);
}

/* No thread writes to the pipe, so all threads wait for ever. */
static void hang_mode(void)
{
	assert(!pipe(ends) && !pipe(back));
	together(echoes, echoes);
}

static const struct {
	const char *name;
	void (*run)(void);
} modes[] = {
	{"pipe", pipe_mode},	       {"pair", pair_mode},	  {"eventfd", eventfd_mode},
	{"full", full_mode},	       {"stream", stream_mode},	  {"poll", poll_mode},
	{"select", select_mode},       {"epoll", epoll_mode},	  {"limit", limit_mode},
	{"accept", accept_mode},       {"stdio", stdio_mode},	  {"flockfile", flockfile_mode},
	{"flock", flock_mode},	       {"crossed", crossed_mode}, {"kill", kill_mode},
	{"interrupt", interrupt_mode}, {"sigwait", sigwait_mode}, {"fork", fork_mode},
	{"exec", exec_mode},	       {"shell", shell_mode},	  {"hang", hang_mode},
};

int main(int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && i < sizeof modes / sizeof *modes; i++)
		if (!strcmp(argv[1], modes[i].name)) {
			modes[i].run();
			puts(modes[i].name);
			return 0;
		}
	return 2;
}
