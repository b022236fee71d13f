// SPDX-License-Identifier: Apache-2.0
/*
 * The collector's loop.  It reads the buffers that the program's threads have sealed in shared
 * memory, and writes a trace directory for each process.  The program can write to that memory, so
 * nothing in it is trusted: indices, lengths and numbers are checked.
 *
 * Each step takes the whole stack of sealed buffers and reverses it, so that a thread's buffers
 * are in order.  It copies the buffers into the sinks and frees them.  Then it looks for new and
 * dead processes.  The first process is our child, so the collector waits for it; the others are
 * watched through a pidfd.  When a process has died, the collector takes its open buffers as they
 * are, and also the buffers that it sealed but did not push.
 *
 * When the disk is full, the session is stopped.  The error message is printed only after the
 * program has ended, because the program owns the terminal while it runs.
 */
#include "record/collector.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/context.h"
#include "base/error.h"
#include "base/memory.h"
#include "raddle/world.h"
#include "record/sink.h"
#include "run/proc.h"
#include "trace/decode.h"

#include <errno.h>
#include <linux/futex.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* The longest sleep in milliseconds, which is also the period of the heartbeat.  It is well below
 * RADDLE_HEARTBEAT_LIMIT_MS. */
#define STEP_MS 100
/* The longest wait, in milliseconds, for the pid of a forked process.  It is enough even on a busy
 * machine. */
#define NEWBORN_MS 2000
/* When the gathered records of all threads reach this many bytes, they are written.  This bounds
 * the collector's memory. */
#define PENDING_MAX (32u << 20)
/* The longest time, in nanoseconds, for which records are gathered before they are written.  A
 * reader of a live trace misses at most the records of this time. */
#define FLUSH_NS 2000000000ull
#define REST_GRACE_NS 2000000000ll /* nanoseconds from SIGTERM to SIGKILL for forked processes */
#define THREADS_MAX (1u << 20)	   /* a larger thread number means that the data is corrupt */

struct process {
	struct record_sink *sink;
	char *directory;
	/* Its strings are shared by all forked processes and the first one. */
	struct trace_meta meta;
	int pidfd; /* -1 if not open */
	pid_t pid;
	bool seen, dead;
};

struct record_collector {
	struct run_session *session;
	struct record_options options;
	struct process *processes[RADDLE_MAX_PROCESSES];
	uint32_t known; /* the number of entries of the process table that have been read */
	size_t alive;	/* number of forked processes that still run */
	uint64_t flushed_ns;
	/* True if some gathered records are due but not yet written to disk. */
	bool writes;
	uint64_t finished_bytes; /* number of bytes that closed sinks wrote */
	/* The first error message, or NULL.  It becomes `stopped` in meta.json. */
	char *message;
	/* If the program executed another program, a text that says so.  It also becomes `stopped`
	 * in meta.json.  Otherwise NULL. */
	char *replaced;
	struct trace_decoder decoder;
};

static void keep_message(void *context, enum rd_level level, const char *message)
{
	struct record_collector *c = context;

	if (level == RD_LOG_ERROR && !c->message)
		c->message = rd_xstrdup(message);
	else if (level > RD_LOG_WARN)
		rd_log_pass(level, message);
}

/* If `error` is set, stops recording.  The program continues, and meta.json states the reason. */
static void check_write(struct record_collector *c, int error)
{
	if (error)
		run_session_stop(c->session, RADDLE_STOP_WRITE);
}

/* Returns the reason why recording ended early, or NULL if it did not.  The collector owns the
 * text. */
static const char *record_collector_stopped(struct record_collector *c)
{
	enum raddle_stop_reason reason = atomic_load(&c->session->shared->stop_reason);

	if (reason == RADDLE_STOP_WRITE && c->message)
		return c->message;
	return run_stop_text(reason);
}

/* Returns the reason why the recording of one process ended early, or NULL if it did not.  One
 * such reason is that the program replaced itself by exec, because the new program is not
 * recorded. */
