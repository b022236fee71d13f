// SPDX-License-Identifier: Apache-2.0
/*
 * The watchdog.
 *
 * In: the session's sequence, which every synchronisation operation advances, and what
 * /proc says about the program's threads.  Out: a program that stands still for good is ended.
 *
 * Nothing is concluded from silence: a program that computes, sleeps or waits for input may be
 * silent for hours.  Silence only starts a look, which a process of its own takes, so that
 * the collector goes on; if the look says that the threads can never be served and the program
 * has not moved meanwhile, that is the verdict.  Looks are the rarer the longer it is silent.
 */
#include "record/watch.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define SILENT_NS 2000000000ll /* until the first look */
#define LOOK_SECONDS 120       /* a look that takes longer is given up */
#define STANDS 1	       /* exit status of a look */

/* Reads a file of /proc/PID; false if it cannot be read. */
static bool read_proc(const char *path, char *text, size_t size)
{
	FILE *f = fopen(path, "re");
	size_t n;

	if (!f)
		return false;
	n = fread(text, 1, size - 1, f);
	fclose(f);
	text[n] = 0;
	return n > 0;
}

static bool is_waiting(const char *syscall_text)
{
	uint64_t word, op, value, timeout;
	int number;

	if (sscanf(syscall_text, "%d %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64, &number, &word, &op,
		   &value, &timeout) != 5)
		return false; /* "running" */
	if (number != SYS_futex || timeout)
		return false;
	switch (op & FUTEX_CMD_MASK) {
	case FUTEX_WAIT:
	case FUTEX_WAIT_BITSET:
	case FUTEX_LOCK_PI:
	case FUTEX_LOCK_PI2:
	case FUTEX_WAIT_REQUEUE_PI:
		return true;
	default:
		return false;
	}
}

enum task { TASK_WAITS, TASK_GONE, TASK_OTHER };

static enum task look_at_task(pid_t pid, pid_t tid)
{
	char path[64], text[512];
	const char *state;

	snprintf(path, sizeof path, "/proc/%d/task/%d/stat", pid, tid);
	if (!read_proc(path, text, sizeof text))
		return TASK_GONE;
	state = strrchr(text, ')');
	if (state && state[1] == ' ' && strchr("ZX", state[2]))
		return TASK_GONE; /* an initial thread that called pthread_exit() stays as a zombie */
	snprintf(path, sizeof path, "/proc/%d/task/%d/syscall", pid, tid);
	return read_proc(path, text, sizeof text) && is_waiting(text) ? TASK_WAITS : TASK_OTHER;
}

/* Two signals are glibc's own: cancellation and setuid. */
static bool catches_signals(pid_t pid)
{
	char path[64], text[4096];
	const char *line;

	snprintf(path, sizeof path, "/proc/%d/status", pid);
	if (!read_proc(path, text, sizeof text) || !(line = strstr(text, "\nSigCgt:")))
		return true;
	return strtoull(line + 8, NULL, 16) & ~(3ull << 31);
}

/* The caller frees `waiting`. */
static void look_at_threads(pid_t pid, struct record_still *still)
{
	size_t capacity = 0, others = 0;
	pid_t *waiting = NULL;
	struct dirent *entry;
	char path[64];
	DIR *d;

	snprintf(path, sizeof path, "/proc/%d/task", pid);
	d = opendir(path);
	while (d && (entry = readdir(d))) {
		pid_t tid = atoi(entry->d_name);
		enum task task = tid ? look_at_task(pid, tid) : TASK_GONE; /* 0 of "." and ".." */
		others += task == TASK_OTHER;
		if (task != TASK_WAITS)
			continue;
		RD_GROW(waiting, capacity, still->waiting_count + 1);
		waiting[still->waiting_count++] = tid;
	}
	if (d)
		closedir(d);
	still->waiting = waiting;
	still->all = still->waiting_count && !others;
	still->catches = catches_signals(pid);
}

/* A look costs as much as a prediction, so there must be a reason: nobody is left who could
 * serve the others, or somebody waits for a lock. */
static bool is_worth_a_look(struct record_watch *w, const struct record_still *still)
{
	return still->all || record_collector_has_request(w->collector);
}

static void silence(void *context, enum rd_level level, const char *message)
{
	(void)context;
	(void)level;
	(void)message;
}

static void start_look(struct record_watch *w, const struct record_still *still)
{
	record_collector_show(w->collector);
	w->looker = fork();
	if (w->looker != 0)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGCHLD, SIG_DFL);
	signal(SIGALRM, SIG_DFL);
	alarm(LOOK_SECONDS);
	rd_log_set(silence, NULL);
	_exit(w->stands(w->context, still) ? STANDS : 0);
}

static void consider(struct record_watch *w, pid_t pid)
{
	struct record_still still = {.alone = record_collector_alive(w->collector) == 0};

	look_at_threads(pid, &still);
	if (is_worth_a_look(w, &still))
		start_look(w, &still);
	free((void *)still.waiting);
}

/* The look is over. */
static void conclude(struct record_watch *w, pid_t pid, int status)
{
	uint64_t sequence = atomic_load(&w->session->shared->sequence);

	w->looker = 0;
	if (!WIFEXITED(status) || WEXITSTATUS(status) != STANDS || sequence != w->sequence)
		return;
	w->stood = true;
	record_collector_stood(w->collector);
	kill(pid, SIGKILL);
}

void record_watch_look(void *watch, pid_t pid)
{
	struct record_watch *w = watch;
	uint64_t sequence = atomic_load(&w->session->shared->sequence);
	int64_t now = rd_now_ns();
	int status;

	if (w->stood)
		return;
	if (w->looker > 0) {
		if (waitpid(w->looker, &status, WNOHANG) == w->looker)
			conclude(w, pid, status);
		return;
	}
	if (sequence != w->sequence || !w->moved_ns) {
		w->sequence = sequence;
		w->moved_ns = now;
		w->next_ns = now + SILENT_NS;
	} else if (now >= w->next_ns) {
		w->next_ns = now + (now - w->moved_ns);
		consider(w, pid);
	}
}

void record_watch_close(struct record_watch *w)
{
	if (w->looker <= 0)
		return;
	kill(w->looker, SIGKILL);
	while (waitpid(w->looker, NULL, 0) < 0 && errno == EINTR)
		;
	w->looker = 0;
}
