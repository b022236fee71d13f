// SPDX-License-Identifier: Apache-2.0
/* The agent.  Its loop runs ten times a second until the program ends. */
#include "site/agent.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/process.h"
#include "run/forward.h"
#include "run/proc.h"
#include "site/agent-int.h"
#include "site/track-int.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* All these numbers were set by hand.  Larger ones cost the program more, and smaller ones show
 * fewer races. */
enum {
	TICK_MS = 100, /* guards are active for one tick each second, which bounds their cost */
	/* The number of milliseconds after which guards that are called often have used up the
	 * calls of a tick. */
	SETTLE_MS = 5,
	/* At the start, guards are active for this much CPU time, so that even a short run yields
	 * reports. */
	FIRST_AWAKE_MS = 200,
	FIRST_OBSERVED = 64, /* number of accesses of a guard that are observed at the start */
	/* number of accesses of a guard that are observed in each later second */
	OBSERVED = 8,
	/* The maximum pause time that is saved up while no thread is paused.  Each second adds
	 * PAUSE_PER_SECOND_US. */
	PAUSE_BUCKET_US = 200000,
	PAUSE_PER_SECOND_US = 1000,
	/* The maximum number of calls that guards make to the runtime in the first tick.  This
	 * cost is paid only once. */
	FIRST_CALLS = 16384,
	CALLS = 2000,	     /* maximum number of such calls in each later tick */
	FIRST_TAU_US = 1000, /* the shortest pause that a hive requests */
	/* A thread skips a random number of accesses before it is paused.  The upper limit of this
	 * number is also random; it is a power of two, at most 2 to the MAX_SKIP. */
	MAX_SKIP = 10,
	STILL_SECONDS = 5, /* a program whose threads all wait for this long is considered to hang */
};

/* ---- signals ---- */

/* Call this after the program was started (`pid` is 0 if that failed).  Forwards the agent's
 * signals to the program.  SIGPIPE is ignored, so that the agent survives if the hive closes its
 * connection. */
static void handle_signals(pid_t pid)
{
	if (pid > 0)
		run_forward_start(pid, false);
	signal(SIGPIPE, SIG_IGN);
}

static void restore_signals(void)
{
	run_forward_stop();
	signal(SIGPIPE, SIG_DFL);
}

/* ---- what is allowed ---- */

static bool is_switched_off(const struct site_opts *opts)
{
	const char *off = getenv(RADDLE_GUARD_OFF);
	return (off != NULL && off[0] != '\0' && strcmp(off, "0") != 0) ||
	       (opts->kill_file != NULL && access(opts->kill_file, F_OK) == 0);
}

/* ---- tasks ---- */

static const struct guard_candidate *find_candidate(const struct site_agent *a, const char *id,
						    uint32_t *number)
{
	for (size_t i = 0; i < a->table.count; i++)
		if (strcmp(a->table.candidates[i].id, id) == 0) {
			*number = (uint32_t)i;
			return &a->table.candidates[i];
		}
	return NULL;
}

static enum protocol_mode mode_now(const struct site_agent *a)
{
	enum protocol_mode mode = a->opts->mode < a->set.state ? a->opts->mode : a->set.state;
	return a->killed || !a->has_set || (uint64_t)time(NULL) >= a->set.expires ? PROTOCOL_OFF : mode;
}

/* Returns how many accesses to skip before a thread is stopped.  The first pause is at the first
 * access, which may be the only one.  If that pause showed nothing, the hive requests longer ones.
 * A third of these are at the first access again.  A third are later, after loops have begun.  The
 * last third are only at an address that the other thread has accessed too. */
static uint32_t draw_skip(const struct protocol_task *task)
{
	uint32_t random = 0;
	if (task->tau_us == 0)
		return RADDLE_GUARD_SHARED_ONLY;
	if (task->tau_us <= FIRST_TAU_US || getrandom(&random, sizeof random, 0) != sizeof random)
		return 0;
	switch (random % 3) {
	case 0: return 0;
	case 1: return (random >> 8) % (2u << (random >> 4) % MAX_SKIP);
	default: return RADDLE_GUARD_SHARED_ONLY;
	}
}

