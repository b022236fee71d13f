// SPDX-License-Identifier: Apache-2.0
/*
 * The pool of workers, each with a socket pair.  The leader writes a task, which is eight bytes,
 * followed by the text of `brief` if that is set.  The worker writes the length of the answer and
 * then the answer.  End of file means that the other side has ended.  Both sides are Raddle, so
 * lengths are trusted.
 */
#include "base/pool.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/process.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* The number of milliseconds between two checks of the time and of signals.  Users do not notice
 * such a delay. */
#define LOOK_MS 100
#define EXIT_BROKEN 125 /* the exit status of a worker that cannot communicate with the leader */

struct worker {
	pid_t pid; /* 0 if the worker has not been started */
	int fd;
	bool busy;
	uint64_t task;
};

struct rd_pool {
	struct rd_pool_opts opts;
	struct worker *workers;
	struct pollfd *polled;
	unsigned busy, after; /* `after` is the worker whose event was returned last */
	struct rd_buf answer;
};

void rd_pool_open(struct rd_pool **result, const struct rd_pool_opts *opts)
{
	struct rd_pool *p = rd_xcalloc(1, sizeof *p);

	RD_ASSERT(opts->workers > 0 && opts->work);
	p->opts = *opts;
	p->workers = rd_xcalloc(opts->workers, sizeof *p->workers);
	p->polled = rd_xcalloc(opts->workers, sizeof *p->polled);
	p->answer = (struct rd_buf)RD_BUF_INIT;
	*result = p;
}

unsigned rd_pool_busy(const struct rd_pool *p)
{
	return p->busy;
}

static bool has_group(const struct rd_pool *p)
{
	return p->opts.fresh || p->opts.group;
}

bool rd_pool_has_room(const struct rd_pool *p)
{
	return p->busy < p->opts.workers;
}

/* ---- the stream ---- */

/* Reads exactly `length` bytes.  Returns false at end of file. */
static bool read_all(int fd, void *data, size_t length)
{
	for (size_t got = 0; got < length;) {
		ssize_t n = read(fd, (char *)data + got, length - got);

		if (n == 0 || (n < 0 && errno != EINTR))
			return false;
		got += n > 0 ? (size_t)n : 0;
	}
	return true;
}

static bool send_all(int fd, const void *data, size_t length)
{
	for (size_t sent = 0; sent < length;) {
		ssize_t n = send(fd, (const char *)data + sent, length - sent, MSG_NOSIGNAL);

		if (n < 0 && errno != EINTR)
			return false;
		sent += n > 0 ? (size_t)n : 0;
	}
	return true;
}

/* Texts are preceded by their length. */
static bool read_text(int fd, struct rd_buf *text)
{
	uint64_t length;

	rd_buf_clear(text);
	if (!read_all(fd, &length, sizeof length))
		return false;
	rd_buf_reserve(text, length + 1);
	if (!read_all(fd, text->data, length))
		return false;
	text->length = length;
	text->data[length] = '\0';
	return true;
}

static bool send_text(int fd, const struct rd_buf *text)
{
	uint64_t length = text->length;

	return send_all(fd, &length, sizeof length) && send_all(fd, text->data, length);
}

/* ---- the worker ---- */

/* Reads a task and passes the text that comes with it to `learn`.  Returns false at end of file. */
static bool read_task(struct rd_pool *p, int fd, uint64_t *task)
{
	struct rd_buf text = RD_BUF_INIT;
	bool whole = read_all(fd, task, sizeof *task);

	if (!whole || !p->opts.brief)
		return whole;
	whole = read_text(fd, &text);
	if (whole && text.length)
		p->opts.learn(p->opts.context, text.data, text.length);
	rd_buf_release(&text);
	return whole;
}

static _Noreturn void run_worker(struct rd_pool *p, unsigned slot, int fd)
{
	struct rd_buf answer = RD_BUF_INIT;
	uint64_t task;
	int status = 0;

	if (p->opts.signals)
		rd_interrupt_end(p->opts.signals);
	if (p->opts.enter)
		p->opts.enter(p->opts.context, slot);
	while (!status && read_task(p, fd, &task)) {
		rd_buf_clear(&answer);
		status = p->opts.work(p->opts.context, task, &answer);
		if (!status && !send_text(fd, &answer))
			status = EXIT_BROKEN;
	}
	if (p->opts.leave)
		p->opts.leave(p->opts.context);
	_exit(status);
}

/* Runs in the new process.  Closes the other workers' sockets, because an inherited copy would keep
 * those workers from reaching end of file. */
static _Noreturn void enter_worker(struct rd_pool *p, unsigned slot, int fd, pid_t leader)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != leader)
		_exit(EXIT_BROKEN);
	if (has_group(p))
		setpgid(0, 0);
	for (unsigned i = 0; i < p->opts.workers; i++)
		if (p->workers[i].pid)
			close(p->workers[i].fd);
	run_worker(p, slot, fd);
}