static const char *stopped_of(struct record_collector *c, uint32_t n)
{
	const char *why = record_collector_stopped(c);
	char successor[RADDLE_SUCCESSOR_SIZE];

	memcpy(successor, c->session->shared->successor, sizeof successor);
	successor[sizeof successor - 1] = 0;
	if (why || n || !*successor)
		return why;
	if (!c->replaced)
		c->replaced =
			rd_xasprintf("the program replaced itself with %s (exec), which is not recorded; "
				     "give Raddle that program instead",
				     successor);
	return c->replaced;
}

static bool stopped(const struct record_collector *c)
{
	return atomic_load(&c->session->shared->state) != RADDLE_RECORDING;
}

/* ---- processes ---- */

static struct process *add_process(struct record_collector *c, uint32_t n, const char *directory)
{
	RD_ASSERT(n < RADDLE_MAX_PROCESSES && !c->processes[n]);
	struct process *p = rd_xcalloc(1, sizeof *p);

	p->directory = rd_xstrdup(directory);
	p->meta = *c->options.meta;
	p->pidfd = -1;
	c->processes[n] = p;
	return p;
}

static void open_sink(struct record_collector *c, struct process *p)
{
	if (!p->sink && !p->dead && c->options.directory)
		check_write(c, record_sink_open(&p->sink, p->directory, &p->meta, c->options.sites));
	if (p->sink && c->options.layout)
		record_sink_full(p->sink, c->options.layout);
}

/* Returns the entry of a forked process, or NULL while its pid is unknown.  The parent's entry is
 * added first, because the collector may see a buffer of a grandchild before it knows of either
 * process. */
static struct process *find_process(struct record_collector *c, uint32_t n)
{
	const struct raddle_process *entry;
	struct process *p, *parent;
	char start[TRACE_TIME_SIZE];
	struct timespec now;
	char *directory;

	if (n >= RADDLE_MAX_PROCESSES)
		return NULL;
	if (c->processes[n])
		return c->processes[n];
	entry = &c->session->shared->processes[n];
	if (atomic_load(&entry->pid) <= 0 || entry->parent < 0 || (uint32_t)entry->parent >= n)
		return NULL;
	parent = find_process(c, (uint32_t)entry->parent);
	if (!parent)
		return NULL;
	directory = rd_xasprintf("%s/fork-%u", parent->directory, entry->fork_index);
	p = add_process(c, n, directory);
	free(directory);
	p->pid = atomic_load(&entry->pid);
	clock_gettime(CLOCK_REALTIME, &now);
	trace_meta_time(start, now.tv_sec * 1000000000ll + now.tv_nsec);
	p->meta.start = rd_xstrdup(start);
	p->meta.start_ns = (uint64_t)rd_now_ns();
	p->meta.pid = p->pid;
	p->meta.forked = true;
	p->meta.parent_pid = parent->pid;
	p->meta.fork_index = entry->fork_index;
	p->pidfd = (int)syscall(SYS_pidfd_open, p->pid, 0);
	c->alive++;
	open_sink(c, p);
	return p;
}

static bool has_died(const struct process *p)
{
	struct pollfd poll_fd = {.fd = p->pidfd, .events = POLLIN};

	if (p->pidfd >= 0)
		return poll(&poll_fd, 1, 0) > 0;
	return kill(p->pid, 0) && errno == ESRCH;
}

/* ---- buffers ---- */

static uint64_t count_events(struct record_collector *c, const void *records, size_t length)
{
	struct trace_event event;
	uint64_t count = 0;

	trace_decoder_start(&c->decoder, records, length);
	while (trace_decode(&c->decoder, &event) > 0)
		count++;
	return count;
}

