// SPDX-License-Identifier: Apache-2.0
/*
 * resets MODE: threads change something that a later run must not see (rt/steer/reset.c).  The program
 * exits with 1 if it sees a change of an earlier run, and otherwise with a number that depends on what
 * it sees.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096, LARGE = 1 << 20 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
static int counter, begun; /* `begun`: the number of threads that have begun */
static char zeros[LARGE], *mapped, *block;
static _Thread_local int own = 7;
static char where[PAGE];

static void need(int right, const char *what)
{
	if (right)
		return;
	fprintf(stderr, "wrong: %s\n", what);
	_exit(1);
}

static void use_data(void)
{
	need(own == 7 && zeros[0] == begun - 1 && zeros[LARGE - 1] == begun - 1, "data of an earlier run");
	own++;
	memset(zeros, begun, sizeof zeros);
}

static void use_descriptor(void)
{
	int fd = open("/dev/null", O_RDONLY);

	need(fd == 2 + begun, "the number of a descriptor");
}

static void use_pipe(void)
{
	int ends[2];

	need(!pipe(ends) && ends[0] == 1 + 2 * begun && write(ends[1], "x", 1) == 1, "a pipe");
}

static void close_stream(void)
{
	need(close(STDIN_FILENO) == 0 || begun > 1, "the input was closed");
}

static void use_directory(void)
{
	char now[PAGE];

	need(getcwd(now, sizeof now) && (begun > 1 || !strcmp(now, where)), "the directory");
	need(!chdir("/"), "chdir()");
}

static void use_umask(void)
{
	mode_t old = umask(0123);

	need(old != 0123 || begun > 1, "umask()");
}

