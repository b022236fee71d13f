// SPDX-License-Identifier: Apache-2.0
/*
 * The watchdog.  It watches the session's sequence number, which every synchronisation operation
 * advances, and the states of the program's threads in /proc.  If the program hangs, the watchdog
 * kills it.
 *
 * Silence alone proves nothing: a program that computes, sleeps or waits for input may be silent
 * for hours.  Silence only starts an examination, called a look.  A look runs in its own process,
 * so that the collector keeps draining.  If the look finds that the threads can never be woken,
 * and the program has made no progress meanwhile, the program hangs.  The longer the silence
 * lasts, the rarer the looks become.
 */
#include "record/watch.h"

#include "base/clock.h"
#include "base/context.h"
#include "base/error.h"
#include "base/process.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* Nanoseconds without progress until the first look.  This is short enough for a user who waits,
 * and longer than most pauses. */
#define SILENT_NS 2000000000ll
/* A look that takes more seconds than this is cancelled, because the user is waiting.  Chosen by
 * hand. */
#define LOOK_SECONDS 120
#define STANDS 1 /* exit status of the looking process if it found a hang */

/* Returns true if there is a reason for a look, which costs as much as a prediction.  There is one
 * if no thread is left that could wake the others, or if some thread waits for a lock. */
static bool is_worth_a_look(struct record_watch *w, const struct run_still *still)
{
	return still->all || record_collector_has_request(w->collector);
}

/* Opens an empty memory file that both processes share. */
static bool open_answer(struct record_watch *w)
{
	int fd = w->file ? -1 : memfd_create("raddle-answer", MFD_CLOEXEC);

	if (fd >= 0 && !(w->file = fdopen(fd, "w+")))
		close(fd);
	if (!w->file || ftruncate(fileno(w->file), 0))
		return false;
	rewind(w->file); /* both processes share the file offset */
	return true;
}

static void start_look(struct record_watch *w, const struct run_still *still)
{
	struct rd_context quiet = {.log = rd_log_discard};

	if (!open_answer(w))
		return;
	record_collector_show(w->collector);
	w->looker = fork();
	if (w->looker != 0)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGCHLD, SIG_DFL);
	signal(SIGALRM, SIG_DFL);
	alarm(LOOK_SECONDS);
	rd_context_enter(&quiet);
	_exit(w->stands(w->directory, still, w->file) && !fflush(w->file) ? STANDS : 0);
}

static void consider(struct record_watch *w, pid_t pid)
{
	struct run_still still = {.alone = record_collector_alive(w->collector) == 0};

	run_still_look(pid, &still);
	if (is_worth_a_look(w, &still))
		start_look(w, &still);
	else
		rd_info("the program makes no progress, but no thread waits for a lock");
	run_still_release(&still);
}

static void read_answer(struct record_watch *w)
{
	char bytes[4096];
	size_t n;

	rewind(w->file);
	while ((n = fread(bytes, 1, sizeof bytes, w->file)) > 0)
		rd_buf_add(&w->answer, bytes, n);
}

/* Handles the end of a look. */
static void conclude(struct record_watch *w, pid_t pid, int status)
{
	uint64_t sequence = atomic_load(&w->session->shared->sequence);

	w->looker = 0;
	if (!WIFEXITED(status) || WEXITSTATUS(status) != STANDS || sequence != w->sequence) {
		rd_info("the program makes no progress, but a check shows that it can continue");
		return;
	}
	w->stood = true;
	read_answer(w);
	record_collector_set_hung(w->collector);
	kill(pid, SIGKILL);
}

void record_watch_look(void *watch, pid_t pid)
{
	RD_ASSERT(pid > 1);
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
	if (w->looker > 0) {
		kill(w->looker, SIGKILL);
		rd_reap(w->looker, NULL);
	}
	w->looker = 0;
	if (w->file)
		fclose(w->file);
	w->file = NULL;
}