static void copy_buffer(struct record_collector *c, const struct raddle_buffer *b, bool open)
{
	size_t used = atomic_load_explicit(&b->used, memory_order_acquire);
	struct process *p = find_process(c, b->process);
	uint32_t thread = b->thread & ~RADDLE_WORLD_BUFFER;
	bool world = b->thread & RADDLE_WORLD_BUFFER;
	uint64_t thin_q;

	/* The thread may have died while it was reserving more bytes than the buffer has left. */
	if (c->options.layout && used > sizeof b->data)
		used = sizeof b->data;
	if (!p || !used || used > sizeof b->data || thread >= THREADS_MAX)
		return;
	if (world) {
		if (p->sink)
			check_write(c, record_sink_add_world(p->sink, thread, b->data, used));
		return;
	}
	if (c->options.take)
		c->options.take(c->options.context, b->process, thread, b->data, used);
	if (!p->sink)
		return;
	thin_q = atomic_load(&c->session->shared->processes[b->process].thin_q);
	if (thin_q && !c->options.layout)
		record_sink_left_out(p->sink, b->left_out, thin_q);
	check_write(c,
		    record_sink_add(p->sink, thread, b->data, used,
				    open && !c->options.layout ? count_events(c, b->data, used) : b->events));
}

static void free_buffer(struct record_collector *c, uint32_t index)
{
	RD_ASSERT(index < c->session->buffers);
	struct raddle_session *s = c->session->shared;

	atomic_store_explicit(&raddle_buffer_at(s, index)->state, RADDLE_BUFFER_FREE, memory_order_release);
	raddle_stack_push(s, &s->free_head, index);
}

/* Wakes at most `count` threads that wait for a buffer.  Waking one for each freed buffer avoids a
 * thundering herd. */
static void wake_waiters(struct raddle_session *s, int32_t count)
{
	atomic_fetch_add(&s->free_futex, 1);
	if (atomic_load(&s->free_waiters))
		syscall(SYS_futex, &s->free_futex, FUTEX_WAKE, count, NULL, NULL, 0);
}

/* Takes all sealed buffers. */
static void drain(struct record_collector *c)
{
	struct raddle_session *s = c->session->shared;
	uint32_t count = c->session->buffers, at = raddle_stack_take(&s->sealed_head), reversed = 0;
	size_t taken = 0;

	while (at && at <= count && taken++ < count) {
		struct raddle_buffer *b = raddle_buffer_at(s, at - 1);
		uint32_t next = __atomic_load_n(&b->next, __ATOMIC_RELAXED);
		b->next = reversed;
		reversed = at;
		at = next;
	}
	/* The program can change the links at any time, so they are checked again. */
	for (at = reversed; at && at <= count && taken--;) {
		struct raddle_buffer *b = raddle_buffer_at(s, at - 1);
		uint32_t index = at - 1;
		at = b->next;
		copy_buffer(c, b, false);
		free_buffer(c, index);
		atomic_fetch_sub_explicit(&s->sealed_count, 1, memory_order_relaxed);
		wake_waiters(s, 1);
	}
}

static int compare_numbers(const void *a, const void *b)
{
	const struct raddle_buffer *x = *(struct raddle_buffer *const *)a;
	const struct raddle_buffer *y = *(struct raddle_buffer *const *)b;

	return x->number < y->number ? -1 : x->number > y->number;
}

/* Returns the used buffers of a process, in order.  The caller frees the array. */
static struct raddle_buffer **used_buffers(struct record_collector *c, uint32_t n, size_t *found)
{
	struct raddle_session *s = c->session->shared;
	uint32_t touched = atomic_load(&s->touched), all = c->session->buffers;
	/* The program may have overwritten the number of touched buffers. */
	uint32_t count = touched < all ? touched : all;
	struct raddle_buffer **used = rd_xcalloc(count + 1, sizeof *used);

	*found = 0;
	for (uint32_t i = 0; i < count; i++) {
		struct raddle_buffer *b = raddle_buffer_at(s, i);
		if (atomic_load(&b->state) != RADDLE_BUFFER_FREE && b->process == n)
			used[(*found)++] = b;
	}
	qsort(used, *found, sizeof *used, compare_numbers);
	return used;
}

/* Takes the open buffers of a dead process. */
static void salvage(struct record_collector *c, uint32_t n)
{
	struct raddle_session *s = c->session->shared;
	struct raddle_buffer **left;
	size_t found;

	drain(c);
	left = used_buffers(c, n, &found);
	for (size_t i = 0; i < found; i++) {
		copy_buffer(c, left[i], atomic_load(&left[i]->state) == RADDLE_BUFFER_OPEN);
		free_buffer(c, (uint32_t)(left[i] - raddle_buffer_at(s, 0)));
	}
	wake_waiters(s, INT32_MAX);
	free(left);
}