static int start_worker(struct rd_pool *p, unsigned slot)
{
	struct worker *w = &p->workers[slot];
	pid_t leader = getpid(), pid;
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return rd_fail_errno("cannot create a socket for a process");
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		close(ends[0]);
		enter_worker(p, slot, ends[1], leader);
	}
	close(ends[1]);
	if (pid < 0) {
		close(ends[0]);
		return rd_fail_errno("cannot start a process");
	}
	if (has_group(p))
		setpgid(pid, pid);
	*w = (struct worker){.pid = pid, .fd = ends[0]};
	return RD_OK;
}

/* ---- the leader ---- */

/* Ends a worker and returns its wait status.  If `kill_it` is false, waits until the worker ends by
 * itself. */
static int end_worker(struct rd_pool *p, struct worker *w, bool kill_it)
{
	int status = 0;

	if (kill_it && has_group(p))
		kill(-w->pid, SIGKILL);
	if (kill_it)
		kill(w->pid, SIGKILL);
	close(w->fd);
	rd_reap(w->pid, &status);
	if (has_group(p))
		kill(-w->pid, SIGKILL); /* also kills the processes that the worker started */
	p->busy -= w->busy;
	*w = (struct worker){0};
	return status;
}

/* Returns the number of an idle worker or a free slot, or `workers` if there is neither. */
static unsigned find_slot(const struct rd_pool *p)
{
	unsigned free = p->opts.workers;

	for (unsigned i = 0; i < p->opts.workers; i++) {
		if (p->workers[i].pid && !p->workers[i].busy)
			return i;
		if (!p->workers[i].pid && free == p->opts.workers)
			free = i;
	}
	return free;
}

/* Sends a task to a worker.  If the worker has already died, the leader later gets an event that
 * the task is lost. */
static void send_task(struct rd_pool *p, unsigned slot, uint64_t task, bool started)
{
	struct rd_buf text = RD_BUF_INIT;
	int fd = p->workers[slot].fd;

	if (p->opts.brief)
		p->opts.brief(p->opts.context, slot, started, &text);
	if (send_all(fd, &task, sizeof task) && p->opts.brief)
		send_text(fd, &text);
	rd_buf_release(&text);
}

int rd_pool_submit(struct rd_pool *p, uint64_t task)
{
	unsigned slot = find_slot(p);
	struct worker *w;
	bool started;
	int err = RD_OK;

	RD_ASSERT(slot < p->opts.workers);
	w = &p->workers[slot];
	started = !w->pid;
	if (started)
		err = start_worker(p, slot);
	if (err)
		return err;
	w->task = task;
	w->busy = true;
	p->busy++;
	send_task(p, slot, task, started);
	return RD_OK;
}

static void receive(struct rd_pool *p, struct worker *w, struct rd_pool_event *event)
{
	event->task = w->task;
	if (read_text(w->fd, &p->answer)) {
		event->what = RD_POOL_DONE;
		event->answer = p->answer.data;
		event->length = p->answer.length;
		p->busy--;
		w->busy = false;
		if (p->opts.fresh)
			end_worker(p, w, true);
	} else {
		event->what = RD_POOL_LOST;
		event->status = end_worker(p, w, false);
	}
}

/* Takes the events of the workers in turn (round robin), so that none is neglected. */
void rd_pool_next(struct rd_pool *p, int timeout_ms, struct rd_pool_event *event)
{
	unsigned count = p->opts.workers;

	*event = (struct rd_pool_event){.what = RD_POOL_IDLE};
	for (unsigned i = 0; i < count; i++)
		p->polled[i] =
			(struct pollfd){.fd = p->workers[i].busy ? p->workers[i].fd : -1, .events = POLLIN};
	if (poll(p->polled, count, timeout_ms) <= 0)
		return;
	for (unsigned i = 1; i <= count; i++) {
		unsigned slot = (p->after + i) % count;

		if (p->polled[slot].fd < 0 || !p->polled[slot].revents)
			continue;
		p->after = slot;
		receive(p, &p->workers[slot], event);
		return;
	}
}

int rd_pool_run(struct rd_pool *pool, const struct rd_pool_loop *loop, bool *interrupted)
{
	int timeout_ms = loop->is_over || loop->look || loop->signals ? LOOK_MS : -1;
	struct rd_pool_event event;
	int err = RD_OK;

	while (!err && !*interrupted && !(loop->is_over && loop->is_over(loop->context))) {
		err = loop->give(loop->context);
		if (err || !rd_pool_busy(pool))
			break;
		rd_pool_next(pool, timeout_ms, &event);
		if (event.what != RD_POOL_IDLE)
			err = loop->take(loop->context, &event);
		*interrupted = loop->signals && rd_interrupt_wait(loop->signals, 0) != 0;
		if (loop->look)
			loop->look(loop->context);
	}
	return err;
}

void rd_pool_stop(struct rd_pool *p)
{
	for (unsigned i = 0; i < p->opts.workers; i++)
		if (p->workers[i].pid)
			end_worker(p, &p->workers[i], p->workers[i].busy);
}

void rd_pool_close(struct rd_pool *p)
{
	for (unsigned i = 0; i < p->opts.workers; i++)
		if (p->workers[i].pid)
			end_worker(p, &p->workers[i], p->workers[i].busy);
	rd_buf_release(&p->answer);
	RD_FREE(p->workers, p->polled, p);
}