/* Passes the task of the set to the program. */
static void give_tasks(struct site_agent *a)
{
	uint32_t cap = a->opts->max_tau_ms * 1000;
	RD_ASSERT(a->task_count == 0);
	for (size_t i = 0; i < a->set.count; i++) {
		const struct protocol_task *task = &a->set.tasks[i];
		struct agent_task *t = &a->tasks[a->task_count];
		struct site_order order = {.order = task->order, .skip = draw_skip(task)};
		if (task->mode != PROTOCOL_VALIDATE || !find_candidate(a, task->candidate, &order.candidate))
			continue;
		bool known = strcmp(a->memory.task, task->id) == 0;
		if (!known)
			a->memory = (struct site_memory){0};
		snprintf(a->memory.task, sizeof a->memory.task, "%s", task->id);
		order.tau_us = a->memory.steered ? 0 : task->tau_us < cap ? task->tau_us : cap;
		*t = (struct agent_task){
			.task = *task, .candidate = order.candidate, .capped = task->tau_us > cap};
		t->generation = site_session_give(&a->session, &order);
		if (t->generation != 0)
			a->task_count++;
		break; /* one at a time: the hive assigns the next task when this one is over */
	}
}

/* Applies a change of the task, or of the allowed mode. */
static void update_task(struct site_agent *a)
{
	enum protocol_mode mode = mode_now(a);
	const char *wanted = a->set.count != 0 ? a->set.tasks[0].id : "";
	RD_ASSERT(mode <= a->opts->mode); /* the hive cannot request more than the site allows */
	if (mode == a->mode && strcmp(wanted, a->current_task) == 0)
		return;
	agent_finish_tasks(a, false);
	site_session_quiet(&a->session);
	a->mode = mode;
	snprintf(a->current_task, sizeof a->current_task, "%s", wanted);
	a->task_count = 0;
	if (mode >= PROTOCOL_OBSERVE)
		site_session_observe(&a->session, FIRST_OBSERVED);
	if (mode >= PROTOCOL_VALIDATE)
		give_tasks(a);
}

/* ---- the loop ---- */

static void refill(struct site_agent *a)
{
	int64_t left = atomic_load(&a->session.shared->pause_us);
	if (left + PAUSE_PER_SECOND_US <= PAUSE_BUCKET_US)
		atomic_fetch_add(&a->session.shared->pause_us, PAUSE_PER_SECOND_US);
}

/* Reports a hang if all threads of the program wait for each other forever, and a race was seen or
 * caused before. */
static void look_for_hang(struct site_agent *a)
{
	struct run_still still = {.alone = true};
	bool raced = false;
	for (size_t i = 0; i < a->task_count; i++)
		raced |= a->tasks[i].raced != 0;
	if (!raced || a->hung)
		return;
	run_still_look(a->pid, &still);
	a->still_seconds = run_still_forever(&still) ? a->still_seconds + 1 : 0;
	run_still_release(&still);
	if (a->still_seconds < STILL_SECONDS)
		return;
	a->hung = true;
	agent_consequence(a, "hang", 0);
}

static void each_second(struct site_agent *a)
{
	a->killed = is_switched_off(a->opts);
	refill(a);
	update_task(a);
	if (a->mode >= PROTOCOL_OBSERVE)
		site_session_observe(&a->session, OBSERVED);
	agent_contexts(a);
	look_for_hang(a);
}

static bool has_just_begun(const struct site_agent *a)
{
	struct timespec used;
	clockid_t clock;
	if (clock_getcpuclockid(a->pid, &clock) || clock_gettime(clock, &used))
		return false;
	return used.tv_sec == 0 && used.tv_nsec < FIRST_AWAKE_MS * 1000000L;
}

/* When the loop takes its next actions, in nanoseconds. */
struct site_schedule {
	int64_t second, asleep, renewal;
};

/* Activates or deactivates guards.  They are active only part of the time, which limits their
 * cost.  But they stay active while an access is tracked or a thread is stopped.  Returns the
 * number of milliseconds until the next decision. */