static void set_status(struct process *p, int status)
{
	p->meta.end = WIFSIGNALED(status) ? TRACE_SIGNALLED : TRACE_EXITED;
	p->meta.code = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
	p->meta.core = WIFSIGNALED(status) && WCOREDUMP(status);
	if (p->sink)
		record_sink_status(p->sink, p->meta.end, p->meta.code, p->meta.core);
}

/* Sets the status that a forked process announced in the session before its exit.  We are not its
 * parent, so we cannot get its wait status. */
static void set_said_status(const struct record_collector *c, uint32_t n)
{
	uint32_t exited = atomic_load(&c->session->shared->processes[n].exited);

	if (n && exited)
		set_status(c->processes[n], (int)(exited - 1));
}

/* Ends the trace of a process.  `last` may be NULL. */
static void end_process(struct record_collector *c, uint32_t n, struct trace_meta *last)
{
	struct process *p = c->processes[n];

	salvage(c, n);
	set_said_status(c, n);
	p->dead = true;
	if (p->pidfd >= 0)
		close(p->pidfd);
	p->pidfd = -1;
	if (last)
		*last = p->meta;
	if (!p->sink)
		return;
	check_write(c, record_sink_flush(p->sink));
	c->finished_bytes += record_sink_bytes(p->sink);
	check_write(c, record_sink_close(p->sink, stopped_of(c, n), last));
	p->sink = NULL;
}

static void look_at_processes(struct record_collector *c)
{
	uint32_t count = atomic_load(&c->session->shared->process_count);

	if (count > RADDLE_MAX_PROCESSES)
		count = RADDLE_MAX_PROCESSES;
	for (uint32_t n = 1; n < count; n++) {
		struct process *p = find_process(c, n);
		if (p && !p->dead && has_died(p)) {
			end_process(c, n, NULL);
			c->alive--;
		}
	}
}

static void beat(struct record_collector *c)
{
	atomic_fetch_add(&c->session->shared->heartbeat, 1);
}

/* Returns the number of gathered bytes.  Adds the number of bytes already in files to *written,
 * unless `written` is NULL. */
static size_t count_bytes(const struct record_collector *c, uint64_t *written)
{
	size_t pending = 0;

	for (uint32_t n = 0; n < RADDLE_MAX_PROCESSES; n++) {
		const struct process *p = c->processes[n];
		if (!p || !p->sink)
			continue;
		pending += record_sink_pending(p->sink);
		if (written)
			*written += record_sink_bytes(p->sink);
	}
	return pending;
}

static bool write_some(struct record_collector *c)
{
	bool any = false;

	for (uint32_t n = 0; n < RADDLE_MAX_PROCESSES; n++) {
		bool more = false;
		if (c->processes[n] && c->processes[n]->sink)
			check_write(c, record_sink_flush_some(c->processes[n]->sink, &more));
		any |= more;
	}
	return any;
}

/* Writes the gathered records if there are many of them or they are old.  Recording stops when the
 * files have reached the size limit.  Each call writes only a part of the records, so that buffers
 * are drained in between.  If far too many records are gathered, it continues until there are
 * fewer. */
static void write_gathered(struct record_collector *c)
{
	uint64_t now = (uint64_t)rd_now_ns(), bytes = c->finished_bytes;
	size_t pending = count_bytes(c, &bytes);

	if (c->options.limit && bytes >= c->options.limit && !stopped(c))
		run_session_stop(c->session, RADDLE_STOP_LIMIT);
	if (!c->writes && pending < PENDING_MAX && now - c->flushed_ns < FLUSH_NS)
		return;
	do {
		beat(c);
		c->writes = write_some(c);
	} while (c->writes && count_bytes(c, NULL) >= 2 * PENDING_MAX);
	if (!c->writes)
		c->flushed_ns = now;
}

/* Sleeps until many buffers are sealed, sealed_futex differs from `seen`, or the time is up.  The
 * count of sealed buffers also includes buffers whose threads were killed while sealing them. */
