// SPDX-License-Identifier: Apache-2.0
/*
 * Reads the files in /proc/PID and extracts numbers from their text.  The kernel writes the text,
 * but the names of programs and files in it may contain anything.
 */
#include "run/proc.h"

#include "base/alloc.h"
#include "base/error.h"
#include "run/own.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <sys/uio.h>
#include <unistd.h>

/* Bytes to read of a file in /proc; the files that are read here are shorter. */
#define TEXT_SIZE 4096
/* The largest number of ancestors to visit.  Chosen by hand.  Without a limit, the walk might never
 * end, because parents may change while it runs. */
#define ANCESTORS_MAX 64

/* The signals 32 and 33, which glibc reserves for cancellation and setuid().  Signal n is bit n -
 * 1. Higher signals, from SIGRTMIN on, belong to the program. */
#define LIBC_SIGNALS (3ull << 31)
/* Signals for synchronous faults.  They do not end a wait, and the runtime has handlers for
 * them. */
#define FAULT_SIGNALS                                                                                        \
	(BIT_OF(SIGSEGV) | BIT_OF(SIGBUS) | BIT_OF(SIGFPE) | BIT_OF(SIGILL) | BIT_OF(SIGABRT) |              \
	 BIT_OF(SIGSYS))
#define BIT_OF(signal) (1ull << ((signal)-1))

static size_t read_text(const char *path, char text[TEXT_SIZE])
{
	FILE *in = fopen(path, "re");
	size_t length = 0;

	if (in) {
		length = fread(text, 1, TEXT_SIZE - 1, in);
		fclose(in);
	}
	text[length] = '\0';
	return length;
}

static size_t read_task(pid_t pid, pid_t tid, const char *file, char text[TEXT_SIZE])
{
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/task/%d/%s", (int)pid, (int)tid, file);
	return read_text(path, text);
}

static size_t read_process(pid_t pid, const char *file, char text[TEXT_SIZE])
{
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, file);
	return read_text(path, text);
}

/* ---- threads ---- */

bool run_task_read(pid_t pid, pid_t tid, struct run_task *task)
{
	char text[TEXT_SIZE];
	const char *behind_name = read_task(pid, tid, "stat", text) ? strrchr(text, ')') : NULL;

	*task = (struct run_task){0};
	return behind_name &&
	       sscanf(behind_name, ") %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %" SCNu64 " %" SCNu64,
		      &task->state, &task->user, &task->system) == 3;
}

uint64_t run_task_switches(pid_t pid, pid_t tid)
{
	uint64_t own = 0, forced = 0;
	char text[TEXT_SIZE];
	const char *at =
		read_task(pid, tid, "status", text) ? strstr(text, "\nvoluntary_ctxt_switches:") : NULL;

	if (at)
		sscanf(at, "\nvoluntary_ctxt_switches: %" SCNu64 " nonvoluntary_ctxt_switches: %" SCNu64,
		       &own, &forced);
	return own + forced;
}

/* Parses "number arguments stack code", "-1 stack code" or "running". */
bool run_task_call(pid_t pid, pid_t tid, struct run_call *c)
{
	char text[TEXT_SIZE];
	uint64_t *a = c->argument;
	size_t length = read_task(pid, tid, "syscall", text);
	int n = sscanf(text,
		       "%ld %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64 " %" SCNx64,
		       &c->number, &a[0], &a[1], &a[2], &a[3], &a[4], &a[5], &c->stack);

	c->running = length && !strncmp(text, "running", 7);
	if (n == 3 && c->number == -1) {
		c->stack = a[0];
		memset(a, 0, sizeof c->argument);
		return true;
	}
	return n == 8;
}

/* The arguments of a futex wait without a time limit. */
struct futex {
	uint64_t word, op, value;
};

static bool waits_with(pid_t pid, pid_t tid, struct futex *f)
{
	struct run_call call;

	if (!run_task_call(pid, tid, &call) || call.number != SYS_futex || call.argument[3])
		return false;
	*f = (struct futex){call.argument[0], call.argument[1], call.argument[2]};
	switch (f->op & FUTEX_CMD_MASK) {
	case FUTEX_WAIT:
	case FUTEX_WAIT_BITSET:
	case FUTEX_LOCK_PI:
	case FUTEX_LOCK_PI2:
	case FUTEX_WAIT_REQUEUE_PI: return true;
	default: return false;
	}
}

/* Returns true if only a thread of the process can wake the waiter.  This is also the case if the
 * waiter joins a thread.  It then waits on a shared futex, whose word is the ID of that thread
 * until the kernel clears it. */
static bool is_own(pid_t pid, const struct futex *f)
{
	struct run_task task;

	return f->op & FUTEX_PRIVATE_FLAG || run_task_read(pid, (pid_t)f->value, &task);
}

bool run_task_in_io(pid_t pid, pid_t tid)
{
	struct run_call call;

	return run_task_call(pid, tid, &call) && call.number >= 0 && call.number != SYS_futex &&
	       call.number != SYS_sched_yield && call.number != SYS_nanosleep &&
	       call.number != SYS_clock_nanosleep;
}

/* ---- processes ---- */