static int wake_or_rest(struct site_agent *a, struct site_schedule *s, int64_t now)
{
	if (now >= s->asleep && !has_just_begun(a) && !site_session_is_busy(&a->session)) {
		site_session_rest(&a->session);
		return TICK_MS;
	}
	if (now >= s->renewal) {
		site_session_wake(&a->session, s->renewal == 0 ? FIRST_CALLS : CALLS);
		s->renewal = now + (int64_t)TICK_MS * RD_NS_PER_MS;
		return SETTLE_MS;
	}
	site_session_settle(&a->session);
	RD_ASSERT(s->renewal > now && s->renewal - now <= (int64_t)TICK_MS * RD_NS_PER_MS);
	return (int)((s->renewal - now) / RD_NS_PER_MS) + 1;
}

static void watch(struct site_agent *a)
{
	int fd = (int)syscall(SYS_pidfd_open, a->pid, 0);
	struct site_schedule s = {rd_now_ns(), 0, 0};
	while (waitpid(a->pid, &a->status, WNOHANG) == 0) {
		int64_t now = rd_now_ns();
		site_session_beat(&a->session);
		agent_collect(a);
		if (now >= s.second) {
			each_second(a);
			s = (struct site_schedule){now + INT64_C(1000) * RD_NS_PER_MS,
						   now + (int64_t)TICK_MS * RD_NS_PER_MS,
						   s.renewal == 0 ? 0 : now};
		}
		agent_talk(a, wake_or_rest(a, &s, now), fd);
	}
	if (fd >= 0)
		close(fd);
}

/* With --verbose, prints one line about the work of the guards. */
static void log_work(const struct site_agent *a)
{
	const struct raddle_guard *s = a->session.shared;
	struct rusage usage = {0};
	if (!a->opts->verbose || getrusage(RUSAGE_CHILDREN, &usage))
		return;
	rd_info("site: program %ld.%03ld s user, %ld.%03ld s system; its guards called the runtime %llu "
		"times, tracked %u accesses (%u until time ran out), stopped threads %u times (%llu us in "
		"total) and had %u hits of watchpoints; %u reports were lost",
		(long)usage.ru_utime.tv_sec, (long)usage.ru_utime.tv_usec / 1000, (long)usage.ru_stime.tv_sec,
		(long)usage.ru_stime.tv_usec / 1000, (unsigned long long)atomic_load(&s->calls),
		atomic_load(&s->tracked), atomic_load(&s->abandoned), atomic_load(&s->pauses),
		(unsigned long long)atomic_load(&s->paused_us), atomic_load(&s->hits),
		atomic_load(&s->dropped));
}

/* With --ask, asks after Ctrl-C whether the program had failed. */
static bool user_reports_failure(const struct site_agent *a)
{
	char answer[16] = "";
	if (!a->opts->ask || !WIFSIGNALED(a->status) || WTERMSIG(a->status) != SIGINT || a->task_count == 0)
		return false;
	FILE *terminal = fopen("/dev/tty", "r+");
	if (terminal == NULL)
		return false;
	fputs("raddle: a race in this program was being examined. Did it fail to do what you expected? "
	      "[y/N] ",
	      terminal);
	fflush(terminal);
	bool yes = fgets(answer, sizeof answer, terminal) != NULL && (answer[0] == 'y' || answer[0] == 'Y');
	fclose(terminal);
	return yes;
}

static void report_end(struct site_agent *a)
{
	int number = WIFSIGNALED(a->status) ? WTERMSIG(a->status) : 0;
	agent_collect(a);
	if (number == SIGSEGV || number == SIGBUS || number == SIGILL || number == SIGFPE)
		agent_consequence(a, "crash", number);
	else if (number == SIGABRT)
		agent_consequence(a, "assertion", number);
	else if (user_reports_failure(a))
		agent_consequence(a, "user", number);
	if (a->mode >= PROTOCOL_OBSERVE)
		agent_contexts(a);
	agent_finish_tasks(a, true);
}

/* ---- the run of an agent ---- */

