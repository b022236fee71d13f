/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Torture program: how a process interacts with its environment: signals, fork, exec, descriptors,
 * and ways to end.  The argument names the part to run.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static char **arguments;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static volatile sig_atomic_t caught;
static atomic_long handled;
static _Atomic int stop;

static void at_end(void)
{
	puts("atexit handler");
}

static void on_fatal(int sig)
{
	(void)sig;
	static const char text[] = "handler\n";
	if (write(STDOUT_FILENO, text, sizeof text - 1) < 0)
		_exit(9);
}

static void end_return(void)
{
	atexit(at_end);
}
static void end_exit(void)
{
	atexit(at_end);
	exit(7);
}
static void end_quick_exit(void)
{
	at_quick_exit(at_end);
	fflush(stdout);
	quick_exit(8);
}
static void end_underscore_exit(void)
{
	atexit(at_end);
	_exit(9);
}
static void end_abort(void)
{
	signal(SIGABRT, on_fatal);
	abort();
}
static void end_segv(void)
{
	raise(0);
	*(volatile int *)8 = 1;
}
static void end_kill(void)
{
	kill(getpid(), SIGKILL);
}
static void end_term(void)
{
	raise(SIGTERM);
}
static void end_pipe(void)
{
	int fd[2];
	if (pipe(fd) == 0)
		close(fd[0]);
	if (write(fd[1], "x", 1) < 0)
		puts("no SIGPIPE");
}
static void end_fpe(void)
{
	volatile int hundred = 100, zero = 0;
	printf("%d\n", hundred / zero);
}
static void *thread_exits(void *unused)
{
	exit(11);
	return unused;
}
static void end_thread_exit(void)
{
	pthread_t t;
	atexit(at_end);
	pthread_create(&t, NULL, thread_exits, NULL);
	pause();
}

/* A handler that locks and allocates.  This is safe, because the main thread raises the signal
 * itself, and only when it does neither. */
static void busy_handler(int sig)
{
	(void)sig;
	int saved = errno;
	pthread_mutex_lock(&lock);
	void *p = malloc(100);
	memset(p, 1, 100);
	free(p);
	caught++;
	pthread_mutex_unlock(&lock);
	errno = saved;
}

static void signals(void)
{
	struct sigaction action = {.sa_handler = busy_handler, .sa_flags = SA_RESTART};
	sigaction(SIGUSR1, &action, NULL);
	for (int i = 0; i < 500; i++) {
		errno = 77;
		raise(SIGUSR1);
		if (errno != 77)
			printf("errno %d\n", errno);
	}
	printf("caught %d\n", (int)caught);
}

static void timer_handler(int sig)
{
	(void)sig;
	atomic_fetch_add(&handled, 1);
}

static void *compute(void *unused)
{
	static __thread long table[4096];
	for (long i = 0; !atomic_load(&stop); i++)
		table[i * 61 % 4096] += i;
	return unused;
}

/* Signals arrive at any instruction, also inside the recorder. */
static void timers(void)
{
	pthread_t t[2];
	signal(SIGPROF, timer_handler);
	signal(SIGALRM, timer_handler);
	struct itimerval fast = {{0, 1000}, {0, 1000}};
	for (int i = 0; i < 2; i++)
		pthread_create(&t[i], NULL, compute, NULL);
	setitimer(ITIMER_PROF, &fast, NULL);
	setitimer(ITIMER_REAL, &fast, NULL);
	while (atomic_load(&handled) < 200)
		sched_yield();
	atomic_store(&stop, 1);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
	puts("enough signals");
	memset(&fast, 0, sizeof fast);
	setitimer(ITIMER_PROF, &fast, NULL);
	setitimer(ITIMER_REAL, &fast, NULL);
}

static void on_altstack(int sig, siginfo_t *info, void *context)
{
	(void)context;
	char frame[2000];
	memset(frame, sig, sizeof frame);
	printf("SIGSEGV at %d\n", info->si_addr == (void *)16 && frame[1999] == sig);
	fflush(stdout);
	_exit(12);
}

static void altstack(void)
{
	stack_t stack = {.ss_size = 65536};
	stack.ss_sp = malloc(stack.ss_size);
	sigaltstack(&stack, NULL);
	struct sigaction action = {.sa_flags = SA_SIGINFO | SA_ONSTACK};
	action.sa_sigaction = on_altstack;
	sigaction(SIGSEGV, &action, NULL);
	*(volatile char *)16 = 1;
}