static void sleep_step(const struct record_collector *c, uint32_t seen)
{
	struct timespec step = {0, (c->options.look ? c->options.look_ms : STEP_MS) * 1000000L};
	struct raddle_session *s = c->session->shared;

	atomic_store(&s->collector_waits, 1);
	if (c->writes)
		step.tv_nsec = 0;
	if (atomic_load(&s->sealed_count) < RADDLE_WAKE || !(uint32_t)atomic_load(&s->sealed_head))
		syscall(SYS_futex, &s->sealed_futex, FUTEX_WAIT, seen, &step, NULL, 0);
	atomic_store(&s->collector_waits, 0);
}

static void step(struct record_collector *c)
{
	beat(c);
	drain(c);
	look_at_processes(c);
	write_gathered(c);
}

int record_collector_open(struct record_collector **result, struct run_session *session,
			  const struct record_options *options)
{
	struct record_collector *c = rd_xcalloc(1, sizeof *c);
	struct process *p;
	int r;

	c->session = session;
	c->options = *options;
	c->flushed_ns = (uint64_t)rd_now_ns();
	p = add_process(c, 0, options->directory ? options->directory : "");
	r = options->directory ? record_sink_open(&p->sink, p->directory, &p->meta, options->sites) : 0;
	if (p->sink && options->layout)
		record_sink_full(p->sink, options->layout);
	if (r) {
		record_collector_close(c);
		return r;
	}
	*result = c;
	return 0;
}

/* Waits for a process that was forked just before the first process ended, and that may not have
 * announced its pid yet. */
static void wait_for_newborn(struct record_collector *c)
{
	struct raddle_session *s = c->session->shared;

	for (int i = 0; i < NEWBORN_MS / STEP_MS; i++) {
		uint32_t count = atomic_load(&s->process_count), n = 1;
		while (n < count && n < RADDLE_MAX_PROCESSES && atomic_load(&s->processes[n].pid) != 0)
			n++;
		if (n >= count)
			break;
		step(c);
		sleep_step(c, atomic_load(&s->sealed_futex));
	}
	step(c);
}

int record_collector_run(struct record_collector *c, pid_t pid, int *status, struct trace_meta *last)
{
	RD_ASSERT(pid > 1);
	struct raddle_session *s = c->session->shared;
	struct rd_context messages = {.log = keep_message, .data = c};

	c->processes[0]->pid = pid;
	c->processes[0]->meta.pid = pid;
	if (c->processes[0]->sink)
		check_write(c, record_sink_started(c->processes[0]->sink, pid));
	rd_context_enter(&messages);
	/* Frees the resident pages of the code that made the flavour, because the recorder may run
	 * for a long time. */
	if (c->options.directory)
		rd_memory_drop_code();
	for (;;) {
		uint32_t seen;
		pid_t r;
		step(c);
		seen = atomic_load(&s->sealed_futex); /* SIGCHLD changes the word, too */
		r = waitpid(pid, status, WNOHANG);
		if (r == pid || (r < 0 && errno == ECHILD) ||
		    (c->options.ended && c->options.ended(c->options.context, status)))
			break;
		if (c->options.look)
			c->options.look(c->options.context, pid);
		if (c->options.leaves && c->options.leaves(c->options.context)) {
			rd_context_leave(&messages);
			return 0;
		}
		sleep_step(c, seen);
	}
	set_status(c->processes[0], *status);
	wait_for_newborn(c);
	end_process(c, 0, last);
	rd_context_leave(&messages);
	return 0;
}

/* A buffer may be sealed while it is being written here.  Its final content later replaces what
 * was written. */
void record_collector_show(struct record_collector *c)
{
	struct process *p = c->processes[0];
	struct raddle_buffer **used;
	size_t found;

	drain(c);
	if (!p->sink)
		return;
	check_write(c, record_sink_flush(p->sink));
	used = used_buffers(c, 0, &found);
	for (size_t i = 0; i < found; i++) {
		size_t length = atomic_load_explicit(&used[i]->used, memory_order_acquire);
		if (length && length <= sizeof used[i]->data && used[i]->thread < THREADS_MAX)
			check_write(c, record_sink_preview(p->sink, used[i]->thread, used[i]->data, length));
	}
	free(used);
}