static void new_run(struct site_agent *a)
{
	uint64_t random = 0;
	if (getrandom(&random, sizeof random, 0) != sizeof random)
		random = (uint64_t)rd_now_ns();
	snprintf(a->run, sizeof a->run, "%016llx", (unsigned long long)random);
}

/* Returns the path of the program's guard flavour, or NULL if there is none.  It is either the
 * program itself, or a flavour that is made and cached. */
static char *find_guarded(const struct site_opts *opts, const char *path)
{
	struct rd_flavour flavour;
	if (guard_table_is_in(path))
		return rd_xstrdup(path);
	if (guard_build(path, opts->verbose, &flavour))
		return NULL;
	char *executable = rd_xstrdup(flavour.executable);
	rd_flavour_release(&flavour);
	return executable;
}

static int run_plain(const char *path, char *const *argv)
{
	pid_t pid;
	int status = 0;
	int err = site_start(NULL, path, argv, &pid);
	if (err)
		return err;
	handle_signals(pid);
	if (!rd_reap(pid, &status))
		err = rd_fail_errno("cannot wait for %s", path);
	restore_signals();
	return err ? err : status;
}

/* Prepares a tracked run if the task requests one.  A failure is explained by whole runs, so a
 * tracked run has no guards. */
static struct site_tracking *find_tracking(const struct site_agent *a, const char *path)
{
	const struct protocol_task *task = a->set.count != 0 ? &a->set.tasks[0] : NULL;
	return a->mode >= PROTOCOL_OBSERVE && task != NULL && task->track
		       ? site_tracking_open(path, task, a->opts->verbose)
		       : NULL;
}

static int start(struct site_agent *a, const struct site_tracking *tracking, char *const *argv)
{
	if (tracking == NULL)
		return site_start(&a->session, a->executable, argv, &a->pid);
	struct site_given given = site_tracking_given(tracking);
	given.inherited = a->session.inherited;
	return site_start_with(&given, site_tracking_executable(tracking), argv, &a->pid);
}

static int run_guarded(struct site_agent *a, const char *path, char *const *argv)
{
	new_run(a);
	atomic_store(&a->session.shared->pause_us, PAUSE_BUCKET_US);
	atomic_store(&a->session.shared->watch, a->opts->mode == PROTOCOL_VALIDATE);
	agent_begin(a);
	update_task(a);
	struct site_tracking *tracking = find_tracking(a, path);
	int err = start(a, tracking, argv);
	handle_signals(err ? 0 : a->pid);
	if (!err) {
		watch(a);
		log_work(a);
		report_end(a);
	}
	if (!err && tracking != NULL && !a->killed && a->lines.length <= SITE_SPOOL_MAX / 2)
		site_tracking_report(tracking, a->status, a->run, a->opts->values, &a->lines);
	site_tracking_close(tracking);
	run_forward_gone();
	agent_end(a);
	restore_signals();
	return err ? err : a->status;
}

int site_run(const struct site_opts *opts, char *const *argv)
{
	struct site_agent a = {.opts = opts, .lines = RD_BUF_INIT};
	struct site_inherited inherited;
	site_inherited_look(&inherited);
	char *path = rd_find_program(argv[0]);
	if (path == NULL)
		return rd_fail(RD_ENOTFOUND, "%s: there is no such program", argv[0]);
	if (opts->mode == PROTOCOL_OFF || is_switched_off(opts)) {
		int off = run_plain(path, argv);
		free(path);
		return off;
	}
	a.executable = find_guarded(opts, path);
	int status;
	if (a.executable == NULL || guard_table_read(&a.table, a.executable) ||
	    site_session_open(&a.session, &a.table) ||
	    site_state_open(&a.state, opts->state_dir, opts->hive, a.table.build)) {
		rd_warn("%s is run without guards", argv[0]);
		status = run_plain(path, argv);
	} else {
		a.session.inherited = &inherited;
		status = run_guarded(&a, path, argv);
	}
	site_state_release(&a.state);
	site_session_close(&a.session);
	guard_table_release(&a.table);
	RD_FREE(a.executable, path);
	return status;
}