static void say_status(const char *who, int status)
{
	if (WIFEXITED(status))
		printf("%s exited %d\n", who, WEXITSTATUS(status));
	else
		printf("%s got signal %d\n", who, WTERMSIG(status));
	fflush(stdout);
}

static void *child_thread(void *p)
{
	pthread_mutex_lock(&lock);
	++*(int *)p;
	pthread_mutex_unlock(&lock);
	return NULL;
}

static void in_child(int how)
{
	int n = 0;
	pthread_t t[3];
	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, child_thread, &n);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	printf("child %d counts %d\n", how, n);
	fflush(stdout);
	if (how == 1)
		abort();
	if (how == 2)
		_exit(21);
	exit(20);
}

static void forks(void)
{
	int status;
	fflush(stdout);
	for (int how = 0; how < 3; how++) {
		pid_t pid = fork();
		if (pid == 0)
			in_child(how);
		waitpid(pid, &status, 0);
		say_status("child", status);
	}
	if (fork() == 0) {
		if (fork() == 0)
			in_child(2);
		wait(&status);
		say_status("grandchild", status);
		_exit(0);
	}
	wait(&status);
	say_status("child", status);
}

static void fork_handler_prepare(void)
{
	pthread_mutex_lock(&lock);
}
static void fork_handler_done(void)
{
	pthread_mutex_unlock(&lock);
}

static void *locker(void *unused)
{
	while (!atomic_load(&stop)) {
		pthread_mutex_lock(&lock);
		free(malloc(64));
		pthread_mutex_unlock(&lock);
	}
	return unused;
}

static void fork_while_threads_run(void)
{
	pthread_t t[3];
	int sum = 0;
	pthread_atfork(fork_handler_prepare, fork_handler_done, fork_handler_done);
	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, locker, NULL);
	for (int i = 0; i < 20; i++) {
		int status;
		pid_t pid = fork();
		if (pid == 0) {
			pthread_mutex_lock(&lock);
			free(malloc(1000));
			_exit(i);
		}
		waitpid(pid, &status, 0);
		sum += WEXITSTATUS(status);
	}
	atomic_store(&stop, 1);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
	printf("sum %d\n", sum);
}

static void execs(void)
{
	int status;
	fflush(stdout);
	if (fork() == 0) {
		execl("/bin/sh", "sh", "-c", "echo from sh; exit 5", (char *)NULL);
		_exit(1);
	}
	wait(&status);
	say_status("sh", status);
	if (fork() == 0) {
		execl(arguments[0], arguments[0], "underscore-exit", (char *)NULL);
		_exit(1);
	}
	wait(&status);
	say_status("self", status);
	if (vfork() == 0) {
		execlp("true", "true", (char *)NULL);
		_exit(1);
	}
	wait(&status);
	say_status("vfork", status);
	pid_t pid;
	char *argv[] = {"sh", "-c", "echo spawned", NULL};
	posix_spawnp(&pid, "sh", NULL, NULL, argv, environ);
	waitpid(pid, &status, 0);
	say_status("spawn", status);
	printf("failed exec %d\n", execl("/nonexistent", "x", (char *)NULL));
	fflush(stdout);
	execl("/bin/echo", "echo", "replaced", (char *)NULL);
}

static void shell(void)
{
	char line[64] = "";
	FILE *p = popen("echo through a pipe; exit 3", "r");
	if (fgets(line, sizeof line, p))
		printf("popen: %s", line);
	printf("pclose %d\n", WEXITSTATUS(pclose(p)));
	fflush(stdout);
	printf("system %d\n", WEXITSTATUS(system("echo in system; exit 4")));
	p = popen("cat >&2", "w");
	fputs("to stderr\n", p);
	pclose(p);
}

static void daemonise(void)
{
	int fd[2];
	char text[64] = "";
	if (pipe(fd))
		return;
	if (fork() == 0) {
		setsid();
		if (fork())
			_exit(0);
		close(0);
		close(1);
		close(2);
		usleep(20000);
		if (write(fd[1], "daemon was here", 15) != 15)
			_exit(1);
		_exit(0);
	}
	close(fd[1]);
	wait(NULL);
	while (read(fd[0], text, sizeof text) > 0)
		printf("%s\n", text);
}