static void use_map(void)
{
	char *p = mmap(NULL, LARGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	need(p != MAP_FAILED && !p[0], "mmap()");
	memset(p, 1, LARGE);
	need(!munmap(p + PAGE, LARGE / 2) && !mprotect(p, PAGE, PROT_READ), "munmap()");
	need(mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED, "mmap()");
	need(mremap(p, PAGE, 3 * PAGE, MREMAP_MAYMOVE) != MAP_FAILED, "mremap()");
}

static void use_fixed(void)
{
	need(begun > 1 || mapped[PAGE] == 5, "a page that was replaced");
	need(mmap(mapped + PAGE, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
		  0) == mapped + PAGE,
	     "mmap()");
}

static void use_unmap(void)
{
	if (begun == 1)
		need(mapped[0] == 5 && !munmap(mapped, PAGE), "munmap()");
}

static void use_protection(void)
{
	if (begun == 1)
		mapped[0] = 6;
	need(!mprotect(mapped, PAGE, PROT_READ), "mprotect()");
}

static void use_advice(void)
{
	need(mapped[PAGE] == (begun > 1 ? 9 : 5), "a page that was given back");
	need(!madvise(mapped, 2 * PAGE, MADV_DONTNEED) && !mapped[PAGE], "madvise()");
	mapped[PAGE] = 9;
}

static void use_break(void)
{
	char *p = sbrk(LARGE);

	need(p != (void *)-1 && !p[0] && !p[LARGE - 1], "sbrk()");
	memset(p, 1, LARGE);
}

static void use_heap(void)
{
	char *small = malloc(100), *large = malloc(LARGE);

	need(small && large && !large[0], "malloc()");
	memset(large, 1, LARGE);
	if (begun > 1)
		free(block);
	else
		block = small;
}

static void ignore(int number)
{
	(void)number;
}

static void use_handler(void)
{
	struct sigaction old, new = {.sa_handler = ignore};

	need(!sigaction(SIGUSR1, &new, &old) && (begun > 1 || old.sa_handler == SIG_DFL), "a handler");
}

static void use_mask(void)
{
	sigset_t set, old, pending;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	need(!sigpending(&pending) && (begun > 1 || !sigismember(&pending, SIGUSR1)), "a pending signal");
	need(!pthread_sigmask(SIG_BLOCK, &set, &old) && (begun > 1 || !sigismember(&old, SIGUSR1)), "a mask");
	kill(getpid(), SIGUSR1);
}

static void use_limit(void)
{
	struct rlimit limit;

	need(!getrlimit(RLIMIT_NOFILE, &limit) && (begun > 1 || limit.rlim_cur != 77), "a limit");
	limit.rlim_cur = 77;
	need(!setrlimit(RLIMIT_NOFILE, &limit), "setrlimit()");
}

static void use_timer(void)
{
	need(begun > 1 || !alarm(0), "a timer");
	alarm(1000);
}

static void use_fork(void)
{
	pid_t pid = fork();

	if (!pid)
		_exit(3);
	need(pid > 0 && waitpid(pid, NULL, 0) == pid, "fork()");
}

static void use_system(void)
{
	need(!system("true"), "system()");
}

static void use_file(void)
{
	struct stat st;
	int fd = open("resets.file", O_RDWR | O_CREAT, 0666);

	need(fd >= 0 && write(fd, "x", 1) == 1 && !fstat(fd, &st), "a file");
}

/* The stack of the initial thread grows. */
static void __attribute__((noinline)) grow(int depth)
{
	volatile char room[8 * PAGE];

	memset((char *)room, 3, sizeof room);
	if (depth)
		grow(depth - 1);
	room[0] = 1;
}

/* The bytes below the stack are 0, unless an earlier run has written to them. */
static void grow_far(void)
{
	volatile char room[LARGE];

	for (int i = 0; i < LARGE / 2; i += PAGE)
		need(begun > 1 || !room[i], "the stack of an earlier run");
	for (int i = 0; i < LARGE; i += PAGE)
		room[i] = 1;
}

static void fail(void)
{
	if (counter == 3)
		abort();
}

static void end_early(void)
{
	printf("buffered");
	if (counter == 3)
		exit(5);
}

static void end_at_once(void)
{
	if (counter == 3)
		_exit(6);
}

/* In some schedules the threads deadlock. */
static void lock_both(void)
{
	static int number;
	pthread_mutex_t *first = number++ ? &mutex : &other, *second = number == 1 ? &mutex : &other;

	pthread_mutex_lock(first);
	pthread_mutex_lock(second);
	pthread_mutex_unlock(second);
	pthread_mutex_unlock(first);
}

static void *nothing(void *unused)
{
	pthread_mutex_lock(&other);
	pthread_mutex_unlock(&other);
	return unused;
}

static void detach(void)
{
	pthread_t t;

	need(!pthread_create(&t, NULL, nothing, NULL) && !pthread_detach(t), "a thread");
}

/* In some schedules there are more threads. */
static void create(void)
{
	pthread_t t;

	for (int i = 0; i < counter; i++)
		need(!pthread_create(&t, NULL, nothing, NULL) && !pthread_join(t, NULL), "a thread");
}

static const struct {
	const char *name;
	void (*change)(void);
} modes[] = {
	{"data", use_data},
	{"descriptor", use_descriptor},
	{"pipe", use_pipe},
	{"stream", close_stream},
	{"directory", use_directory},
	{"umask", use_umask},
	{"map", use_map},
	{"fixed", use_fixed},
	{"unmap", use_unmap},
	{"protection", use_protection},
	{"advice", use_advice},
	{"break", use_break},
	{"heap", use_heap},
	{"handler", use_handler},
	{"mask", use_mask},
	{"limit", use_limit},
	{"timer", use_timer},
	{"fork", use_fork},
	{"system", use_system},
	{"file", use_file},
	{"abort", fail},
	{"exit", end_early},
	{"quick", end_at_once},
	{"deadlock", lock_both},
	{"detach", detach},
	{"create", create},
	{"grow", grow_far},
};

static void (*change)(void);

static void *run(void *unused)
{
	pthread_mutex_lock(&mutex);
	begun++;
	if (change != lock_both)
		change();
	pthread_mutex_unlock(&mutex);
	if (change == lock_both)
		change();
	for (int i = 0; i < 3; i++) {
		pthread_mutex_lock(&mutex);
		counter++;
		pthread_mutex_unlock(&mutex);
	}
	return unused;
}

int main(int argc, char **argv)
{
	pthread_t first, second;

	for (size_t i = 0; argc > 1 && i < sizeof modes / sizeof *modes; i++)
		if (!strcmp(modes[i].name, argv[1]))
			change = modes[i].change;
	need(change != NULL && getcwd(where, sizeof where), "the arguments");
	mapped = mmap(NULL, 16 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	need(mapped != MAP_FAILED, "mmap()");
	memset(mapped, 5, 16 * PAGE);
	need(!pthread_create(&first, NULL, run, NULL), "the first thread");
	need(!pthread_create(&second, NULL, run, NULL), "the second thread");
	grow(counter & 3);
	need(!pthread_join(first, NULL) && !pthread_join(second, NULL), "pthread_join()");
	return 0;
}