bool run_process_read(pid_t pid, struct run_process *process)
{
	char text[TEXT_SIZE];
	const char *threads, *caught;
	uint64_t mask = 0;

	*process = (struct run_process){.catches = true};
	if (!read_process(pid, "status", text))
		return false;
	threads = strstr(text, "\nThreads:");
	caught = strstr(text, "\nSigCgt:");
	if (!threads || !caught || sscanf(threads, "\nThreads: %zu", &process->threads) != 1 ||
	    sscanf(caught, "\nSigCgt: %" SCNx64, &mask) != 1)
		return false;
	process->catches = (mask & ~(LIBC_SIGNALS | FAULT_SIGNALS)) != 0;
	return true;
}

static pid_t parent_of(pid_t pid)
{
	char text[TEXT_SIZE];
	const char *behind_name = read_process(pid, "stat", text) ? strrchr(text, ')') : NULL;
	int parent = 0;

	return behind_name && sscanf(behind_name, ") %*c %d", &parent) == 1 ? parent : 0;
}

bool run_process_descends(pid_t pid, pid_t ancestor)
{
	for (int i = 0; i < ANCESTORS_MAX && pid > 1; i++) {
		pid = parent_of(pid);
		if (pid == ancestor)
			return true;
	}
	return false;
}

/* Calls `take` for each thread. */
static void visit_tasks(pid_t pid, void (*take)(void *context, pid_t tid), void *context)
{
	const struct dirent *entry;
	char path[64];
	DIR *d;

	snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
	d = opendir(path);
	while (d && (entry = readdir(d)))
		if (entry->d_name[0] != '.')
			take(context, atoi(entry->d_name));
	if (d)
		closedir(d);
}

/* Counts the threads whose state is one of `letters` or, if `among` is false, is none of them. */
struct states {
	pid_t pid;
	const char *letters;
	bool among;
	size_t count;
};

static void count_state(void *context, pid_t tid)
{
	struct states *s = context;
	struct run_task task;

	s->count += run_task_read(s->pid, tid, &task) && !strchr(s->letters, task.state) != s->among;
}

bool run_process_is_asleep(pid_t pid)
{
	struct states s = {.pid = pid, .letters = "RD", .among = true};

	visit_tasks(pid, count_state, &s);
	return !s.count;
}

size_t run_process_awake(pid_t pid)
{
	struct states s = {.pid = pid, .letters = "SIZX"};

	visit_tasks(pid, count_state, &s);
	return s.count;
}

struct delays {
	pid_t pid;
	int64_t ns;
};

static void add_delay(void *context, pid_t tid)
{
	struct delays *d = context;
	int64_t ran, delay;
	char path[64];
	FILE *in;

	snprintf(path, sizeof path, "/proc/%d/task/%d/schedstat", (int)d->pid, (int)tid);
	in = fopen(path, "re");
	if (in && fscanf(in, "%" SCNd64 " %" SCNd64, &ran, &delay) == 2)
		d->ns += delay;
	if (in)
		fclose(in);
}

int64_t run_process_delay_ns(pid_t pid)
{
	struct delays d = {.pid = pid};

	visit_tasks(pid, add_delay, &d);
	return d.ns;
}

int64_t run_process_cpu_ns(pid_t pid)
{
	struct timespec t;
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &t))
		return 0;
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

bool run_process_mappings(pid_t pid, bool (*take)(void *context, const struct run_mapping *mapping),
			  void *context)
{
	RD_ASSERT(pid > 0 && take != NULL);
	struct run_mapping m;
	char path[64], line[TEXT_SIZE + 256], rights[8];
	bool taken = false;
	int at;
	FILE *in;

	snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
	in = fopen(path, "re");
	while (in && !taken && fgets(line, sizeof line, in)) {
		line[strcspn(line, "\n")] = '\0';
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %*s %n", &m.start, &m.end,
			   rights, &m.offset, &at) != 4)
			continue;
		m.code = strchr(rights, 'x');
		m.name = line + at;
		taken = take(context, &m);
	}
	if (in)
		fclose(in);
	return taken;
}

bool run_process_peek(pid_t pid, uint64_t address, void *to, size_t size)
{
	struct iovec here = {to, size}, there = {(void *)(uintptr_t)address, size}; /* NOLINT: not ours */

	return process_vm_readv(pid, &here, 1, &there, 1, 0) == (ssize_t)size;
}

/* ---- stillness ---- */

struct look {
	pid_t pid;
	struct run_still *still;
	size_t others;
};

/* Examines a thread.  An initial thread that has called pthread_exit() remains as a zombie. */
static void look_at_task(void *context, pid_t tid)
{
	struct look *l = context;
	struct run_still *s = l->still;
	struct run_task task;
	struct futex f;

	if (!run_task_read(l->pid, tid, &task) || strchr("ZX", task.state))
		return;
	if (waits_with(l->pid, tid, &f)) {
		s->shared = s->shared || !is_own(l->pid, &f);
	} else if (task.state != 'S' || !run_waits_for_own(l->pid, tid)) {
		l->others++;
		return;
	}
	RD_GROW(s->waiting, s->capacity, s->waiting_count + 1);
	s->waiting[s->waiting_count++] = tid;
}

void run_still_look(pid_t pid, struct run_still *still)
{
	RD_ASSERT(still->waiting_count == 0);
	struct look l = {.pid = pid, .still = still};
	struct run_process process;

	visit_tasks(pid, look_at_task, &l);
	run_process_read(pid, &process);
	still->all = still->waiting_count && !l.others;
	still->catches = process.catches;
}

void run_still_release(struct run_still *still)
{
	free(still->waiting);
	*still = (struct run_still){0};
}

bool run_still_forever(const struct run_still *still)
{
	return still->all && !still->catches && still->alone;
}