static void close_all(void)
{
	for (int fd = 3; fd < 4096; fd++)
		close(fd);
	closefrom(3);
	FILE *f = tmpfile();
	printf("first free descriptor %d\n", fileno(f));
	fclose(f);
	pthread_t t;
	int n = 0;
	pthread_create(&t, NULL, child_thread, &n);
	pthread_join(t, NULL);
	printf("still counts %d\n", n);
	fflush(stdout);
	closefrom(0);
	pthread_create(&t, NULL, child_thread, &n);
	pthread_join(t, NULL);
	_exit(n == 2 ? 30 : 31);
}

/* Prints what the program can see of its descriptors, its environment and its signals. */
static void surroundings(void)
{
	DIR *d = opendir("/proc/self/fd");
	int count = 0;
	for (struct dirent *e; (e = readdir(d));)
		count += e->d_name[0] != '.' && atoi(e->d_name) != dirfd(d);
	closedir(d);
	printf("open descriptors %d\n", count);
	int variables = 0;
	for (char **e = environ; *e; e++)
		variables += !strncmp(*e, "RADDLE", 6) || !strncmp(*e, "LD_PRELOAD", 10);
	printf("foreign variables %d, argument 0 %s\n", variables, strrchr(arguments[0], '/') + 1);
	sigset_t blocked;
	sigprocmask(SIG_SETMASK, NULL, &blocked);
	int n = 0, ignored = 0;
	for (int sig = 1; sig < 32; sig++) {
		struct sigaction a;
		n += sigismember(&blocked, sig) == 1;
		ignored += !sigaction(sig, NULL, &a) && a.sa_handler != SIG_DFL;
	}
	printf("blocked %d ignored or handled %d\n", n, ignored);
	struct rlimit limit;
	getrlimit(RLIMIT_NOFILE, &limit);
	printf("group leader %d, umask %o, files %d\n", getpgrp() == getpid(), umask(022),
	       (int)limit.rlim_cur);
	printf("children %d\n", waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD);
}

static void filter(void)
{
	int c, lines = 0;
	while ((c = getchar()) != EOF) {
		lines += c == '\n';
		putchar(c >= 'a' && c <= 'z' ? c - 32 : c);
	}
	fprintf(stderr, "%d lines\n", lines);
}

static void mappings(void)
{
	size_t size = 1 << 20;
	char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memset(p, 3, size);
	p = mremap(p, size, 2 * size, MREMAP_MAYMOVE);
	p[2 * size - 1] = p[size - 1];
	mprotect(p, 4096, PROT_READ);
	int sum = p[0] + p[2 * size - 1];
	munmap(p, 2 * size);
	void *aligned = aligned_alloc(4096, 8192), *posix = NULL;
	int error = posix_memalign(&posix, 3, 10);
	char *grown = realloc(strdup("kept"), 100000);
	printf("sum %d aligned %d error %d %s\n", sum, ((size_t)aligned & 4095) == 0, error == EINVAL, grown);
	free(aligned);
	free(grown);
	volatile size_t huge = (size_t)1 << 60;
	void *volatile none = malloc(huge);
	printf("too much %d\n", none == NULL);
}

static const struct {
	const char *name;
	void (*run)(void);
} parts[] = {
	{"return", end_return},
	{"exit", end_exit},
	{"quick-exit", end_quick_exit},
	{"underscore-exit", end_underscore_exit},
	{"abort", end_abort},
	{"segv", end_segv},
	{"kill", end_kill},
	{"term", end_term},
	{"pipe", end_pipe},
	{"fpe", end_fpe},
	{"thread-exit", end_thread_exit},
	{"signals", signals},
	{"timers", timers},
	{"altstack", altstack},
	{"fork", forks},
	{"fork-threads", fork_while_threads_run},
	{"exec", execs},
	{"shell", shell},
	{"daemon", daemonise},
	{"close-all", close_all},
	{"surroundings", surroundings},
	{"filter", filter},
	{"mappings", mappings},
};

int main(int argc, char **argv)
{
	arguments = argv;
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		if (argc > 1 && !strcmp(argv[1], parts[i].name)) {
			parts[i].run();
			return 3;
		}
	fprintf(stderr, "usage: process PART\n");
	return 2;
}