static bool ends_with_request(struct record_collector *c, const struct raddle_buffer *b)
{
	size_t length = atomic_load_explicit(&b->used, memory_order_acquire);
	struct trace_event event;
	bool request = false;

	if (length > sizeof b->data || b->thread & RADDLE_WORLD_BUFFER)
		return false;
	trace_decoder_start(&c->decoder, b->data, length);
	while (trace_decode(&c->decoder, &event) > 0)
		request = raddle_is_lock(event.kind) && raddle_role(event.kind) == RADDLE_ROLE_REQUEST;
	return request;
}

bool record_collector_has_request(struct record_collector *c)
{
	bool found = false;
	size_t count;
	struct raddle_buffer **used = used_buffers(c, 0, &count);

	for (size_t i = 0; i < count && !found; i++)
		found = ends_with_request(c, used[i]);
	free(used);
	return found;
}

void record_collector_set_hung(struct record_collector *c)
{
	RD_ASSERT(c->processes[0] != NULL);
	c->processes[0]->meta.stood = true;
	if (c->processes[0]->sink)
		record_sink_set_hung(c->processes[0]->sink);
}

uint64_t record_collector_events(const struct record_collector *c)
{
	const struct process *p = c->processes[0];

	return p && p->sink ? record_sink_events(p->sink) : 0;
}

bool record_collector_has_ended(const struct record_collector *c, uint32_t n)
{
	RD_ASSERT(n < RADDLE_MAX_PROCESSES);
	return n < RADDLE_MAX_PROCESSES && c->processes[n] && c->processes[n]->dead;
}

size_t record_collector_alive(const struct record_collector *c)
{
	return c->alive;
}

static void signal_rest(const struct record_collector *c, int number)
{
	for (uint32_t n = 1; n < RADDLE_MAX_PROCESSES; n++) {
		const struct process *p = c->processes[n];
		if (p && !p->dead && p->pidfd >= 0)
			syscall(SYS_pidfd_send_signal, p->pidfd, number, NULL, 0);
	}
}

void record_collector_measure(const struct record_collector *c, struct run_clock_look *look)
{
	*look = (struct run_clock_look){.real_ns = rd_now_ns()};
	for (uint32_t n = 1; n < RADDLE_MAX_PROCESSES; n++) {
		const struct process *p = c->processes[n];

		if (!p || p->dead || p->pidfd < 0)
			continue;
		look->cpu_ns += run_process_cpu_ns((pid_t)p->pid);
		look->delay_ns += run_process_delay_ns((pid_t)p->pid);
		look->awake += run_process_awake((pid_t)p->pid);
	}
}

void record_collector_rest(struct record_collector *c, bool (*wait)(void *context), void *context)
{
	struct raddle_session *s = c->session->shared;
	int64_t told_ns = 0;

	atomic_store(&s->collector_pid, getpid());
	while (c->alive) {
		step(c);
		if (wait && !told_ns && !wait(context)) {
			signal_rest(c, SIGTERM);
			told_ns = rd_now_ns();
		}
		if (told_ns && rd_now_ns() - told_ns > REST_GRACE_NS)
			signal_rest(c, SIGKILL);
		if (c->alive)
			sleep_step(c, atomic_load(&s->sealed_futex));
	}
}

static void close_collector(struct record_collector *c, bool abandon)
{
	for (uint32_t n = 0; n < RADDLE_MAX_PROCESSES; n++) {
		struct process *p = c->processes[n];
		if (!p)
			continue;
		if (p->sink && abandon)
			record_sink_abandon(p->sink);
		else if (p->sink)
			record_sink_close(p->sink, stopped_of(c, n), NULL);
		if (p->pidfd >= 0)
			close(p->pidfd);
		if (n)
			free(p->meta.start);
		free(p->directory);
		free(p);
	}
	trace_decoder_release(&c->decoder);
	RD_FREE(c->message, c->replaced);
	free(c);
}

void record_collector_close(struct record_collector *c)
{
	close_collector(c, false);
}

void record_collector_abandon(struct record_collector *c)
{
	close_collector(c, true);
}
